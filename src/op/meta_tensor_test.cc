#include "op/meta_tensor.h"

#include <gtest/gtest.h>

#include "wherry/error.h"
#include "wherry/tensor.h"

namespace wherry {
namespace {

TEST(MetaTensor, FromAConcreteMeta) {
  const TensorMeta meta{DataType::kFloat, Shape{1, 512, 7, 7}, DataLayout::kNHWC, 528};
  const MetaTensor tensor(meta);
  EXPECT_TRUE(tensor.known());
  EXPECT_EQ(tensor.tensor_meta(), meta);
  EXPECT_EQ(tensor.numel(), Dim(512 * 49));
  EXPECT_EQ(tensor.DebugString(), "f32[1,512,7,7] nhwc pixel_stride=528");
}

TEST(MetaTensor, SymbolsAndUnknownRank) {
  SymbolTable table;
  const Dim n = table.Symbol("N");
  MetaTensor tensor(DataType::kFloat, {n, 3, n * 2});
  EXPECT_FALSE(tensor.known());
  EXPECT_THROW(tensor.shape(), Error);
  EXPECT_EQ(tensor.DebugString(), "f32[N,3,2*N]");
  EXPECT_EQ(tensor.numel(), 6 * n * n);
  const MetaTensor unknown = MetaTensor::UnknownRank(DataType::kInt64);
  EXPECT_FALSE(unknown.known());
  EXPECT_EQ(unknown.DebugString(), "i64[?]");
  EXPECT_NE(unknown, MetaTensor(DataType::kInt64, {}));
  MetaTensor shape(DataType::kInt64, {2});
  shape.values = {n, 64};
  EXPECT_EQ(shape.DebugString(), "i64[2] = [N, 64]");
}

TEST(AttachValues, OnlyOfSmallHostIntegers) {
  const auto values = [](const Tensor& tensor) {
    MetaTensor meta(tensor.impl()->meta());
    AttachValues(*tensor.impl(), &meta);
    return meta.values;
  };
  EXPECT_EQ(values(Tensor::From<int64_t>({3}, {1, -2, 3})), (std::vector<Dim>{1, -2, 3}));
  EXPECT_EQ(values(Tensor::From<bool>({}, {true})), std::vector<Dim>{1});
  EXPECT_EQ(values(Tensor::From<uint8_t>({1, 2}, {200, 3})), (std::vector<Dim>{200, 3}));
  EXPECT_EQ(values(Tensor::From<uint64_t>({1}, {~uint64_t{0}})), std::nullopt);
  EXPECT_EQ(values(Tensor::From<float>({1}, {1})), std::nullopt);
  EXPECT_EQ(values(Tensor::From<int32_t>({65}, std::vector<int32_t>(65))), std::nullopt);
  EXPECT_EQ(values(Tensor::From<int32_t>({64}, std::vector<int32_t>(64)))->size(), 64U);
}

TEST(SymIntArray, FromAttributesAndTensors) {
  const SymIntArray attribute(IntArray{1, -1});
  EXPECT_EQ(*attribute.values, (std::vector<Dim>{1, -1}));
  EXPECT_EQ(attribute.count, 2);
  MetaTensor tensor(DataType::kInt64, {3});
  EXPECT_FALSE(SymIntArray(tensor).known());
  EXPECT_EQ(SymIntArray(tensor).count, 3);
  SymbolTable table;
  tensor.values = {table.Symbol("N"), 2, 3};
  EXPECT_EQ((*SymIntArray(tensor).values)[0], table.Symbol("N"));
  EXPECT_EQ(SymIntArray(MetaTensor(DataType::kInt32, {table.Symbol("N")})).count, std::nullopt);
  EXPECT_EQ(SymIntArray(MetaTensor(DataType::kInt32, {})).count, 1);
  EXPECT_EQ(SymIntArray(MetaTensor::UnknownRank(DataType::kInt32)).count, std::nullopt);
  EXPECT_THROW(SymIntArray(MetaTensor(DataType::kFloat, {3})), Error);
  EXPECT_THROW(SymIntArray(MetaTensor(DataType::kInt64, {3, 1})), Error);
}

TEST(SymScalar, FromAttributesAndTensors) {
  EXPECT_EQ(SymScalar(Scalar(0.5)).value, Scalar(0.5));
  EXPECT_EQ(SymScalar(Scalar(0.5)).dim, std::nullopt);
  EXPECT_EQ(SymScalar(Scalar(7)).dim, Dim(7));
  SymbolTable table;
  MetaTensor tensor(DataType::kInt64, {1});
  EXPECT_FALSE(SymScalar(tensor).known());
  tensor.values = {table.Symbol("N")};
  EXPECT_EQ(SymScalar(tensor).dim, table.Symbol("N"));
  EXPECT_EQ(SymScalar(tensor).value, std::nullopt);
  tensor.values = {Dim(5)};
  EXPECT_EQ(SymScalar(tensor).value, Scalar(int64_t{5}));
  tensor.dtype = DataType::kBool;
  EXPECT_EQ(SymScalar(tensor).value, Scalar(true));
  EXPECT_THROW(SymScalar(MetaTensor(DataType::kFloat, {2})), Error);
}

}  // namespace
}  // namespace wherry
