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
  EXPECT_FALSE(InConcat(channels, Float({1, 16, 2, 5}, nhwc), 1, 1).possible);
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

}  // namespace
}  // namespace wherry
