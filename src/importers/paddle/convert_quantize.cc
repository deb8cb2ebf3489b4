// What quantisation left in a network: numbers rounded to the steps of an integer of `bit_length` bits, or taken back
// to what they stand for. Those of 8 bits whose scales are known become quantize_linear and dequantize_linear, of which
// passes make operators on integers; others are computed in floating point.
#include <algorithm>
#include <cmath>
#include <optional>

#include "importer/constant_tensor.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// The largest integer: 127 for 8 bits.
double LargestOf(OpContext& c, int64_t bits) {
  constexpr int64_t kMostBits = 16;
  if (bits < 2 || bits > kMostBits) c.Unsupported("integers of ", bits, " bits");
  return static_cast<double>((int64_t{1} << (bits - 1)) - 1);
}
double Largest(OpContext& c) { return LargestOf(c, c.Attr<int64_t>("bit_length", 8)); }
// Since Paddle 3 operators say so themselves.
double LinearLargest(OpContext& c) {
  if (!c.pir() && !c.HasAttr("qmax")) return Largest(c);
  const auto largest = c.Attr<int64_t>("qmax");
  if (largest < 1 || largest > INT32_MAX) c.Corrupt("attribute qmax is ", largest);
  return static_cast<double>(largest);
}
constexpr double kLargestByte = 127.0;

std::string Where(OpContext& c, const std::string& condition, const std::string& x, const std::string& y) {
  return c.Emit("where", {{"condition", {condition}}, {"x", {x}}, {"y", {y}}});
}

// x in steps of scale / largest, as whole numbers. Round type 0: to the nearest, even for ties, then cut off; 1: cut
// off, then rounded with ties away from 0.
std::string Quantized(OpContext& c, std::string x, const std::string& scale, double largest) {
  // A scale of 0 is that of nothing but zeros.
  constexpr double kTiny = 1e-30;
  constexpr double kInstead = 1e-6;
  const std::string tiny = c.Binary("less_equal", scale, c.Like(scale, kTiny));
  const std::string inverse = c.Unary("reciprocal", Where(c, tiny, c.Scaled(scale, 1.0, kInstead), scale));
  const std::string factor = c.Scaled(inverse, largest);
  if (c.Attr<int64_t>("round_type", 1) == 0) {
    const std::string rounded = c.Unary("round", c.Binary("multiply", x, factor));
    return c.Emit("clip", {{"x", {rounded}}}, {{"min", Scalar(-largest - 1.0)}, {"max", Scalar(largest)}});
  }
  x = c.Binary("maximum", c.Binary("minimum", x, scale), c.Unary("neg", scale));
  const std::string steps = c.Binary("multiply", x, factor);
  return c.Binary("multiply", c.Unary("sign", steps), c.Unary("floor", c.Scaled(c.Unary("abs", steps), 1.0, 0.5)));
}

std::string Dequantized(OpContext& c, const std::string& x, const std::string& scale, double largest) {
  return c.Scaled(c.Binary("multiply", x, scale), 1.0 / largest);
}

// A scale for each entry of an axis, shaped to broadcast against x; as it is without an axis (negative).
std::string AlongAxis(OpContext& c, const std::string& scale, const std::string& x, int64_t axis) {
  const int rank = c.Rank(x);
  if (axis < 0) return c.Reshaped(scale, {});
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(c.Axis(axis, rank))] = -1;
  return c.Reshaped(scale, shape);
}

// The largest magnitude of x, or of each entry of an axis.
std::string LargestMagnitude(OpContext& c, const std::string& x, int64_t axis) {
  std::vector<int64_t> others;
  for (int64_t i = 0; i < c.Rank(x); ++i) {
    if (i != axis) others.push_back(i);
  }
  const std::string magnitude = c.Unary("abs", x);
  if (axis < 0) return c.Reshaped(c.Unary("max", magnitude), {1});
  return others.empty() ? magnitude : c.Emit("max", {{"x", {magnitude}}}, {{"axis", IntArray(others)}});
}

