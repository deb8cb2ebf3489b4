// Quantised operators. Integers of 8 and 16 bits have operators of their own; what those do not take (other storage
// types, zero points by row, three spatial axes) is computed in terms of the numbers that the integers stand for.
#include "importers/onnx/convert_quantize.h"

#include <limits>
#include <utility>

#include "base/strings.h"
#include "importers/onnx/convert_conv.h"

namespace wherry::onnx {

namespace {

// The smallest and the largest number of a type; {0, 0}: it is none that is rounded to.
std::pair<double, double> LimitsOf(DataType dtype) {
  switch (dtype) {
    case DataType::kInt2: return {-2.0, 1.0};
    case DataType::kUInt2: return {0.0, 3.0};
    case DataType::kInt4: return {-8.0, 7.0};
    case DataType::kUInt4: return {0.0, 15.0};
    case DataType::kInt8: return {-128.0, 127.0};
    case DataType::kUInt8: return {0.0, 255.0};
    case DataType::kInt16: return {-32768.0, 32767.0};
    case DataType::kUInt16: return {0.0, 65535.0};
    default: return {0.0, 0.0};
  }
}

// Whether quantize_linear has results of this type.
bool IsTyped(DataType dtype) { return IsByte(dtype) || dtype == DataType::kInt16 || dtype == DataType::kUInt16; }

// A scale or zero point of x brought to a shape that broadcasts with x: one number, one per place along the axis, or
// (block_size) one per block of that many places.
std::string Spread(OnnxContext& c, std::string value, const std::string& x) {
  const int rank = c.Rank(x);
  const int value_rank = c.Rank(value);
  if (value_rank == 0 || (value_rank == 1 && c.Meta(value).dims[0] == Dim(1))) return value;
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", 1), rank);
  const auto block = c.Attr<int64_t>("block_size", 0);
  if (block == 0) {
    if (value_rank != 1) c.Corrupt("a scale of rank ", value_rank, " without block_size");
    std::vector<int64_t> axes;
    for (int64_t i = 1; i < rank - axis; ++i) axes.push_back(i);
    return axes.empty() ? value : c.Unsqueezed(value, axes);
  }
  if (block < 0 || value_rank != rank) c.Corrupt("block_size is ", block, ", the scale has rank ", value_rank);
  std::vector<int64_t> repeats(static_cast<size_t>(rank) + 1, -1);
  repeats[static_cast<size_t>(axis) + 1] = block;
  const std::string wide =
      c.Emit("expand", {{"x", {c.Unsqueezed(value, {axis + 1})}}}, {{"shape", IntArray(std::move(repeats))}});
  const std::string flat = c.Emit("flatten", {{"x", {wide}}}, {{"start_axis", axis}, {"stop_axis", axis + 1}});
  const Dim size = c.Meta(x).dims[static_cast<size_t>(axis)];
  if (!size.known()) c.Unsupported("blocks of a dimension that is not known");
  if (c.Meta(flat).dims[static_cast<size_t>(axis)] == size) return flat;
  return c.Emit("slice", {{"x", {flat}}},
                {{"axes", std::vector<int64_t>{axis}}, {"starts", IntArray({0})}, {"ends", IntArray({size.value()})}});
}

// round(value) + zero point, within the limits of `dtype`, as that. `zero` may be empty.
std::string Saturated(OnnxContext& c, const std::string& value, const std::string& zero, DataType dtype) {
  const auto [low, high] = LimitsOf(dtype);
  std::string y = c.Unary("round", value);
  if (!zero.empty()) y = c.Binary("add", y, c.Cast(zero, DataType::kFloat));
  return c.Cast(c.Emit("clip", {{"x", {y}}}, {{"min", Scalar(low)}, {"max", Scalar(high)}}), dtype);
}

void QuantizeLinear(OnnxContext& c) {
  const std::string x = c.Input(0);
  DataType dtype = c.HasInput(2) ? c.TypeOf(c.Input(2)) : DataType::kUInt8;
  if (const auto number = c.Attr<int64_t>("output_dtype", 0); number != 0) dtype = DataTypeOf(number);
  if (IsTyped(dtype)) {
    return c.EmitResult(
        "quantize_linear",
        {{"x", {IsFloating(c.TypeOf(x)) ? x : c.Cast(x, DataType::kFloat)}},
         {"scale", {c.Input(1)}},
         {"zero_point", {c.OptionalInput(2)}}},
        {{"axis", c.Attr<int64_t>("axis", 1)}, {"block_size", c.Attr<int64_t>("block_size", 0)}, {"dtype", dtype}});
  }
  const std::string scale = c.Cast(Spread(c, c.Input(1), x), DataType::kFloat);
  const std::string ratio = c.Binary("divide", c.Cast(x, DataType::kFloat), scale);
  if (IsFloating(dtype)) {
    // The zero point is 0.
    return c.EmitResult("cast", {{"x", {ratio}}}, {{"dtype", dtype}, {"saturate", c.Attr<bool>("saturate", true)}});
  }
  if (LimitsOf(dtype).second == 0.0) c.Unsupported("the result is of type ", ToString(dtype));
  c.Bind(0, Saturated(c, ratio, c.HasInput(2) ? Spread(c, c.Cast(c.Input(2), DataType::kFloat), x) : "", dtype));
}

void DequantizeLinear(OnnxContext& c) {
  const std::string x = c.Input(0);
  DataType dtype = c.TypeOf(c.Input(1));
  if (const auto number = c.Attr<int64_t>("output_dtype", 0); number != 0) dtype = DataTypeOf(number);
  if (!IsFloating(dtype)) c.Unsupported("the result is of type ", ToString(dtype));
  if (const std::string integers = Widened(c, x);
      IsTyped(c.TypeOf(integers)) || c.TypeOf(integers) == DataType::kInt32) {
    return c.EmitResult(
        "dequantize_linear",
        {{"x", {integers}}, {"scale", {c.Input(1)}}, {"zero_point", {Widened(c, c.OptionalInput(2))}}},
        {{"axis", c.Attr<int64_t>("axis", 1)}, {"block_size", c.Attr<int64_t>("block_size", 0)}, {"dtype", dtype}});
  }
  std::string y = c.Cast(x, DataType::kFloat);
  if (c.HasInput(2)) y = c.Binary("subtract", y, c.Cast(Spread(c, c.Input(2), x), DataType::kFloat));
  const std::string scale = c.Cast(Spread(c, c.Input(1), x), DataType::kFloat);
  c.Bind(0, c.Cast(c.Binary("multiply", y, scale), dtype));
}

void DynamicQuantizeLinear(OnnxContext& c) {
  const DynamicallyQuantized y = QuantizedDynamically(c, c.Input(0));
  c.Bind(0, y.integers);
  c.Bind(1, y.scale);
  c.Bind(2, y.zero_point);
}

// Whether quantized_matmul takes the factors `a` and `b` with zero points (perhaps none) and scales.
bool IsQuantizedMatmul(OnnxContext& c, size_t a, size_t b, const std::string& a_zero, const std::string& b_zero) {
  return IsByte(c.TypeOf(c.Input(a))) && IsByte(c.TypeOf(c.Input(b))) && (a_zero.empty() || IsSingle(c, a_zero)) &&
         IsPerChannel(c, b_zero);
}

void MatMulInteger(OnnxContext& c) {
  if (IsQuantizedMatmul(c, 0, 1, c.OptionalInput(2), c.OptionalInput(3))) {
    return c.EmitResult(
        "quantized_matmul",
        {{"x", {c.Input(0)}}, {"y", {c.Input(1)}}, {"x_zero", {c.OptionalInput(2)}}, {"y_zero", {c.OptionalInput(3)}}});
  }
  // A zero point per row of the first, per column of the second.
  const std::string a = Centred(c, c.Input(0), c.OptionalInput(2), {1}, DataType::kInt32);
  const std::string b = Centred(c, c.Input(1), c.OptionalInput(3), {}, DataType::kInt32);
  c.EmitResult("matmul", {{"x", {a}}, {"y", {b}}});
}

// Whether quantized_conv2d takes the image and filter with these zero points (perhaps none).
bool IsQuantizedConv(OnnxContext& c, size_t x, size_t w, const std::string& x_zero, const std::string& w_zero) {
  const int rank = c.Rank(c.Input(w));
  return IsByte(c.TypeOf(c.Input(x))) && IsByte(c.TypeOf(c.Input(w))) && (rank == 3 || rank == 4) &&
         (x_zero.empty() || IsSingle(c, x_zero)) && IsPerChannel(c, w_zero);
}

void ConvInteger(OnnxContext& c) {
  if (IsQuantizedConv(c, 0, 1, c.OptionalInput(2), c.OptionalInput(3))) {
    return c.Bind(0, EmitConv(c, "quantized_conv",
                              {{"x", {c.Input(0)}},
                               {"filter", {c.Input(1)}},
                               {"x_zero", {c.OptionalInput(2)}},
                               {"filter_zero", {c.OptionalInput(3)}}},
                              {}));
  }
  const std::vector<int64_t> behind =
      c.Rank(c.Input(1)) == 3 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1, 2, 3};
  // f64 holds every sum exactly.
  const std::string x = Centred(c, c.Input(0), c.OptionalInput(2), {}, DataType::kFP64);
  const std::string w = Centred(c, c.Input(1), c.OptionalInput(3), behind, DataType::kFP64);
  c.Bind(0, c.Cast(EmitConv(c, x, w, ""), DataType::kInt32));
}

// The product of two scales over that of the result.
std::string Ratio(OnnxContext& c, const std::string& a, const std::string& b, const std::string& y) {
  return c.Binary("divide", c.Binary("multiply", c.Cast(a, DataType::kFloat), c.Cast(b, DataType::kFloat)),
                  c.Cast(y, DataType::kFloat));
}

DataType ResultType(OnnxContext& c, size_t zero_point) {
  const DataType dtype = c.TypeOf(c.Input(zero_point));
  if (LimitsOf(dtype).second == 0.0) c.Unsupported("the result is of type ", ToString(dtype));
  return dtype;
}

void QLinearMatMul(OnnxContext& c) {
  const DataType dtype = c.TypeOf(c.Input(7));
  if (IsByte(dtype) && IsSingle(c, c.Input(1)) && IsPerChannel(c, c.Input(4)) && IsSingle(c, c.Input(6)) &&
      IsQuantizedMatmul(c, 0, 3, c.Input(2), c.Input(5))) {
    return c.EmitResult("quantized_matmul",
                        {{"x", {c.Input(0)}},
                         {"y", {c.Input(3)}},
                         {"scale", {Ratio(c, c.Input(1), c.Input(4), c.Input(6))}},
                         {"x_zero", {c.Input(2)}},
                         {"y_zero", {c.Input(5)}},
                         {"out_zero", {c.Input(7)}}},
                        {{"dtype", dtype}});
  }
  const std::string a = Centred(c, c.Input(0), c.Input(2), {1}, DataType::kInt32);
  const std::string b = Centred(c, c.Input(3), c.Input(5), {}, DataType::kInt32);
  std::string a_scale = c.Input(1);
  if (c.Rank(a_scale) == 1 && c.Meta(a_scale).dims[0] != Dim(1)) a_scale = c.Unsqueezed(a_scale, {1});
  const std::string sums = c.Cast(c.Binary("matmul", a, b), DataType::kFloat);
  const std::string scaled = c.Binary("multiply", sums, Ratio(c, a_scale, c.Input(4), c.Input(6)));
  c.Bind(0, Saturated(c, scaled, c.Input(7), ResultType(c, 7)));
}

void QLinearConv(OnnxContext& c) { c.Bind(0, QLinearConvOf(c, c.Input(0))); }

}  // namespace

