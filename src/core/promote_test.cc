#include "core/promote.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "wherry/error.h"

namespace wherry {
namespace {

// Expected values are those of numpy.promote_types.
TEST(Promote, AsNumPy) {
  using D = DataType;
  struct Row {
    D a, b, expected;
  };
  const std::vector<Row> rows = {
      {D::kBool, D::kInt8, D::kInt8},
      {D::kBool, D::kFP16, D::kFP16},
      {D::kInt8, D::kUInt8, D::kInt16},
      {D::kInt16, D::kUInt8, D::kInt16},
      {D::kInt32, D::kUInt32, D::kInt64},
      {D::kInt64, D::kUInt32, D::kInt64},
      {D::kInt8, D::kUInt64, D::kFP64},
      {D::kUInt8, D::kUInt32, D::kUInt32},
      {D::kInt8, D::kInt64, D::kInt64},
      {D::kFP16, D::kInt8, D::kFP16},
      {D::kFP16, D::kInt16, D::kFloat},
      {D::kFP16, D::kInt32, D::kFP64},
      {D::kFloat, D::kInt16, D::kFloat},
      {D::kFloat, D::kInt32, D::kFP64},
      {D::kFloat, D::kInt64, D::kFP64},
      {D::kFP16, D::kFloat, D::kFloat},
      {D::kFloat, D::kFP64, D::kFP64},
      {D::kComplex64, D::kFloat, D::kComplex64},
      {D::kComplex64, D::kFP64, D::kComplex128},
      {D::kComplex64, D::kInt32, D::kComplex128},
      {D::kComplex64, D::kInt16, D::kComplex64},
      {D::kComplex64, D::kComplex128, D::kComplex128},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(PromoteTypes(row.a, row.b), row.expected) << ToString(row.a) << " with " << ToString(row.b);
    EXPECT_EQ(PromoteTypes(row.b, row.a), row.expected) << ToString(row.b) << " with " << ToString(row.a);
  }
}

TEST(Promote, BFloat16) {
  EXPECT_EQ(PromoteTypes(DataType::kBF16, DataType::kFP16), DataType::kFloat);
  EXPECT_EQ(PromoteTypes(DataType::kBF16, DataType::kInt8), DataType::kBF16);
  EXPECT_EQ(PromoteTypes(DataType::kBF16, DataType::kInt16), DataType::kFloat);
  EXPECT_EQ(PromoteTypes(DataType::kBF16, DataType::kFP64), DataType::kFP64);
}

TEST(Promote, TypesOutsideTheLattice) {
  EXPECT_EQ(PromoteTypes(DataType::kString, DataType::kString), DataType::kString);
  EXPECT_EQ(PromoteTypes(DataType::kUndefined, DataType::kInt4), DataType::kInt4);
  EXPECT_THROW(PromoteTypes(DataType::kString, DataType::kFloat), Error);
  EXPECT_THROW(PromoteTypes(DataType::kFP8E4M3FN, DataType::kFP8E5M2), Error);
}

}  // namespace
}  // namespace wherry
