// Operators of com.microsoft that ONNX Runtime's optimiser writes into files (ContribOperators.md): products,
// convolutions and activations with what is around them.
#include <numeric>

#include "base/strings.h"
#include "importers/onnx/convert_contrib_attention.h"
#include "importers/onnx/convert_conv.h"
#include "importers/onnx/convert_pool.h"

namespace wherry::onnx {

namespace {

// `parameters`: what the activation takes, in the order of its attributes; missing ones have ONNX's defaults.
std::string Activated(OnnxContext& c, const std::string& x, const std::string& name,
                      const std::vector<double>& parameters) {
  const auto parameter = [&](size_t i, double fallback) { return i < parameters.size() ? parameters[i] : fallback; };
  if (name.empty()) return x;
  if (name == "Relu") return c.Unary("relu", x);
  if (name == "Sigmoid") return c.Unary("sigmoid", x);
  if (name == "Tanh") return c.Unary("tanh", x);
  if (name == "Softplus") return c.Unary("softplus", x);
  if (name == "HardSwish") return c.Unary("hardswish", x);
  if (name == "Softsign") return c.Binary("divide", x, c.Scaled(c.Unary("abs", x), 1.0, 1.0));
  if (name == "Elu") return c.Emit("elu", {{"x", {x}}}, {{"alpha", parameter(0, 1.0)}});
  if (name == "Selu") {
    const std::string y = c.Emit("elu", {{"x", {x}}}, {{"alpha", parameter(0, 1.67326319217681884765625)}});
    return c.Scaled(y, parameter(1, 1.05070102214813232421875));
  }
  if (name == "ThresholdedRelu") {
    const std::string above = c.Binary("greater_than", x, c.Like(x, parameter(0, 1.0)));
    return c.Emit("where", {{"condition", {above}}, {"x", {x}}, {"y", {c.Like(x, 0.0)}}});
  }
  if (name == "LeakyRelu") return c.Emit("leaky_relu", {{"x", {x}}}, {{"negative_slope", parameter(0, 0.01)}});
  if (name == "Clip") {
    if (parameters.size() != 2) c.Corrupt("Clip has ", parameters.size(), " parameters, expected 2");
    return c.Emit("clip", {{"x", {x}}}, {{"min", Scalar(parameters[0])}, {"max", Scalar(parameters[1])}});
  }
  if (name == "HardSigmoid") {
    return c.Emit("clip", {{"x", {c.Scaled(x, parameter(0, 0.2), parameter(1, 0.5))}}},
                  {{"min", Scalar(0.0)}, {"max", Scalar(1.0)}});
  }
  c.Unsupported("attribute activation is ", Quote(name));
}

// A convolution of `x`, with a bias, a value that is added and an activation where there are such.
std::string FusedConvOf(OnnxContext& c, const std::string& x, const std::string& added) {
  std::string y = EmitConv(c, x, c.Input(1), c.OptionalInput(2));
  if (!added.empty()) y = c.Binary("add", y, added);
  return Activated(c, y, c.Attr<std::string>("activation", ""),
                   c.Attr<std::vector<double>>("activation_params", std::vector<double>()));
}

void FusedConv(OnnxContext& c) { c.Bind(0, FusedConvOf(c, c.Input(0), c.OptionalInput(3))); }
// The same with the channels last.
void NhwcFusedConv(OnnxContext& c) {
  const std::string added = c.HasInput(3) ? ChannelsFirst(c, c.Input(3)) : "";
  c.Bind(0, ChannelsLast(c, FusedConvOf(c, ChannelsFirst(c, c.Input(0)), added)));
}
void NhwcMaxPool(OnnxContext& c) { c.Bind(0, ChannelsLast(c, EmitPool(c, ChannelsFirst(c, c.Input(0)), "max"))); }

// transBatch: the first axis comes before the last, as in [rows, batch, columns].
std::string BatchFirst(OnnxContext& c, const std::string& x, bool transpose_batch) {
  const int rank = c.Rank(x);
  if (!transpose_batch || rank < 3) return x;
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 1);
  perm[perm.size() - 2] = 0;
  perm.back() = rank - 1;
  return c.Emit("transpose", {{"x", {x}}}, {{"perm", perm}});
}

// activation_alpha, _beta and _gamma, as far as they are given.
std::vector<double> ActivationParameters(OnnxContext& c) {
  std::vector<double> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (c.HasAttr(name)) parameters.push_back(c.Attr<double>(name));
  }
  return parameters;
}

// With an activation where there is one.
void FusedMatMul(OnnxContext& c) {
  const std::string a = BatchFirst(c, c.Input(0), c.Attr<bool>("transBatchA", false));
  const std::string b = BatchFirst(c, c.Input(1), c.Attr<bool>("transBatchB", false));
  const std::string y =
      c.Emit("matmul", {{"x", {a}}, {"y", {b}}},
             {{"transpose_x", c.Attr<bool>("transA", false)}, {"transpose_y", c.Attr<bool>("transB", false)}});
  const auto alpha = c.Attr<double>("alpha", 1.0);
  const std::string scaled = alpha == 1.0 ? y : c.Scaled(y, alpha);
  c.Bind(0, Activated(c, scaled, c.Attr<std::string>("activation", ""), ActivationParameters(c)));
}