// The step between two integers for each scale, where scales are positive numbers that are known.
std::optional<std::vector<double>> StepSizes(OpContext& c, const std::string& scale) {
  auto sizes = c.ConstantFloats(scale);
  if (!sizes || sizes->empty()) return std::nullopt;
  for (double& size : *sizes) {
    if (!(size > 0.0) || !std::isfinite(size)) return std::nullopt;
    size /= kLargestByte;
  }
  return sizes;
}
std::string StepConstant(OpContext& c, const std::vector<double>& sizes) {
  const Shape shape = sizes.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(sizes.size())};
  return c.Constant(TensorOfScalars(shape, std::vector<Scalar>(sizes.begin(), sizes.end()), DataType::kFloat));
}

// What integers of 8 bits stand for. A scale along an axis, or for all (negative).
std::string FromBytes(OpContext& c, const std::string& bytes, const std::vector<double>& sizes, int64_t axis) {
  return c.Emit("dequantize_linear", {{"x", {bytes}}, {"scale", {StepConstant(c, sizes)}}},
                {{"axis", axis < 0 ? 0 : c.Axis(axis, c.Rank(bytes))}});
}

// Bytes as whole numbers in floats, of which BytesOf finds them again.
std::string AsFloats(OpContext& c, const std::string& bytes) {
  const std::string floats = FromBytes(c, bytes, {1.0}, -1);
  c.notes->bytes[floats] = bytes;
  return floats;
}

// x in steps as integers of 8 bits; empty if they would not be what Paddle's floats are.
std::string ToBytes(OpContext& c, std::string x, const std::optional<std::vector<double>>& sizes) {
  if (!sizes || sizes->size() != 1 || c.TypeOf(x) != DataType::kFloat) return "";
  const bool ties_away = c.Attr<int64_t>("round_type", 1) != 0;
  if (ties_away) {
    // Cut off before, so that the least is -127.
    const double most = (*sizes)[0] * kLargestByte;
    x = c.Emit("clip", {{"x", {x}}}, {{"min", Scalar(-most)}, {"max", Scalar(most)}});
  }
  return c.Emit("quantize_linear", {{"x", {x}}, {"scale", {StepConstant(c, *sizes)}}},
                {{"ties_away", ties_away}, {"dtype", DataType::kInt8}});
}

// The bytes that x holds, or that its whole numbers are; empty if there are none.
std::string BytesOf(OpContext& c, const std::string& x) {
  if (c.TypeOf(x) == DataType::kInt8) return x;
  if (c.TypeOf(x) != DataType::kFloat) return "";
  if (const auto noted = c.notes->bytes.find(x); noted != c.notes->bytes.end()) return noted->second;
  const DenseTensor* weight = c.block().program().FindWeight(x);
  if (weight == nullptr || weight->numel() == 0) return "";
  const float* values = weight->data<float>();
  std::vector<Scalar> bytes;
  for (int64_t i = 0; i < weight->numel(); ++i) {
    if (std::fabs(values[i]) > kLargestByte + 1.0F || values[i] != std::trunc(values[i]) || values[i] > kLargestByte)
      return "";
    bytes.emplace_back(values[i]);
  }
  return c.Constant(TensorOfScalars(weight->shape(), bytes, DataType::kInt8));
}

// A weight with the scales of what it holds, largest magnitudes, as bytes.
struct ByteWeight {
  std::string bytes;
  std::vector<double> sizes;
};
std::optional<ByteWeight> QuantizedWeight(OpContext& c, const std::string& x, int64_t axis) {
  const DenseTensor* weight = c.block().program().FindWeight(x);
  if (weight == nullptr || weight->dtype() != DataType::kFloat || weight->numel() == 0) return std::nullopt;
  const Shape& shape = weight->shape();
  int64_t inner = 1;
  for (int i = static_cast<int>(axis) + 1; axis >= 0 && i < shape.rank(); ++i) inner *= shape[i];
  const int64_t count = axis < 0 ? 1 : shape[static_cast<int>(axis)];
  const auto channel = [&](int64_t i) { return static_cast<size_t>(axis < 0 ? 0 : i / inner % count); };
  const float* values = weight->data<float>();
  std::vector<double> largest(static_cast<size_t>(count), 0.0);
  for (int64_t i = 0; i < weight->numel(); ++i) {
    double& most = largest[channel(i)];
    most = std::max(most, static_cast<double>(std::fabs(values[i])));
  }
  const bool ties_away = c.Attr<int64_t>("round_type", 1) != 0;
  std::vector<Scalar> bytes;
  for (int64_t i = 0; i < weight->numel(); ++i) {
    const double most = largest[channel(i)];
    if (!std::isnormal(most)) return std::nullopt;
    // In floats, as Paddle.
    const float steps = values[i] * ((1.0F / static_cast<float>(most)) * static_cast<float>(kLargestByte));
    bytes.emplace_back(static_cast<double>(ties_away ? std::roundf(steps) : std::nearbyintf(steps)));
  }
  for (double& most : largest) most /= kLargestByte;
  return ByteWeight{c.Constant(TensorOfScalars(shape, bytes, DataType::kInt8)), std::move(largest)};
}

