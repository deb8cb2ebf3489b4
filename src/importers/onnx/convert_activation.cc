// Activations that are no operator of Wherry's, or have other attributes.
#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

void Gelu(OnnxContext& c) {
  const auto approximate = c.Attr<std::string>("approximate", "none");
  if (approximate != "none" && approximate != "tanh") c.Corrupt("attribute approximate is ", Quote(approximate));
  c.EmitResult("gelu", {{"x", {c.Input(0)}}}, {{"approximate", approximate == "tanh"}});
}

// The part below zero, times a slope per channel or element; the rest as it is.
void PRelu(OnnxContext& c) {
  const std::string x = c.Input(0);
  std::string slope = c.Input(1);
  if (c.opset() < 7 && c.Rank(slope) == 1) {
    // One slope per channel, axis 1.
    std::vector<int64_t> axes;
    for (int64_t i = 1; i < c.Rank(x) - 1; ++i) axes.push_back(i);
    if (!axes.empty()) slope = c.Unsqueezed(slope, axes);
  }
  const std::string zero = c.Like(x, 0.0);
  if (IsFloating(c.TypeOf(x))) {
    // One pass over memory, once the three are fused; exact for finite slopes.
    const std::string below = c.Binary("multiply", c.Binary("minimum", x, zero), slope);
    return c.Bind(0, c.Binary("add", c.Unary("relu", x), below));
  }
  const std::string scaled = c.Binary("multiply", x, slope);
  c.EmitResult("where", {{"condition", {c.Binary("less_than", x, zero)}}, {"x", {scaled}}, {"y", {x}}});
}

void Selu(OnnxContext& c) {
  const std::string y =
      c.Emit("elu", {{"x", {c.Input(0)}}}, {{"alpha", c.Attr<double>("alpha", 1.67326319217681884765625)}});
  c.Bind(0, c.Scaled(y, c.Attr<double>("gamma", 1.05070102214813232421875)));
}

// max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))
void Celu(OnnxContext& c) {
  const std::string x = c.Input(0);
  const auto alpha = c.Attr<double>("alpha", 1.0);
  if (alpha == 0.0) c.Corrupt("attribute alpha is 0");
  if (alpha == 1.0) return c.EmitResult("elu", {{"x", {x}}});
  const std::string below = c.Binary("minimum", x, c.Like(x, 0.0));
  // exp(x) - 1, which elu is only up to 0.
  const char* const curve_of = alpha > 0.0 ? "elu" : "expm1";
  const std::string curve = c.Scaled(c.Unary(curve_of, c.Scaled(below, 1.0 / alpha)), alpha);
  c.Bind(0, c.Binary("add", c.Unary("relu", x), curve));
}

void ThresholdedRelu(OnnxContext& c) {
  const std::string x = c.Input(0);
  const std::string above = c.Binary("greater_than", x, c.Like(x, c.Attr<double>("alpha", 1.0)));
  c.EmitResult("where", {{"condition", {above}}, {"x", {x}}, {"y", {c.Like(x, 0.0)}}});
}

void Shrink(OnnxContext& c) {
  const std::string x = c.Input(0);
  const auto lambda = c.Attr<double>("lambd", 0.5);
  const auto bias = c.Attr<double>("bias", 0.0);
  const std::string zero = c.Like(x, 0.0);
  const std::string upper = c.Emit("where", {{"condition", {c.Binary("greater_than", x, c.Like(x, lambda))}},
                                             {"x", {c.Scaled(x, 1.0, -bias)}},
                                             {"y", {zero}}});
  c.EmitResult(
      "where",
      {{"condition", {c.Binary("less_than", x, c.Like(x, -lambda))}}, {"x", {c.Scaled(x, 1.0, bias)}}, {"y", {upper}}});
}

void Softsign(OnnxContext& c) {
  const std::string x = c.Input(0);
  c.Bind(0, c.Binary("divide", x, c.Scaled(c.Unary("abs", x), 1.0, 1.0)));
}

// swish(alpha * a) / alpha * b; 16-bit floats are multiplied in f32 and rounded once.
void SwiGlu(OnnxContext& c) {
  const DataType dtype = c.TypeOf(c.Input(0));
  const DataType precise = dtype == DataType::kFP64 ? dtype : DataType::kFloat;
  const std::string a = c.Cast(c.Input(0), precise);
  const auto alpha = c.Attr<double>("alpha", 1.0);
  const std::string gate = c.Unary("sigmoid", alpha == 1.0 ? a : c.Scaled(a, alpha));
  c.Bind(0, c.Cast(c.Binary("multiply", c.Binary("multiply", a, gate), c.Cast(c.Input(1), precise)), dtype));
}

// One where the largest element along the axis is (the first of equal ones), zero elsewhere.
void Hardmax(OnnxContext& c) {
  const std::string x = c.Input(0);
  const int rank = c.Rank(x);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", c.opset() < 13 ? 1 : -1), rank);
  const auto along = [&](const std::string& value, int64_t over) {
    const std::string largest = c.Emit("argmax", {{"x", {value}}}, {{"axis", over}, {"keepdims", true}});
    const std::string zeros = c.Emit("full_like", {{"x", {value}}}, {{"value", Scalar(0.0)}});
    const std::string ones = c.Emit("full_like", {{"x", {largest}}}, {{"value", Scalar(1.0)}, {"dtype", c.TypeOf(x)}});
    return c.Emit("put_along_axis", {{"x", {zeros}}, {"index", {largest}}, {"value", {ones}}}, {{"axis", over}});
  };
  if (c.opset() >= 13 || axis == rank - 1) return c.Bind(0, along(x, axis));
  // Before opset 13 all axes from this one on count as one.
  const std::string matrix = c.AsMatrix(x, axis);
  const std::string y = along(matrix, 1);
  c.EmitResult("reshape", {{"x", {y}}, {"shape", {c.Unary("shape", x)}}}, {{"allow_zero", true}});
}

}  // namespace

REGISTER_CONVERTER(onnx, Gelu, &Convert<Gelu>);
REGISTER_CONVERTER(onnx, PRelu, &Convert<PRelu>);
REGISTER_CONVERTER(onnx, Selu, &Convert<Selu>);
REGISTER_CONVERTER(onnx, Celu, &Convert<Celu>);
REGISTER_CONVERTER(onnx, ThresholdedRelu, &Convert<ThresholdedRelu>);
REGISTER_CONVERTER(onnx, Shrink, &Convert<Shrink>);
REGISTER_CONVERTER(onnx, Softsign, &Convert<Softsign>);
REGISTER_CONVERTER(onnx, SwiGLU, &Convert<SwiGlu>);
REGISTER_CONVERTER(onnx, Hardmax, &Convert<Hardmax>);

}  // namespace wherry::onnx
