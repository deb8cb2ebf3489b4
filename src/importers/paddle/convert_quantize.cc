// What quantisation left in a network: numbers rounded to the steps of an integer of `bit_length` bits, or taken back
// to what they stand for. Computed in floating point.
#include <algorithm>

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

void FakeQuantize(OpContext& c, bool per_channel, bool given, bool back) {
  const std::string x = c.Input({"X", 0});
  const int64_t axis = per_channel ? c.Attr<int64_t>("quant_axis", 0) : -1;
  if (given && !c.Attr<bool>("is_test", false)) c.Unsupported("attribute is_test is false");
  const std::string scale = given ? c.Input({"InScale", 1}) : LargestMagnitude(c, x, axis);
  const std::string along = AlongAxis(c, scale, x, axis);
  const double largest = Largest(c);
  const std::string steps = Quantized(c, x, along, largest);
  c.Result({"Out", 0}, back ? Dequantized(c, steps, along, largest) : steps);
  c.Result({"OutScale", 1}, given ? c.Unary("assign", scale) : scale);
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

void QuantizeLinear(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  if (c.Attr<bool>("only_observer", false)) return c.Result({"Y", 0}, c.Unary("assign", x));
  if (!c.Attr<bool>("is_test", true)) c.Unsupported("attribute is_test is false");
  const std::string scale = AlongAxis(c, c.Input({"Scale", 1}), x, c.Attr<int64_t>("quant_axis", -1));
  c.Result({"Y", 0}, Quantized(c, x, scale, Largest(c)));
}

void DequantizeLinear(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  if (c.Attr<bool>("only_observer", false)) return c.Result({"Y", 0}, c.Unary("assign", x));
  const std::string scale = AlongAxis(c, c.Input({"Scale", 1}), x, c.Attr<int64_t>("quant_axis", -1));
  c.Result({"Y", 0}, Dequantized(c, c.Cast(x, c.TypeOf(scale)), scale, Largest(c)));
}

}  // namespace

REGISTER_CONVERTER(paddle, fake_quantize_abs_max, &Convert<AbsMax>);
REGISTER_CONVERTER(pir, fake_quantize_abs_max, &Convert<AbsMax>);
REGISTER_CONVERTER(paddle, fake_quantize_dequantize_abs_max, &Convert<AbsMaxBack>);
REGISTER_CONVERTER(pir, fake_quantize_dequantize_abs_max, &Convert<AbsMaxBack>);
REGISTER_CONVERTER(paddle, fake_channel_wise_quantize_abs_max, &Convert<ChannelAbsMax>);
REGISTER_CONVERTER(pir, fake_channel_wise_quantize_abs_max, &Convert<ChannelAbsMax>);
REGISTER_CONVERTER(paddle, fake_channel_wise_quantize_dequantize_abs_max, &Convert<ChannelAbsMaxBack>);
REGISTER_CONVERTER(pir, fake_channel_wise_quantize_dequantize_abs_max, &Convert<ChannelAbsMaxBack>);
REGISTER_CONVERTER(paddle, fake_quantize_range_abs_max, &Convert<Given>);
REGISTER_CONVERTER(pir, fake_quantize_range_abs_max, &Convert<Given>);
REGISTER_CONVERTER(paddle, fake_quantize_moving_average_abs_max, &Convert<Given>);
REGISTER_CONVERTER(pir, fake_quantize_moving_average_abs_max, &Convert<Given>);
REGISTER_CONVERTER(paddle, fake_quantize_dequantize_moving_average_abs_max, &Convert<GivenBack>);
REGISTER_CONVERTER(pir, fake_quantize_dequantize_moving_average_abs_max, &Convert<GivenBack>);
REGISTER_CONVERTER(paddle, moving_average_abs_max_scale, &Convert<Observer>);
REGISTER_CONVERTER(pir, moving_average_abs_max_scale, &Convert<Observer>);
REGISTER_CONVERTER(paddle, fake_dequantize_max_abs, &Convert<FakeDequantize>);
REGISTER_CONVERTER(pir, fake_dequantize_max_abs, &Convert<FakeDequantize>);
REGISTER_CONVERTER(paddle, quantize_linear, &Convert<QuantizeLinear>);
REGISTER_CONVERTER(pir, quantize_linear, &Convert<QuantizeLinear>);
REGISTER_CONVERTER(paddle, dequantize_linear, &Convert<DequantizeLinear>);
REGISTER_CONVERTER(pir, dequantize_linear, &Convert<DequantizeLinear>);

}  // namespace wherry::paddle
