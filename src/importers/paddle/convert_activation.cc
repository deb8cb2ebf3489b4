// Activations that are written with others, and those with arguments that import rules cannot take.
#include <limits>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

std::string Clip(OpContext& c, const std::string& x, double min, double max) {
  return c.Emit("clip", {{"x", {x}}}, {{"min", Scalar(min)}, {"max", Scalar(max)}});
}

// The attributes threshold, scale and offset are those of Paddle 1; since 2.5 its kernel has 6, 6 and 3 built in and
// reads none.
void HardSwish(OpContext& c) { c.EmitResult("hardswish", {{"x", {c.Input({"X", 0})}}}); }

void HardTanh(OpContext& c) {
  c.Result({"Out", 0}, Clip(c, c.Input({"X", 0}), c.Attr<double>("t_min", c.pir() ? -1.0 : 0.0),
                            c.Attr<double>("t_max", c.pir() ? 1.0 : 24.0)));
}

// scale_b * tanh(scale_a * x)
void ScaledTanh(OpContext& c) {
  const std::string inner = c.Scaled(c.Input({"X", 0}), c.Attr<double>("scale_a", 0.67));
  c.Result({"Out", 0}, c.Scaled(c.Unary("tanh", inner), c.Attr<double>("scale_b", 1.7159)));
}

// When a network runs, the slope is the mean of those that training draws from.
void RandomizedRelu(OpContext& c) {
  if (!c.Attr<bool>("is_test", false)) c.Unsupported("it draws slopes at random");
  const double slope = (c.Attr<double>("lower", 0.125) + c.Attr<double>("upper", 1.0 / 3.0)) / 2.0;
  c.EmitResult("leaky_relu", {{"x", {c.Input({"X", 0})}}}, {{"negative_slope", slope}});
}

// softmax of x, to which a mask is added, or of which only what is not behind the diagonal counts.
void MaskedSoftmax(OpContext& c) {
  const std::string sum = c.Binary("add", c.Input({"X", 0}), c.Input({"Mask", 1}));
  c.EmitResult("softmax", {{"x", {sum}}}, {{"axis", int64_t{-1}}});
}
void CausalSoftmax(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string ones = c.Emit("full_like", {{"x", {x}}}, {{"value", Scalar(1.0)}});
  const std::string lower = c.Cast(c.Emit("tril_triu", {{"x", {ones}}}), DataType::kBool);
  const std::string nothing = c.Like(x, -std::numeric_limits<double>::infinity());
  const std::string kept = c.Emit("where", {{"condition", {lower}}, {"x", {x}}, {"y", {nothing}}});
  c.EmitResult("softmax", {{"x", {kept}}}, {{"axis", int64_t{-1}}});
}

void ClipOp(OpContext& c) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}};
  OpAttrs attrs;
  OpContext::Pass("min", c.NumberOf({"Min", 1}, "min", Scalar(-kInfinity)), &inputs, &attrs);
  OpContext::Pass("max", c.NumberOf({"Max", 2}, "max", Scalar(kInfinity)), &inputs, &attrs);
  c.EmitResult("clip", inputs, attrs);
}

void ScaleOp(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}};
  c.Refuse({"BiasTensor"});
  OpAttrs attrs = {{"bias", c.Attr<Scalar>("bias", Scalar(0.0))},
                   {"bias_after_scale", c.Attr<bool>("bias_after_scale", true)}};
  OpContext::Pass("scale", c.NumberOf({"ScaleTensor", 1}, "scale", Scalar(1.0)), &inputs, &attrs);
  c.EmitResult("scale", inputs, attrs);
}

// PIR has the probability as an operand.
void Dropout(OpContext& c) {
  const Number p = c.NumberOf({nullptr, 2}, "p", Scalar(0.5));
  if (!p.value) c.Unsupported("the probability is a tensor that is not constant");
  c.EmitResult("dropout", {{"x", {c.Input({nullptr, 0})}}},
               {{"p", p.value->to<double>()}, {"mode", c.Attr<std::string>("mode", "upscale_in_train")}});
}

void Celu(OpContext& c) {
  // max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))
  const std::string x = c.Input({"X", 0});
  const double alpha = c.Attr<double>("alpha", 1.0);
  const std::string inner = c.Scaled(c.Unary("exp", c.Scaled(x, 1.0 / alpha)), alpha, -alpha);
  c.Result({"Out", 0}, c.Binary("add", c.Unary("relu", x), c.Binary("minimum", inner, c.Like(x, 0.0))));
}

void Selu(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const double scale = c.Attr<double>("scale", 1.0507009873554804934193349852946);
  const double alpha = c.Attr<double>("alpha", 1.6732632423543772848170429916717);
  c.Result({"Out", 0}, c.Scaled(c.Emit("elu", {{"x", {x}}}, {{"alpha", alpha}}), scale));
}