bool IsByte(DataType dtype) { return dtype == DataType::kInt8 || dtype == DataType::kUInt8; }

bool IsSingle(OnnxContext& c, const std::string& value) {
  const MetaTensor& meta = c.Meta(value);
  return meta.rank_known && meta.numel() == Dim(1);
}

bool IsPerChannel(OnnxContext& c, const std::string& value) {
  if (value.empty() || IsSingle(c, value)) return true;
  const MetaTensor& meta = c.Meta(value);
  return meta.rank_known && meta.rank() == 1;
}

std::string Widened(OnnxContext& c, const std::string& x) {
  if (x.empty()) return x;
  const DataType dtype = c.TypeOf(x);
  if (dtype == DataType::kInt4 || dtype == DataType::kInt2) return c.Cast(x, DataType::kInt8);
  if (dtype == DataType::kUInt4 || dtype == DataType::kUInt2) return c.Cast(x, DataType::kUInt8);
  return x;
}

std::string Centred(OnnxContext& c, const std::string& x, const std::string& zero, std::vector<int64_t> unsqueeze,
                    DataType dtype) {
  const std::string wide = c.Cast(x, dtype);
  if (zero.empty()) return wide;
  const bool spread = c.Rank(zero) == 1 && c.Meta(zero).dims[0] != Dim(1) && !unsqueeze.empty();
  return c.Binary("subtract", wide, c.Cast(spread ? c.Unsqueezed(zero, std::move(unsqueeze)) : zero, dtype));
}