void FakeQuantize(OpContext& c, bool per_channel, bool given, bool back) {
  const std::string x = c.Input({"X", 0});
  const int64_t axis = per_channel ? c.Axis(c.Attr<int64_t>("quant_axis", 0), c.Rank(x)) : -1;
  if (given && !c.Attr<bool>("is_test", false)) c.Unsupported("attribute is_test is false");
  const std::string scale = given ? c.Input({"InScale", 1}) : LargestMagnitude(c, x, axis);
  c.Result({"OutScale", 1}, given ? c.Unary("assign", scale) : scale);
  const double largest = Largest(c);
  if (largest == kLargestByte) {
    std::optional<std::vector<double>> sizes = given ? StepSizes(c, scale) : std::nullopt;
    std::string bytes = ToBytes(c, x, sizes);
    if (!given) {
      if (auto weight = QuantizedWeight(c, x, axis)) {
        bytes = weight->bytes;
        sizes = std::move(weight->sizes);
      }
    }
    if (!bytes.empty()) {
      return c.Result({"Out", 0}, back ? FromBytes(c, bytes, *sizes, axis) : AsFloats(c, bytes));
    }
  }
  const std::string along = AlongAxis(c, scale, x, axis);
  const std::string steps = Quantized(c, x, along, largest);
  c.Result({"Out", 0}, back ? Dequantized(c, steps, along, largest) : steps);
}
void AbsMax(OpContext& c) { FakeQuantize(c, false, false, false); }
void AbsMaxBack(OpContext& c) { FakeQuantize(c, false, false, true); }
void ChannelAbsMax(OpContext& c) { FakeQuantize(c, true, false, false); }
void ChannelAbsMaxBack(OpContext& c) { FakeQuantize(c, true, false, true); }
void Given(OpContext& c) { FakeQuantize(c, false, true, false); }
void GivenBack(OpContext& c) { FakeQuantize(c, false, true, true); }

void Observer(OpContext& c) { c.EmitResult("assign", {{"x", {c.Input({"X", 0})}}}); }

void FakeDequantize(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string scale = c.Reshaped(c.Input({"Scale", 1}), {});
  c.Result({"Out", 0}, Dequantized(c, c.Cast(x, c.TypeOf(scale)), scale, c.Attr<double>("max_range")));
}

// Scales of a weight's channels, and of what the weight was multiplied with, or only the former.
void FakeChannelDequantize(OpContext& c) {
  std::string x = c.Input({"X", 0});
  const std::vector<std::string> scales = c.InputList({"Scales", 1});
  const auto bits = c.Attr<std::vector<int64_t>>("quant_bits", {8});
  if (scales.empty() || scales.size() > 2 || bits.size() < scales.size()) {
    c.Corrupt("it has ", scales.size(), " scales and ", bits.size(), " quant_bits");
  }
  const DataType dtype = c.TypeOf(scales[0]);
  x = c.Cast(x, dtype);
  // Of a product, channels are those of its result.
  const int64_t axis = scales.size() == 1 ? c.Attr<int64_t>("quant_axis", 0) : c.Attr<int64_t>("x_num_col_dims", 1);
  x = Dequantized(c, x, AlongAxis(c, scales[0], x, axis), LargestOf(c, bits[0]));
  if (scales.size() == 2) x = Dequantized(c, x, c.Reshaped(scales[1], {}), LargestOf(c, bits[1]));
  c.Result({"Out", 0}, x);
}