void TanhShrink(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  c.Result({"Out", 0}, c.Binary("subtract", x, c.Unary("tanh", x)));
}

void Softsign(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  c.Result({"Out", 0}, c.Binary("divide", x, c.Scaled(c.Unary("abs", x), 1.0, 1.0)));
}

// x where |x| > threshold, else 0.
void HardShrink(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const double threshold = c.Attr<double>("threshold", 0.5);
  const std::string near = c.Binary("less_equal", c.Unary("abs", x), c.Like(x, threshold));
  c.EmitResult("where", {{"condition", {near}}, {"x", {c.Like(x, 0.0)}}, {"y", {x}}});
}

// x - lambda where x > lambda, x + lambda where x < -lambda, else 0: x without its part in [-lambda, lambda].
void SoftShrink(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const double lambda = c.Attr<double>(c.pir() ? "threshold" : "lambda", 0.5);
  c.Result({"Out", 0}, c.Binary("subtract", x, Clip(c, x, -lambda, lambda)));
}

void ThresholdedRelu(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const double value = c.Attr<double>("value", 0.0);
  const std::string above = c.Binary("greater_than", x, c.Like(x, c.Attr<double>("threshold", 1.0)));
  c.EmitResult("where", {{"condition", {above}}, {"x", {x}}, {"y", {c.Like(x, value)}}});
}

void Prelu(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  std::string alpha = c.Input({"Alpha", 1});
  const auto mode = c.Attr<std::string>("mode", "all");
  if (mode == "channel") {
    if (c.ChannelsLast()) {
      alpha = c.Reshaped(alpha, {-1});
    } else {
      std::vector<int64_t> shape(static_cast<size_t>(std::max(c.Rank(x) - 1, 1)), 1);
      shape[0] = -1;
      alpha = c.Reshaped(alpha, shape);
    }
  } else if (mode == "all") {
    alpha = c.Reshaped(alpha, {});
  } else if (mode != "element") {
    c.Corrupt("attribute mode is ", Quote(mode), ", expected all, channel or element");
  }
  const std::string negative = c.Binary("minimum", x, c.Like(x, 0.0));
  c.Result({"Out", 0}, c.Binary("add", c.Unary("relu", x), c.Binary("multiply", negative, alpha)));
}

void Swiglu(OpContext& c) {
  std::string x = c.Input({"x", 0});
  std::string y = c.OptionalInput({"y", 1});
  if (y.empty()) {
    const MetaTensor& meta = c.Meta(x);
    if (!meta.rank_known || meta.dims.empty() || !meta.dims.back().known() || meta.dims.back().value() % 2 != 0) {
      c.Unsupported("the last dimension of ", Quote(x), " is not a known even number");
    }
    const int64_t half = meta.dims.back().value() / 2;
    const auto halves =
        c.EmitMany("split", {{"x", {x}}}, {{"sections", IntArray({half, half})}, {"axis", int64_t{-1}}}, 2);
    x = halves[0];
    y = halves[1];
  }
  c.Result({"out", 0}, c.Binary("multiply", c.Unary("silu", x), y));
}

// Functions that Paddle computes of integers in f32.
std::string FloatInput(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  return IsFloating(c.TypeOf(x)) || c.TypeOf(x) == DataType::kUndefined ? x : c.Cast(x, DataType::kFloat);
}
void FloatFunction(OpContext& c) { c.EmitResult(c.op().type, {{"x", {FloatInput(c)}}}); }
void Log2(OpContext& c) { c.Result({"Out", 0}, c.Scaled(c.Unary("log", FloatInput(c)), 1.4426950408889634)); }
void Log10(OpContext& c) { c.Result({"Out", 0}, c.Scaled(c.Unary("log", FloatInput(c)), 0.43429448190325182)); }

// Integers stay as they are.
void WholeNumber(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const bool whole = !IsFloating(c.TypeOf(x)) && c.TypeOf(x) != DataType::kUndefined;
  c.EmitResult(whole ? "assign" : c.op().type, {{"x", {x}}});
}

void Mish(OpContext& c) {
  const double threshold = c.Attr<double>("threshold", 20.0);
  constexpr double kNoDifference = 15.0;
  if (threshold < kNoDifference) c.Unsupported("attribute threshold is ", threshold);
  c.EmitResult("mish", {{"x", {c.Input({"X"})}}});
}

void IsFinite(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  c.Result({"Out", 0}, c.Unary("logical_not", c.Binary("logical_or", c.Unary("isnan", x), c.Unary("isinf", x))));
}

}  // namespace