DynamicallyQuantized QuantizedDynamically(OnnxContext& c, const std::string& x) {
  const std::vector<std::string> results = c.EmitMany("dynamic_quantize", {{"x", {x}}}, {}, 3);
  return {results[0], results[1], results[2]};
}

std::string QLinearConvOf(OnnxContext& c, const std::string& x) {
  if (const DataType dtype = c.TypeOf(c.Input(7)); IsByte(dtype) && IsSingle(c, c.Input(1)) &&
                                                   IsPerChannel(c, c.Input(4)) && IsSingle(c, c.Input(6)) &&
                                                   IsQuantizedConv(c, 0, 3, c.Input(2), c.Input(5))) {
    return EmitConv(c, "quantized_conv",
                    {{"x", {x}},
                     {"filter", {c.Input(3)}},
                     {"scale", {Ratio(c, c.Input(1), c.Input(4), c.Input(6))}},
                     {"bias", {c.OptionalInput(8)}},
                     {"x_zero", {c.Input(2)}},
                     {"filter_zero", {c.Input(5)}},
                     {"out_zero", {c.Input(7)}}},
                    {{"dtype", dtype}});
  }
  const bool one_axis = c.Rank(c.Input(3)) == 3;
  const std::vector<int64_t> behind = one_axis ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1, 2, 3};
  const std::string image = Centred(c, x, c.Input(2), {}, DataType::kFloat);
  const std::string w = Centred(c, c.Input(3), c.Input(5), behind, DataType::kFloat);
  const std::string bias = c.HasInput(8) ? c.Cast(c.Input(8), DataType::kFloat) : "";
  std::string scale = Ratio(c, c.Input(1), c.Input(4), c.Input(6));
  // One per channel of the result, axis 1.
  if (c.Rank(scale) == 1 && c.Meta(scale).dims[0] != Dim(1)) {
    scale = c.Unsqueezed(scale, one_axis ? std::vector<int64_t>{1} : std::vector<int64_t>{1, 2});
  }
  const std::string scaled = c.Binary("multiply", EmitConv(c, image, w, bias), scale);
  return Saturated(c, scaled, c.Input(7), ResultType(c, 7));
}

REGISTER_CONVERTER(onnx, QuantizeLinear, &Convert<QuantizeLinear>);
REGISTER_CONVERTER(onnx, DequantizeLinear, &Convert<DequantizeLinear>);
REGISTER_CONVERTER(onnx, DynamicQuantizeLinear, &Convert<DynamicQuantizeLinear>);
REGISTER_CONVERTER(onnx, MatMulInteger, &Convert<MatMulInteger>);
REGISTER_CONVERTER(onnx, ConvInteger, &Convert<ConvInteger>);
REGISTER_CONVERTER(onnx, com_microsoft_QuantizeLinear, &Convert<QuantizeLinear>);
REGISTER_CONVERTER(onnx, com_microsoft_DequantizeLinear, &Convert<DequantizeLinear>);
REGISTER_CONVERTER(onnx, QLinearMatMul, &Convert<QLinearMatMul>);
REGISTER_CONVERTER(onnx, QLinearConv, &Convert<QLinearConv>);

}  // namespace wherry::onnx