void QuantizeLinear(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  if (c.Attr<bool>("only_observer", false)) return c.Result({"Y", 0}, c.Unary("assign", x));
  if (!c.Attr<bool>("is_test", true)) c.Unsupported("attribute is_test is false");
  const std::string scale = c.Input({"Scale", 1});
  const double largest = LinearLargest(c);
  if (largest == kLargestByte) {
    const std::string bytes = ToBytes(c, x, StepSizes(c, scale));
    if (!bytes.empty()) return c.Result({"Y", 0}, AsFloats(c, bytes));
  }
  c.Result({"Y", 0}, Quantized(c, x, AlongAxis(c, scale, x, c.Attr<int64_t>("quant_axis", -1)), largest));
}

void DequantizeLinear(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  if (c.Attr<bool>("only_observer", false)) return c.Result({"Y", 0}, c.Unary("assign", x));
  const std::string scale = c.Input({"Scale", 1});
  const auto axis = c.Attr<int64_t>("quant_axis", -1);
  const double largest = LinearLargest(c);
  if (const auto sizes = StepSizes(c, scale); sizes && largest == kLargestByte && c.TypeOf(scale) == DataType::kFloat) {
    const std::string bytes = BytesOf(c, x);
    const bool fits = sizes->size() == 1 || axis >= 0;
    if (!bytes.empty() && fits) return c.Result({"Y", 0}, FromBytes(c, bytes, *sizes, axis));
  }
  c.Result({"Y", 0}, Dequantized(c, c.Cast(x, c.TypeOf(scale)), AlongAxis(c, scale, x, axis), largest));
}

}  // namespace

REGISTER_CONVERTER(paddle, fake_quantize_abs_max, &Convert<AbsMax>);
REGISTER_CONVERTER(pir, fake_quantize_abs_max, &Convert<AbsMax, 1, 2>);
REGISTER_CONVERTER(paddle, fake_quantize_dequantize_abs_max, &Convert<AbsMaxBack>);
REGISTER_CONVERTER(pir, fake_quantize_dequantize_abs_max, &Convert<AbsMaxBack, 1, 2>);
REGISTER_CONVERTER(paddle, fake_channel_wise_quantize_abs_max, &Convert<ChannelAbsMax>);
REGISTER_CONVERTER(pir, fake_channel_wise_quantize_abs_max, &Convert<ChannelAbsMax, 1, 2>);
REGISTER_CONVERTER(paddle, fake_channel_wise_quantize_dequantize_abs_max, &Convert<ChannelAbsMaxBack>);
REGISTER_CONVERTER(pir, fake_channel_wise_quantize_dequantize_abs_max, &Convert<ChannelAbsMaxBack, 1, 2>);
REGISTER_CONVERTER(paddle, fake_quantize_range_abs_max, &Convert<Given>);
REGISTER_CONVERTER(pir, fake_quantize_range_abs_max, &Convert<Given, 3, 3>);
REGISTER_CONVERTER(paddle, fake_quantize_moving_average_abs_max, &Convert<Given>);
REGISTER_CONVERTER(pir, fake_quantize_moving_average_abs_max, &Convert<Given, 4, 4>);
REGISTER_CONVERTER(paddle, fake_quantize_dequantize_moving_average_abs_max, &Convert<GivenBack>);
REGISTER_CONVERTER(pir, fake_quantize_dequantize_moving_average_abs_max, &Convert<GivenBack, 4, 4>);
REGISTER_CONVERTER(paddle, moving_average_abs_max_scale, &Convert<Observer>);
REGISTER_CONVERTER(pir, moving_average_abs_max_scale, &Convert<Observer, 3, 4>);
REGISTER_CONVERTER(paddle, fake_dequantize_max_abs, &Convert<FakeDequantize>);
REGISTER_CONVERTER(pir, fake_dequantize_max_abs, &Convert<FakeDequantize, 2>);
REGISTER_CONVERTER(paddle, fake_channel_wise_dequantize_max_abs, &Convert<FakeChannelDequantize>);
REGISTER_CONVERTER(pir, fake_channel_wise_dequantize_max_abs, &Convert<FakeChannelDequantize, 2>);
REGISTER_CONVERTER(paddle, quantize_linear, &Convert<QuantizeLinear>);
REGISTER_CONVERTER(pir, quantize_linear, &Convert<QuantizeLinear, 5, 4>);
REGISTER_CONVERTER(paddle, dequantize_linear, &Convert<DequantizeLinear>);
REGISTER_CONVERTER(pir, dequantize_linear, &Convert<DequantizeLinear, 5, 4>);

}  // namespace wherry::paddle
