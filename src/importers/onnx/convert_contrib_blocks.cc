// Operators of com.microsoft on weights whose rows are in blocks, each with a scale and a zero point.
#include "base/strings.h"
#include "importers/onnx/convert_contrib_attention.h"
#include "importers/onnx/convert_quantize.h"

namespace wherry::onnx {
namespace {

// Elements of `bits` (a divisor of 8) in bytes [..., m], from the low ones up, as u8 [..., m * 8 / bits].
std::string Unpacked(OnnxContext& c, const std::string& bytes, int64_t bits) {
  if (bits == 8) return bytes;
  const auto byte = [&](int64_t value) { return c.ConstantScalar(Scalar(value), DataType::kUInt8); };
  std::vector<std::string> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    const std::string moved = shift == 0 ? bytes : c.Binary("bitwise_right_shift", bytes, byte(shift));
    parts.push_back(c.Binary("bitwise_and", moved, byte((int64_t{1} << bits) - 1)));
  }
  const std::string apart = c.Emit("stack", {{"x", parts}}, {{"axis", int64_t{-1}}});
  const int64_t rank = c.Rank(apart);
  return c.Emit("flatten", {{"x", {apart}}}, {{"start_axis", rank - 2}, {"stop_axis", rank - 1}});
}

int64_t BitsOf(OnnxContext& c) {
  const auto bits = c.Attr<int64_t>("bits", 4);
  if (bits != 2 && bits != 4 && bits != 8) c.Unsupported("attribute bits is ", bits);
  return bits;
}

// x with `count` columns of those that there are.
std::string FirstColumns(OnnxContext& c, const std::string& x, int64_t count) {
  return c.Rank(x) > 0 && c.Meta(x).dims.back() == Dim(count) ? x : Columns(c, x, 0, count);
}

// A weight [n, k] in blocks of `block_size` along k, each with a scale and a zero point (by default half the range).
// Zero points are packed as the weight is, or are of the scales' type. g_idx: the block of each column's scale.
struct BlockedWeight {
  int64_t n;
  int64_t k;
  int64_t bits;
  int64_t block;
  int64_t blocks;      // in a row
  bool unpacks_zeros;  // they are u8
  std::string scales;  // [n, blocks]
};

// The zero points [n, blocks] of a weight that has some.
std::string ZerosOf(OnnxContext& c, const BlockedWeight& w) {
  if (!w.unpacks_zeros) return c.Reshaped(c.Input(3), {w.n, w.blocks});
  return FirstColumns(c, Unpacked(c, c.Reshaped(c.Input(3), {w.n, -1}), w.bits), w.blocks);
}

// Whether the product may read the weight as it is stored: it is f32 but for the weight, which is constant.
bool StaysSmall(OnnxContext& c, const BlockedWeight& w) {
  const auto is_constant = [&c](size_t position) {
    return !c.HasInput(position) || c.block().program().FindWeight(c.Input(position)) != nullptr;
  };
  return w.bits != 2 && c.TypeOf(c.Input(0)) == DataType::kFloat && c.TypeOf(c.Input(2)) == DataType::kFloat &&
         is_constant(1) && is_constant(2) && is_constant(3) && (!c.HasInput(3) || w.unpacks_zeros) && !c.HasInput(4);
}

std::string SmallProduct(OnnxContext& c, const BlockedWeight& w) {
  return c.Emit("weight_only_linear",
                {{"x", {c.Input(0)}},
                 {"weight", {c.Reshaped(c.Input(1), {w.n, -1})}},
                 {"weight_scale", {w.scales}},
                 {"zero_point", {c.HasInput(3) ? ZerosOf(c, w) : ""}}},
                {{"bits", w.bits}, {"group_size", w.block}});
}

std::string Numbers(OnnxContext& c, const BlockedWeight& w) {
  const DataType dtype = c.TypeOf(c.Input(0));
  const std::string elements = FirstColumns(c, c.Reshaped(Unpacked(c, c.Input(1), w.bits), {w.n, -1}), w.k);
  const std::string zeros = c.HasInput(3)
                                ? ZerosOf(c, w)
                                : c.Emit("full_like", {{"x", {w.scales}}},
                                         {{"value", Scalar(int64_t{1} << (w.bits - 1))}, {"dtype", DataType::kUInt8}});
  if (c.TypeOf(zeros) == DataType::kUInt8 && !c.HasInput(4)) {
    return c.Emit("dequantize_linear", {{"x", {elements}}, {"scale", {w.scales}}, {"zero_point", {zeros}}},
                  {{"axis", int64_t{1}}, {"block_size", w.block}, {"dtype", dtype}});
  }
  std::string places = c.OptionalInput(4);
  if (places.empty()) {
    std::vector<int64_t> numbers;
    for (int64_t i = 0; i < w.k; ++i) numbers.push_back(i / w.block);
    places = c.ConvertContext::ConstantInts(numbers);
  } else {
    places = FirstColumns(c, places, w.k);
  }
  const auto spread = [&](const std::string& value) {
    return c.Cast(c.Emit("gather", {{"x", {value}}, {"index", {places}}}, {{"axis", int64_t{1}}}), dtype);
  };
  return c.Binary("multiply", c.Binary("subtract", c.Cast(elements, dtype), spread(zeros)), spread(w.scales));
}

void MatMulNBits(OnnxContext& c) {
  BlockedWeight w;
  w.k = c.Attr<int64_t>("K");
  w.n = c.Attr<int64_t>("N");
  w.bits = BitsOf(c);
  w.block = c.Attr<int64_t>("block_size");
  if (w.k < 1 || w.n < 1 || w.block < 1) c.Corrupt("K is ", w.k, ", N ", w.n, ", block_size ", w.block);
  if (c.Attr<int64_t>("weight_prepacked", 0) != 0) c.Unsupported("attribute weight_prepacked is not 0");
  w.blocks = (w.k - 1) / w.block + 1;
  w.unpacks_zeros = c.HasInput(3) && c.TypeOf(c.Input(3)) == DataType::kUInt8;
  w.scales = c.Reshaped(c.Input(2), {w.n, w.blocks});
  const std::string y = StaysSmall(c, w)
                            ? SmallProduct(c, w)
                            : c.Emit("matmul", {{"x", {c.Input(0)}}, {"y", {Numbers(c, w)}}}, {{"transpose_y", true}});
  c.Bind(0, Sum(c, y, c.OptionalInput(5)));
}

// Rows of a table in blocks along one axis, each with a scale and perhaps a zero point; those of u8 are packed.
void GatherBlockQuantized(OnnxContext& c) {
  std::string table = c.Input(0);
  const std::string scales = c.Input(2);
  std::string zeros = c.OptionalInput(3);
  const int rank = c.Rank(table);
  const int64_t axis = c.Axis(c.Attr<int64_t>("quantize_axis", 1), rank);
  const auto block = c.Attr<int64_t>("block_size", 128);
  if (IsFloating(c.TypeOf(table))) c.Unsupported("a table of type ", ToString(c.TypeOf(table)));
  if (block < 1) c.Corrupt("attribute block_size is ", block);
  if (c.TypeOf(table) == DataType::kUInt8) {
    const int64_t bits = BitsOf(c);
    table = Unpacked(c, table, bits);
    if (zeros.empty()) {
      zeros = c.Emit("full_like", {{"x", {scales}}},
                     {{"value", Scalar(int64_t{1} << (bits - 1))}, {"dtype", DataType::kUInt8}});
    } else {
      const int64_t columns = KnownDim(c, scales, static_cast<size_t>(rank) - 1, "the number of scales");
      zeros = FirstColumns(c, Unpacked(c, zeros, bits), columns);
    }
  }
  const std::string numbers = c.Emit(
      "dequantize_linear", {{"x", {Widened(c, table)}}, {"scale", {scales}}, {"zero_point", {Widened(c, zeros)}}},
      {{"axis", axis}, {"block_size", block}, {"dtype", c.TypeOf(scales)}});
  c.EmitResult("gather", {{"x", {numbers}}, {"index", {c.Input(1)}}},
               {{"axis", c.Axis(c.Attr<int64_t>("gather_axis", 0), rank)}});
}

}  // namespace

REGISTER_CONVERTER(onnx, com_microsoft_MatMulNBits, &Convert<MatMulNBits>);
REGISTER_CONVERTER(onnx, com_microsoft_GatherBlockQuantized, &Convert<GatherBlockQuantized>);

}  // namespace wherry::onnx
