// Norms of tensors, what is scaled by them, and distances.
#include <cmath>

#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

std::string Where(OpContext& c, const std::string& condition, const std::string& x, const std::string& y) {
  return c.Emit("where", {{"condition", {condition}}, {"x", {x}}, {"y", {y}}});
}

std::string Reduced(OpContext& c, const char* type, const std::string& x, const std::vector<int64_t>& axes,
                    bool keepdim) {
  return c.Emit(type, {{"x", {x}}}, {{"axis", IntArray(axes)}, {"keepdim", keepdim}});
}

// The p-norm over axes; none: over all.
std::string NormOf(OpContext& c, const std::string& x, double p, const std::vector<int64_t>& axes, bool keepdim) {
  if (p == 2.0) return c.Unary("sqrt", Reduced(c, "sum", c.Unary("square", x), axes, keepdim));
  const std::string size = c.Unary("abs", x);
  if (std::isinf(p)) return Reduced(c, p > 0.0 ? "max" : "min", size, axes, keepdim);
  if (p == 0.0) {
    const std::string counted = c.Cast(c.Binary("not_equal", size, c.Like(x, 0.0)), c.TypeOf(x));
    return Reduced(c, "sum", counted, axes, keepdim);
  }
  const std::string sum = Reduced(c, "sum", c.Binary("elementwise_pow", size, c.Like(x, p)), axes, keepdim);
  return c.Binary("elementwise_pow", sum, c.Like(x, 1.0 / p));
}

void Distance(OpContext& c) {
  const std::string difference = c.Binary("subtract", c.Input({"X", 0}), c.Input({"Y", 1}));
  c.Result({"Out", 0}, NormOf(c, difference, c.Attr<double>("p", 2.0), {}, false));
}

// The sum of all squares, or sizes.
void SquaredNorm(OpContext& c) {
  const std::string sum = c.Unary("sum", c.Unary("square", c.Input({"X", 0})));
  c.Result({"Out", 0}, c.Reshaped(sum, {1}));
}
void SumOfSizes(OpContext& c) { c.EmitResult("sum", {{"x", {c.Unary("abs", c.Input({"X", 0}))}}}); }

// x, shortened to max_norm if it is longer.
void ClipByNorm(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string most = c.Like(x, c.Attr<double>("max_norm"));
  const std::string norm = NormOf(c, x, 2.0, {}, false);
  const std::string shorter = c.Binary("divide", c.Binary("multiply", x, most), norm);
  c.Result({"Out", 0}, Where(c, c.Binary("greater_than", norm, most), shorter, x));
}

// The same for each part along an axis.
void Renorm(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const int rank = c.Rank(x);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis"), rank);
  std::vector<int64_t> others;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) others.push_back(i);
  }
  const std::string most = c.Like(x, c.Attr<double>("max_norm"));
  const auto p = c.Attr<double>("p");
  // Paddle takes roots of sums of powers even where p is infinite: 1, whatever they are.
  const std::string norm = std::isinf(p)    ? c.Like(x, 1.0)
                           : others.empty() ? c.Unary("abs", x)
                                            : NormOf(c, x, p, others, true);
  constexpr double kNotZero = 1e-7;
  const std::string factor = Where(c, c.Binary("greater_than", norm, most),
                                   c.Binary("divide", most, c.Scaled(norm, 1.0, kNotZero)), c.Like(x, 1.0));
  c.Result({"Out", 0}, c.Binary("multiply", x, factor));
}

// x over its norm along an axis.
void NormalizeL2(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string sum = Reduced(c, "sum", c.Unary("square", x), {c.Attr<int64_t>("axis", -1)}, true);
  const std::string norm = c.Unary("sqrt", c.Scaled(sum, 1.0, c.Attr<double>("epsilon", 1e-10)));
  c.Result({"Out", 0}, c.Binary("divide", x, norm));
  c.Result({"Norm", 1}, norm);
}

std::string RmsOf(OpContext& c, const std::string& x, const std::string& scale, const std::string& bias,
                  int64_t begin) {
  return c.Emit("rms_norm", {{"x", {x}}, {"scale", {scale}}, {"bias", {bias}}},
                {{"epsilon", c.Attr<double>("epsilon", 1e-6)}, {"begin_norm_axis", begin}});
}

// Inputs: x, bias, residual, the norm's scale and bias. The first three are added up before.
void FusedRmsNorm(OpContext& c) {
  if (c.Attr<double>("quant_scale", -1.0) > 0.0) c.Unsupported("its result is quantised");
  std::string x = c.Input({"x", 0});
  for (const Param part : {Param{"residual", 2}, Param{"bias", 1}}) {
    const std::string value = c.OptionalInput(part);
    if (!value.empty()) x = c.Binary("add", x, value);
  }
  c.Result({"residual_out", 1}, x);
  c.Result({"out", 0}, RmsOf(c, x, c.OptionalInput({"norm_weight", 3}), c.OptionalInput({"norm_bias", 4}),
                             c.Attr<int64_t>("begin_norm_axis", -1)));
}

void RmsNorm(OpContext& c) {
  // fused_rms_norm_ext has no such attribute, and goes over the last axis.
  const bool last = c.op().type != "rms_norm";
  const auto shape = last ? std::vector<int64_t>{0} : c.Attr<std::vector<int64_t>>("normalized_shape");
  c.EmitResult(
      "assign",
      {{"x", {RmsOf(c, c.Input({"x", 0}), c.OptionalInput({"scale", 1}), "", -static_cast<int64_t>(shape.size()))}}});
}

}  // namespace

REGISTER_CONVERTER(paddle, dist, &Convert<Distance>);
REGISTER_CONVERTER(pir, dist, &Convert<Distance, 2>);
REGISTER_CONVERTER(paddle, squared_l2_norm, &Convert<SquaredNorm>);
REGISTER_CONVERTER(pir, squared_l2_norm, &Convert<SquaredNorm, 1>);
REGISTER_CONVERTER(paddle, l1_norm, &Convert<SumOfSizes>);
REGISTER_CONVERTER(pir, l1_norm, &Convert<SumOfSizes, 1>);
REGISTER_CONVERTER(paddle, clip_by_norm, &Convert<ClipByNorm>);
REGISTER_CONVERTER(pir, clip_by_norm, &Convert<ClipByNorm, 1>);
REGISTER_CONVERTER(paddle, renorm, &Convert<Renorm>);
REGISTER_CONVERTER(pir, renorm, &Convert<Renorm, 1>);
REGISTER_CONVERTER(pir, norm, &Convert<NormalizeL2, 1, 2>);
REGISTER_CONVERTER(pir, fused_rms_norm_quant, &Convert<FusedRmsNorm, 5, 3>);
REGISTER_CONVERTER(pir, rms_norm, &Convert<RmsNorm, 2, 2>);
REGISTER_CONVERTER(pir, fused_rms_norm_ext, &Convert<RmsNorm, 2, 2>);

}  // namespace wherry::paddle
