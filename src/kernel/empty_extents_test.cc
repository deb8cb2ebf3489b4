#include "kernel/empty_extents.h"

#include <gtest/gtest.h>

#include "wherry/error.h"

namespace wherry {
namespace {

TensorMeta Meta(const Shape& shape) { return TensorMeta{DataType::kFloat, shape, DataLayout::kNCHW, 0}; }

TEST(EmptyExtents, OnlyHugeOnesWithoutAnElementAreRefused) {
  CheckEmptyExtents(Meta({}));
  CheckEmptyExtents(Meta({0}));
  CheckEmptyExtents(Meta({0, 3, 8000, 8000}));
  CheckEmptyExtents(Meta({int64_t{1} << 40}));  // has elements: their memory is the limit
  CheckEmptyExtents(Meta({0, int64_t{1} << 28}));
  CheckEmptyExtents(Meta({0, int64_t{1} << 28, 0}));
  EXPECT_THROW(CheckEmptyExtents(Meta({0, (int64_t{1} << 28) + 1})), Error);
  EXPECT_THROW(CheckEmptyExtents(Meta({int64_t{1} << 40, 0})), Error);
  EXPECT_THROW(CheckEmptyExtents(Meta({1 << 20, 0, 1 << 20})), Error);
  EXPECT_THROW(CheckEmptyExtents(Meta({0, INT64_MAX, INT64_MAX, INT64_MAX})), Error);
}

}  // namespace
}  // namespace wherry
