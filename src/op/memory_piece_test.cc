#include "op/memory_piece.h"

#include <gtest/gtest.h>

#include "op/schema_registry.h"

namespace wherry {
namespace {

MetaTensor Float(std::vector<Dim> dims, DataLayout layout = DataLayout::kNCHW) {
  MetaTensor type(DataType::kFloat, std::move(dims));
  type.layout = layout;
  return type;
}

MemoryPiece InConcat(const std::vector<MetaTensor>& parts, const MetaTensor& result, int64_t axis, size_t index) {
  std::vector<BoundArg> args(1);
  for (const MetaTensor& part : parts) args[0].tensors.push_back(&part);
  return PieceOfResult(args, result, axis, index);
}

TEST(MemoryPieceTest, PartsOfAConcatAreOnePieceBehindOnes) {
  EXPECT_EQ(InConcat({Float({2, 3}), Float({4, 3})}, Float({6, 3}), 0, 1).offset, 6);
  EXPECT_EQ(InConcat({Float({1, 2, 3}), Float({1, 4, 3})}, Float({1, 6, 3}), 1, 1).offset, 6);
  EXPECT_FALSE(InConcat({Float({2, 2, 3}), Float({2, 4, 3})}, Float({2, 6, 3}), 1, 1).possible);
  const auto nhwc = DataLayout::kNHWC;
  const std::vector<MetaTensor> rows = {Float({1, 8, 2, 5}, nhwc), Float({1, 8, 3, 5}, nhwc)};
  EXPECT_EQ(InConcat(rows, Float({1, 8, 5, 5}, nhwc), 2, 1).offset, 2 * 5 * 8);
  const std::vector<MetaTensor> channels = {Float({1, 8, 2, 5}, nhwc), Float({1, 8, 2, 5}, nhwc)};
  const MemoryPiece behind = InConcat(channels, Float({1, 16, 2, 5}, nhwc), 1, 1);
  EXPECT_TRUE(behind.strided);
  EXPECT_EQ(behind.offset, 8);
  const std::vector<MetaTensor> pixels = {Float({1, 8, 1, 1}, nhwc), Float({1, 8, 1, 1}, nhwc)};
  EXPECT_FALSE(InConcat(pixels, Float({1, 16, 1, 1}, nhwc), 1, 1).strided) << "one pixel has no gap behind it";
}

TEST(MemoryPieceTest, SymbolsMayTurnOutToBeOne) {
  SymbolTable symbols;
  const Dim n = symbols.Symbol("N");
  const MemoryPiece piece = InConcat({Float({n, 2}), Float({n, 4})}, Float({n, 6}), 1, 1);
  EXPECT_TRUE(piece.possible);
  EXPECT_FALSE(piece.offset.has_value());
}

MemoryPiece OfTranspose(const MetaTensor& x, const MetaTensor& result, std::vector<int64_t> perm) {
  const OpSchema& schema = SchemaRegistry::Global().Get("transpose");
  const Attribute attribute = std::move(perm);
  std::vector<BoundArg> args(2);
  args[0].tensors = {&x};
  args[1].attribute = &attribute;
  return PieceOfArgument(schema, args, {&result}, 0);
}

TEST(MemoryPieceTest, TransposesOfDimensionsOfOneAreViews) {
  EXPECT_EQ(OfTranspose(Float({1, 3, 4}), Float({3, 1, 4}), {1, 0, 2}).offset, 0);
  EXPECT_FALSE(OfTranspose(Float({2, 3, 4}), Float({3, 2, 4}), {1, 0, 2}).possible);
  SymbolTable symbols;
  const Dim n = symbols.Symbol("N");
  const MemoryPiece piece = OfTranspose(Float({n, 3, 4}), Float({3, n, 4}), {1, 0, 2});
  EXPECT_TRUE(piece.possible && !piece.offset.has_value());
}

MemoryPiece OfSlice(const MetaTensor& x, const MetaTensor& result, std::vector<int64_t> axes, std::vector<int64_t> from,
                    std::vector<int64_t> to, std::vector<int64_t> by = {}) {
  const OpSchema& schema = SchemaRegistry::Global().Get("slice");
  const Attribute attributes[] = {std::move(axes), IntArray(std::move(from)), IntArray(std::move(to)), std::move(by)};
  std::vector<BoundArg> args(5);
  args[0].tensors = {&x};
  for (size_t i = 0; i < 4; ++i) args[i + 1].attribute = &attributes[i];
  return PieceOfArgument(schema, args, {&result}, 0);
}

TEST(MemoryPieceTest, SlicesOfTheOutermostAxisAreOnePiece) {
  EXPECT_EQ(OfSlice(Float({5, 4}), Float({2, 4}), {0}, {1}, {3}).offset, 4);
  EXPECT_EQ(OfSlice(Float({5, 4}), Float({1, 2}), {0, 1}, {-1, 1}, {100, 3}).offset, 17);
  EXPECT_FALSE(OfSlice(Float({5, 4}), Float({5, 2}), {1}, {1}, {3}).possible);
  EXPECT_FALSE(OfSlice(Float({5, 4}), Float({3, 4}), {0}, {0}, {5}, {2}).possible);
}

MemoryPiece OfGather(const MetaTensor& x, const MetaTensor& result, const std::vector<int64_t>& positions,
                     int64_t axis) {
  const OpSchema& schema = SchemaRegistry::Global().Get("gather");
  MetaTensor index(DataType::kInt64, {Dim(static_cast<int64_t>(positions.size()))});
  index.values = std::vector<Dim>(positions.begin(), positions.end());
  const Attribute attribute = axis;
  std::vector<BoundArg> args(3);
  args[0].tensors = {&x};
  args[1].tensors = {&index};
  args[2].attribute = &attribute;
  return PieceOfArgument(schema, args, {&result}, 0);
}

TEST(MemoryPieceTest, NeighboursThatAreGatheredAreAPiece) {
  EXPECT_EQ(OfGather(Float({5, 4}), Float({2, 4}), {3, 4}, 0).offset, 12);
  EXPECT_EQ(OfGather(Float({5, 4}), Float({1, 4}), {-1}, 0).offset, 16);
  EXPECT_EQ(OfGather(Float({1, 5, 4}), Float({1, 2, 4}), {0, 1}, 1).offset, 0);
  EXPECT_FALSE(OfGather(Float({5, 4}), Float({2, 4}), {1, 3}, 0).possible);
  EXPECT_FALSE(OfGather(Float({5, 4}), Float({2, 4}), {4, 5}, 0).possible) << "that is for the kernel to refuse";
  EXPECT_FALSE(OfGather(Float({5, 4}), Float({5, 1}), {2}, 1).possible);
}

}  // namespace
}  // namespace wherry
