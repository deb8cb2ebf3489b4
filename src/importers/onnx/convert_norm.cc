// Normalisations over the last axes.
#include "importers/onnx/convert_norm.h"

#include "base/strings.h"

namespace wherry::onnx {

namespace {

// Whether a scale or bias has exactly one value per normalised element of x.
bool IsPerElement(const OnnxContext& c, const std::string& value, const std::string& x, int64_t axis) {
  const MetaTensor& meta = c.Meta(value);
  const MetaTensor& x_meta = c.Meta(x);
  return meta.rank_known &&
         meta.dims == std::vector<Dim>(x_meta.dims.begin() + static_cast<std::ptrdiff_t>(axis), x_meta.dims.end());
}

void LastAxes(OnnxContext& c, const char* type) {
  const std::string x = c.Input(0);
  const std::string scale = c.Input(1);
  const std::string bias = c.OptionalInput(2);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", -1), c.Rank(x));
  const OpAttrs attrs = {{"epsilon", c.Attr<double>("epsilon", 1e-5)}, {"begin_norm_axis", axis}};
  if (IsPerElement(c, scale, x, axis) && (bias.empty() || IsPerElement(c, bias, x, axis))) {
    return c.EmitResult(type, {{"x", {x}}, {"scale", {scale}}, {"bias", {bias}}}, attrs);
  }
  // They may have any shape that broadcasts.
  std::string y = c.Binary("multiply", c.Emit(type, {{"x", {x}}}, attrs), scale);
  if (!bias.empty()) y = c.Binary("add", y, bias);
  c.Bind(0, y);
}

void LayerNormalization(OnnxContext& c) {
  LastAxes(c, "layer_norm");
  const std::string x = c.Input(0);
  BindStatistics(c, x, c.Axis(c.Attr<int64_t>("axis", -1), c.Rank(x)), c.Attr<double>("epsilon", 1e-5));
}
void RMSNormalization(OnnxContext& c) { LastAxes(c, "rms_norm"); }

// (x - mean) / (sqrt(variance) + 1e-9), as the function in the standard has it.
void MeanVarianceNormalization(OnnxContext& c) {
  const std::string x = c.Input(0);
  const OpAttrs over = {{"axis", IntArray(c.Attr<std::vector<int64_t>>("axes", {0, 2, 3}))}, {"keepdim", true}};
  const std::string centred = c.Binary("subtract", x, c.Emit("mean", {{"x", {x}}}, over));
  const std::string variance = c.Emit("mean", {{"x", {c.Unary("square", centred)}}}, over);
  c.Bind(0, c.Binary("divide", centred, c.Scaled(c.Unary("sqrt", variance), 1.0, 1e-9)));
}

// Each vector along the axis divided by its norm; zeros stay zeros.
void LpNormalization(OnnxContext& c) {
  const std::string x = c.Input(0);
  const auto p = c.Attr<int64_t>("p", 2);
  if (p != 1 && p != 2) c.Corrupt("attribute p is ", p);
  const OpAttrs over = {{"axis", IntArray({c.Attr<int64_t>("axis", -1)})}, {"keepdim", true}};
  std::string norm = c.Emit("sum", {{"x", {c.Unary(p == 1 ? "abs" : "square", x)}}}, over);
  if (p == 2) norm = c.Unary("sqrt", norm);
  const std::string is_zero = c.Binary("equal", norm, c.Like(x, 0.0));
  const std::string divisor = c.Emit("where", {{"condition", {is_zero}}, {"x", {c.Like(x, 1.0)}}, {"y", {norm}}});
  c.Bind(0, c.Binary("divide", x, divisor));
}

}  // namespace

std::string MeanOverLast(OnnxContext& c, const std::string& x, int64_t axis) {
  std::vector<int64_t> axes;
  for (int64_t i = axis; i < c.Rank(x); ++i) axes.push_back(i);
  return c.Emit("mean", {{"x", {c.Cast(x, DataType::kFloat)}}}, {{"axis", IntArray(axes)}, {"keepdim", true}});
}

std::string InverseRms(OnnxContext& c, const std::string& x, int64_t axis, double epsilon) {
  const std::string squares = c.Unary("square", c.Cast(x, DataType::kFloat));
  return c.Unary("rsqrt", c.Scaled(MeanOverLast(c, squares, axis), 1.0, epsilon));
}

void BindStatistics(OnnxContext& c, const std::string& x, int64_t axis, double epsilon) {
  if (!c.HasOutput(1) && !c.HasOutput(2)) return;
  const std::string mean = MeanOverLast(c, x, axis);
  c.Bind(1, mean);
  if (!c.HasOutput(2)) return;
  c.Bind(2, InverseRms(c, c.Binary("subtract", c.Cast(x, DataType::kFloat), mean), axis, epsilon));
}

REGISTER_CONVERTER(onnx, LayerNormalization, &Convert<LayerNormalization>);
REGISTER_CONVERTER(onnx, RMSNormalization, &Convert<RMSNormalization>);
REGISTER_CONVERTER(onnx, MeanVarianceNormalization, &Convert<MeanVarianceNormalization>);
REGISTER_CONVERTER(onnx, LpNormalization, &Convert<LpNormalization>);

}  // namespace wherry::onnx