void FusedGemm(OnnxContext& c) {
  std::string y =
      c.Emit("matmul", {{"x", {c.Input(0)}}, {"y", {c.Input(1)}}},
             {{"transpose_x", c.Attr<bool>("transA", false)}, {"transpose_y", c.Attr<bool>("transB", false)}});
  const auto scaled = [&](const std::string& x, double factor) { return factor == 1.0 ? x : c.Scaled(x, factor); };
  y = scaled(y, c.Attr<double>("alpha", 1.0));
  if (c.HasInput(2)) y = c.Binary("add", y, scaled(c.Input(2), c.Attr<double>("beta", 1.0)));
  c.Bind(0, Activated(c, y, c.Attr<std::string>("activation", ""), ActivationParameters(c)));
}

// Of x with a bias where there is one.
void GeluOf(OnnxContext& c, bool approximate) {
  const std::string x = c.HasInput(1) ? c.Binary("add", c.Input(0), c.Input(1)) : c.Input(0);
  c.EmitResult("gelu", {{"x", {x}}}, {{"approximate", approximate}});
}
void Gelu(OnnxContext& c) { GeluOf(c, false); }
void FastGelu(OnnxContext& c) { GeluOf(c, true); }

void QuickGelu(OnnxContext& c) {
  const std::string x = c.Input(0);
  c.Bind(0, c.Binary("multiply", x, c.Unary("sigmoid", c.Scaled(x, c.Attr<double>("alpha", 1.702)))));
}

void GemmFastGelu(OnnxContext& c) {
  const std::string product = c.Binary("matmul", c.Input(0), c.Input(1));
  c.EmitResult("gelu", {{"x", {c.HasInput(2) ? c.Binary("add", product, c.Input(2)) : product}}},
               {{"approximate", true}});
}

// The left half of the columns of x + bias, times gelu of the right one.
void BiasSplitGelu(OnnxContext& c) {
  const std::string x = c.Binary("add", c.Input(0), c.Input(1));
  const int64_t columns = KnownDim(c, x, static_cast<size_t>(c.Rank(x)) - 1, "the number of columns");
  const std::string gate = c.Emit("gelu", {{"x", {Columns(c, x, columns / 2, columns)}}}, {{"approximate", false}});
  c.Bind(0, c.Binary("multiply", Columns(c, x, 0, columns / 2), gate));
}

void BiasAdd(OnnxContext& c) { c.Bind(0, c.Binary("add", c.Binary("add", c.Input(0), c.Input(1)), c.Input(2))); }

// Over the axes from `axis` on, as one. The bias broadcasts.
void BiasSoftmax(OnnxContext& c) {
  const std::string x = c.Binary("add", c.Input(0), c.Input(1));
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", 1), c.Rank(x));
  const std::string y = c.Emit("softmax", {{"x", {c.AsMatrix(x, axis)}}}, {{"axis", int64_t{1}}});
  c.EmitResult("reshape", {{"x", {y}}, {"shape", {c.Unary("shape", x)}}}, {{"allow_zero", true}});
}

}  // namespace

REGISTER_CONVERTER(onnx, com_microsoft_NhwcFusedConv, &Convert<NhwcFusedConv>);
REGISTER_CONVERTER(onnx, com_microsoft_NhwcConv, &Convert<NhwcFusedConv>);
REGISTER_CONVERTER(onnx, com_microsoft_NhwcMaxPool, &Convert<NhwcMaxPool>);
REGISTER_CONVERTER(onnx, com_microsoft_TransposeMatMul, &Convert<FusedMatMul>);
REGISTER_CONVERTER(onnx, com_microsoft_FusedMatMulActivation, &Convert<FusedMatMul>);
REGISTER_CONVERTER(onnx, com_microsoft_GemmFastGelu, &Convert<GemmFastGelu>);
REGISTER_CONVERTER(onnx, com_microsoft_BiasSplitGelu, &Convert<BiasSplitGelu>);
REGISTER_CONVERTER(onnx, com_microsoft_BiasAdd, &Convert<BiasAdd>);
REGISTER_CONVERTER(onnx, com_microsoft_BiasSoftmax, &Convert<BiasSoftmax>);
REGISTER_CONVERTER(onnx, com_microsoft_FusedConv, &Convert<FusedConv>);
REGISTER_CONVERTER(onnx, com_microsoft_FusedMatMul, &Convert<FusedMatMul>);
REGISTER_CONVERTER(onnx, com_microsoft_FusedGemm, &Convert<FusedGemm>);
REGISTER_CONVERTER(onnx, com_microsoft_Gelu, &Convert<Gelu>);
REGISTER_CONVERTER(onnx, com_microsoft_BiasGelu, &Convert<Gelu>);
REGISTER_CONVERTER(onnx, com_microsoft_FastGelu, &Convert<FastGelu>);
REGISTER_CONVERTER(onnx, com_microsoft_QuickGelu, &Convert<QuickGelu>);

}  // namespace wherry::onnx
