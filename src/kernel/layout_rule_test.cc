#include "kernel/layout_rule.h"

#include <gtest/gtest.h>

#include "kernel/test_ops_test_util.h"

namespace wherry {
namespace {

TEST(FollowsLayout, TheRulesTensorsAndTheEpiloguesOperands) {
  const OpSchema& image = TestOp("kt_image");
  EXPECT_TRUE(FollowsLayout(image, 0));   // x, named by the rule
  EXPECT_FALSE(FollowsLayout(image, 1));  // filter
  EXPECT_TRUE(FollowsLayout(image, 2));   // operands
  EXPECT_FALSE(FollowsLayout(image, 3));  // an attribute
}

TEST(FollowsLayout, AllTensorsWithoutARule) {
  EXPECT_TRUE(FollowsLayout(TestOp("kt_add"), 0));
  EXPECT_TRUE(FollowsLayout(TestOp("kt_add"), 1));
}

TEST(LayoutForKernel, OpenKernelsKeepTheCallsLayout) {
  EXPECT_EQ(LayoutForKernel(DataLayout::kNHWC, DataLayout::kNCHW, true, 4), DataLayout::kNHWC);
  EXPECT_EQ(LayoutForKernel(DataLayout::kAny, DataLayout::kNHWC, true, 4), DataLayout::kNHWC);
  EXPECT_EQ(LayoutForKernel(DataLayout::kNHWC, DataLayout::kNHWC, false, 4), DataLayout::kNCHW);
  EXPECT_EQ(LayoutForKernel(DataLayout::kNHWC, DataLayout::kNHWC, true, 2), DataLayout::kNCHW);
}

}  // namespace
}  // namespace wherry