REGISTER_CONVERTER(paddle, hard_swish, &Convert<HardSwish>);
REGISTER_CONVERTER(paddle, brelu, &Convert<HardTanh>);
REGISTER_CONVERTER(pir, hardtanh, &Convert<HardTanh, 1>);
REGISTER_CONVERTER(paddle, stanh, &Convert<ScaledTanh>);
REGISTER_CONVERTER(pir, stanh, &Convert<ScaledTanh, 1>);
REGISTER_CONVERTER(paddle, rrelu, &Convert<RandomizedRelu>);
REGISTER_CONVERTER(pir, rrelu, &Convert<RandomizedRelu, 1, 2>);
REGISTER_CONVERTER(paddle, fused_softmax_mask, &Convert<MaskedSoftmax>);
REGISTER_CONVERTER(pir, fused_softmax_mask, &Convert<MaskedSoftmax, 2>);
REGISTER_CONVERTER(paddle, fused_softmax_mask_upper_triangle, &Convert<CausalSoftmax>);
REGISTER_CONVERTER(pir, fused_softmax_mask_upper_triangle, &Convert<CausalSoftmax, 1>);
REGISTER_CONVERTER(paddle, clip, &Convert<ClipOp>);
REGISTER_CONVERTER(pir, clip, &Convert<ClipOp, 3>);
REGISTER_CONVERTER(paddle, scale, &Convert<ScaleOp>);
REGISTER_CONVERTER(pir, scale, &Convert<ScaleOp, 2>);
REGISTER_CONVERTER(pir, scale_, &Convert<ScaleOp, 2>);
REGISTER_CONVERTER(pir, dropout, &Convert<Dropout, 3, 2>);
REGISTER_CONVERTER(paddle, celu, &Convert<Celu>);
REGISTER_CONVERTER(pir, celu, &Convert<Celu, 1>);
REGISTER_CONVERTER(paddle, selu, &Convert<Selu>);
REGISTER_CONVERTER(pir, selu, &Convert<Selu, 1>);
REGISTER_CONVERTER(paddle, tanh_shrink, &Convert<TanhShrink>);
REGISTER_CONVERTER(pir, tanh_shrink, &Convert<TanhShrink, 1>);
REGISTER_CONVERTER(paddle, softsign, &Convert<Softsign>);
REGISTER_CONVERTER(pir, softsign, &Convert<Softsign, 1>);
REGISTER_CONVERTER(paddle, hard_shrink, &Convert<HardShrink>);
REGISTER_CONVERTER(pir, hardshrink, &Convert<HardShrink, 1>);
REGISTER_CONVERTER(paddle, softshrink, &Convert<SoftShrink>);
REGISTER_CONVERTER(pir, softshrink, &Convert<SoftShrink, 1>);
REGISTER_CONVERTER(paddle, thresholded_relu, &Convert<ThresholdedRelu>);
REGISTER_CONVERTER(pir, thresholded_relu, &Convert<ThresholdedRelu, 1>);
REGISTER_CONVERTER(paddle, prelu, &Convert<Prelu>);
REGISTER_CONVERTER(pir, prelu, &Convert<Prelu, 2>);
REGISTER_CONVERTER(paddle, swiglu, &Convert<Swiglu>);
REGISTER_CONVERTER(pir, swiglu, &Convert<Swiglu, 2>);
REGISTER_CONVERTER(paddle, exp, &Convert<FloatFunction>);
REGISTER_CONVERTER(pir, exp, &Convert<FloatFunction, 1>);
REGISTER_CONVERTER(paddle, expm1, &Convert<FloatFunction>);
REGISTER_CONVERTER(pir, expm1, &Convert<FloatFunction, 1>);
REGISTER_CONVERTER(paddle, log, &Convert<FloatFunction>);
REGISTER_CONVERTER(pir, log, &Convert<FloatFunction, 1>);
REGISTER_CONVERTER(paddle, log1p, &Convert<FloatFunction>);
REGISTER_CONVERTER(pir, log1p, &Convert<FloatFunction, 1>);
REGISTER_CONVERTER(paddle, floor, &Convert<WholeNumber>);
REGISTER_CONVERTER(pir, floor, &Convert<WholeNumber, 1>);
REGISTER_CONVERTER(paddle, ceil, &Convert<WholeNumber>);
REGISTER_CONVERTER(pir, ceil, &Convert<WholeNumber, 1>);
REGISTER_CONVERTER(paddle, log2, &Convert<Log2>);
REGISTER_CONVERTER(pir, log2, &Convert<Log2, 1>);
REGISTER_CONVERTER(paddle, log10, &Convert<Log10>);
REGISTER_CONVERTER(pir, log10, &Convert<Log10, 1>);
REGISTER_CONVERTER(paddle, mish, &Convert<Mish>);
REGISTER_CONVERTER(paddle, isfinite_v2, &Convert<IsFinite>);
REGISTER_CONVERTER(pir, isfinite, &Convert<IsFinite, 1>);

}  // namespace wherry::paddle
