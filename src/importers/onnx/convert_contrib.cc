// Operators of com.microsoft that ONNX Runtime's optimiser writes into files (ContribOperators.md): products,
// convolutions, activations and normalisations with what is around them.
#include <numeric>

#include "base/strings.h"
#include "importers/onnx/convert_conv.h"
#include "importers/onnx/converter.h"

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

void FusedConv(OnnxContext& c) {
  std::string y = EmitConv(c, c.Input(0), c.Input(1), c.OptionalInput(2));
  if (c.HasInput(3)) y = c.Binary("add", y, c.Input(3));
  c.Bind(0, Activated(c, y, c.Attr<std::string>("activation", ""),
                      c.Attr<std::vector<double>>("activation_params", std::vector<double>())));
}

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

void FusedMatMul(OnnxContext& c) {
  const std::string a = BatchFirst(c, c.Input(0), c.Attr<bool>("transBatchA", false));
  const std::string b = BatchFirst(c, c.Input(1), c.Attr<bool>("transBatchB", false));
  const std::string y =
      c.Emit("matmul", {{"x", {a}}, {"y", {b}}},
             {{"transpose_x", c.Attr<bool>("transA", false)}, {"transpose_y", c.Attr<bool>("transB", false)}});
  const auto alpha = c.Attr<double>("alpha", 1.0);
  c.Bind(0, alpha == 1.0 ? y : c.Scaled(y, alpha));
}

void FusedGemm(OnnxContext& c) {
  std::string y =
      c.Emit("matmul", {{"x", {c.Input(0)}}, {"y", {c.Input(1)}}},
             {{"transpose_x", c.Attr<bool>("transA", false)}, {"transpose_y", c.Attr<bool>("transB", false)}});
  const auto scaled = [&](const std::string& x, double factor) { return factor == 1.0 ? x : c.Scaled(x, factor); };
  y = scaled(y, c.Attr<double>("alpha", 1.0));
  if (c.HasInput(2)) y = c.Binary("add", y, scaled(c.Input(2), c.Attr<double>("beta", 1.0)));
  std::vector<double> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (c.HasAttr(name)) parameters.push_back(c.Attr<double>(name));
  }
  c.Bind(0, Activated(c, y, c.Attr<std::string>("activation", ""), parameters));
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

// The sum of input, skip and the bias at `bias`, normalised; the sum is result 3.
void SkipNormalization(OnnxContext& c, const char* type, size_t bias, const std::string& beta) {
  std::string sum = c.Binary("add", c.Input(0), c.Input(1));
  if (c.HasInput(bias)) sum = c.Binary("add", sum, c.Input(bias));
  for (const size_t statistics : {1, 2}) {
    if (c.HasOutput(statistics)) c.Unsupported("result ", statistics, ", the mean or the deviation, is used");
  }
  const int rank = c.Rank(sum);
  if (rank < 2) c.Corrupt("the input has ", rank, " dimensions");
  c.EmitResult(type, {{"x", {sum}}, {"scale", {c.Input(2)}}, {"bias", {beta}}},
               {{"epsilon", c.Attr<double>("epsilon", 1e-12)}, {"begin_norm_axis", int64_t{rank} - 1}});
  c.Bind(3, sum);
}
void SkipLayerNormalization(OnnxContext& c) { SkipNormalization(c, "layer_norm", 4, c.OptionalInput(3)); }
void SkipSimplifiedLayerNormalization(OnnxContext& c) { SkipNormalization(c, "rms_norm", 3, ""); }

// Written without a domain.
void SimplifiedLayerNormalization(OnnxContext& c) {
  const std::string x = c.Input(0);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", -1), c.Rank(x));
  c.EmitResult("rms_norm", {{"x", {x}}, {"scale", {c.Input(1)}}},
               {{"epsilon", c.Attr<double>("epsilon", 1e-5)}, {"begin_norm_axis", axis}});
}

