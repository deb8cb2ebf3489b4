#include "runtime/poison.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wherry {
namespace {

ShapePlan PlanOf(DataType dtype, int last_use) {
  ShapePlan plan;
  TensorMeta meta;
  meta.dtype = dtype;
  meta.shape = Shape({2});
  plan.tensors.emplace_back(HostAllocator(), meta);
  plan.residence = {Residence::kArena};
  plan.last_use = {last_use};
  return plan;
}

TEST(PoisonTest, FillsWhatIsNoLongerRead) {
  CpuContext context;
  ShapePlan plan = PlanOf(DataType::kFloat, 3);
  auto* data = plan.tensors[0].mutable_data<float>();
  data[0] = data[1] = 1;
  PoisonAfter(2, &plan, context);
  EXPECT_EQ(data[0], 1);
  PoisonAfter(3, &plan, context);
  EXPECT_TRUE(std::isnan(data[0]) && std::isnan(data[1]));
}

TEST(PoisonTest, FillsResultsBeforeTheRun) {
  ShapePlan plan = PlanOf(DataType::kInt32, 0);
  PoisonResults(&plan);
  EXPECT_EQ(static_cast<uint32_t>(plan.tensors[0].data<int32_t>()[1]), 0xCDCDCDCDU);
  plan.residence = {Residence::kWeight};
  plan.tensors[0].mutable_data<int32_t>()[1] = 5;
  PoisonResults(&plan);
  EXPECT_EQ(plan.tensors[0].data<int32_t>()[1], 5);
}

}  // namespace
}  // namespace wherry