// A weight [n, k] in blocks of `block_size` along k, each with a scale and a zero point (by default half the range);
// `bits` of an element, from the low ones of a byte up. Zero points are packed likewise, or are of the scales' type.
void MatMulNBits(OnnxContext& c) {
  const auto k = c.Attr<int64_t>("K");
  const auto n = c.Attr<int64_t>("N");
  const auto bits = c.Attr<int64_t>("bits", 4);
  const auto block = c.Attr<int64_t>("block_size");
  if (bits != 4 && bits != 8 && bits != 2) c.Unsupported("attribute bits is ", bits);
  if (k < 1 || n < 1 || block < 1) c.Corrupt("K is ", k, ", N ", n, ", block_size ", block);
  if (c.HasInput(4)) c.Unsupported("input g_idx");
  const std::string x = c.Input(0);
  const DataType dtype = c.TypeOf(x);
  const int64_t blocks = (k + block - 1) / block;
  // The elements of bytes [..., m], as [..., m * 8 / bits].
  const auto unpacked = [&](const std::string& bytes, std::vector<int64_t> shape) {
    const std::string wide = c.Cast(bytes, DataType::kInt32);
    std::vector<std::string> parts;
    for (int64_t shift = 0; shift < 8; shift += bits) {
      // Dividing by a power of two shifts what is not negative.
      const std::string moved =
          shift == 0 ? wide
                     : c.Binary("floor_divide", wide, c.ConstantScalar(Scalar(int64_t{1} << shift), DataType::kInt32));
      parts.push_back(
          c.Binary("bitwise_and", moved, c.ConstantScalar(Scalar((int64_t{1} << bits) - 1), DataType::kInt32)));
    }
    const std::string apart = c.Emit("stack", {{"x", parts}}, {{"axis", int64_t{-1}}});
    return c.Cast(c.Reshaped(apart, std::move(shape)), dtype);
  };
  const std::string elements = unpacked(c.Input(1), {n, blocks, -1});
  const std::string scales = c.Reshaped(c.Cast(c.Input(2), dtype), {n, blocks, 1});
  std::string zero = c.Like(x, static_cast<double>(int64_t{1} << (bits - 1)));
  if (c.HasInput(3) && c.TypeOf(c.Input(3)) != DataType::kUInt8) {
    zero = c.Reshaped(c.Cast(c.Input(3), dtype), {n, blocks, 1});
  } else if (c.HasInput(3)) {
    const std::string rows = unpacked(c.Input(3), {n, -1});
    zero = c.Unsqueezed(
        c.Emit("slice", {{"x", {rows}}},
               {{"axes", std::vector<int64_t>{1}}, {"starts", IntArray({0})}, {"ends", IntArray({blocks})}}),
        {2});
  }
  const std::string numbers = c.Reshaped(c.Binary("multiply", c.Binary("subtract", elements, zero), scales), {n, -1});
  const std::string weight =
      c.Emit("slice", {{"x", {numbers}}},
             {{"axes", std::vector<int64_t>{1}}, {"starts", IntArray({0})}, {"ends", IntArray({k})}});
  const std::string y = c.Emit("matmul", {{"x", {x}}, {"y", {weight}}}, {{"transpose_y", true}});
  c.Bind(0, c.HasInput(5) ? c.Binary("add", y, c.Input(5)) : y);
}

}  // namespace

REGISTER_CONVERTER(onnx, com_microsoft_FusedConv, &Convert<FusedConv>);
REGISTER_CONVERTER(onnx, com_microsoft_FusedMatMul, &Convert<FusedMatMul>);
REGISTER_CONVERTER(onnx, com_microsoft_FusedGemm, &Convert<FusedGemm>);
REGISTER_CONVERTER(onnx, com_microsoft_Gelu, &Convert<Gelu>);
REGISTER_CONVERTER(onnx, com_microsoft_BiasGelu, &Convert<Gelu>);
REGISTER_CONVERTER(onnx, com_microsoft_FastGelu, &Convert<FastGelu>);
REGISTER_CONVERTER(onnx, com_microsoft_QuickGelu, &Convert<QuickGelu>);
REGISTER_CONVERTER(onnx, com_microsoft_SkipLayerNormalization, &Convert<SkipLayerNormalization>);
REGISTER_CONVERTER(onnx, com_microsoft_SkipSimplifiedLayerNormalization, &Convert<SkipSimplifiedLayerNormalization>);
REGISTER_CONVERTER(onnx, SimplifiedLayerNormalization, &Convert<SimplifiedLayerNormalization>);
REGISTER_CONVERTER(onnx, com_microsoft_MatMulNBits, &Convert<MatMulNBits>);

}  // namespace wherry::onnx
