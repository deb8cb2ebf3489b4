// Operators that Paddle's own passes and its faster layers write in place of several.
#include <cmath>
#include <map>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

int64_t KnownDim(OpContext& c, const std::string& x, size_t axis) {
  const MetaTensor& meta = c.Meta(x);
  if (!meta.rank_known || meta.dims.size() <= axis) c.Corrupt("its input is ", meta.DebugString());
  if (!meta.dims[axis].known()) c.Unsupported("dimension ", axis, " is not known");
  return meta.dims[axis].value();
}

// x after an activation that Paddle's passes name.
std::string Activated(OpContext& c, const std::string& x, const std::string& name) {
  static const std::map<std::string, const char*> types = {
      {"relu", "relu"}, {"relu6", "relu6"}, {"sigmoid", "sigmoid"}, {"tanh", "tanh"},
      {"gelu", "gelu"}, {"silu", "silu"},   {"swish", "silu"},      {"mish", "mish"},
      {"abs", "abs"},   {"sqrt", "sqrt"},   {"exp", "exp"}};
  if (name.empty() || name == "identity") return x;
  if (name == "gelu_tanh") return c.Emit("gelu", {{"x", {x}}}, {{"approximate", true}});
  const auto type = types.find(name);
  if (type == types.end()) c.Unsupported("its activation is ", Quote(name));
  return c.Unary(type->second, x);
}

// Query, key and value [batch, sequence, heads, size].
void FlashAttention(OpContext& c) {
  if (c.Attr<bool>("return_softmax", false)) c.Unsupported("attribute return_softmax is true");
  const std::string query = c.Input({"q", 0});
  const std::string key = c.Input({"k", 1});
  const int64_t heads = KnownDim(c, query, 2);
  const int64_t size = KnownDim(c, query, 3);
  const auto merged = [&c](const std::string& x) {
    return c.Emit("flatten", {{"x", {x}}}, {{"start_axis", int64_t{2}}, {"stop_axis", int64_t{3}}});
  };
  const std::string y = c.Emit("attention",
                               {{"query", {merged(query)}},
                                {"key", {merged(key)}},
                                {"value", {merged(c.Input({"v", 2}))}},
                                {"mask", {c.OptionalInput({"attn_mask", 4})}}},
                               {{"heads", heads},
                                {"key_heads", KnownDim(c, key, 2)},
                                {"scale", 1.0 / std::sqrt(static_cast<double>(size))},
                                {"causal", c.Attr<bool>("causal", false)}});
  c.Result({"out", 0}, c.Reshaped(y, {0, 0, heads, -1}));
}

// Pairs of elements of q, k and v [batch, sequence, heads, size] turned by the angle of their place: neighbours, or
// with `use_neox_rotary_style` those half the size apart... which Paddle names the other way round: true turns
// neighbours.
void RotaryEmbedding(OpContext& c) {
  const std::string sin = c.OptionalInput({"sin", 3});
  const std::string cos = c.OptionalInput({"cos", 4});
  if (sin.empty() || cos.empty()) c.Unsupported("its sines and cosines are not given");
  if (!c.OptionalInput({"position_ids", 5}).empty()) c.Unsupported("its positions are given");
  if (c.Attr<bool>("time_major", false)) c.Unsupported("attribute time_major is true");
  const bool neighbours = c.Attr<bool>("use_neox_rotary_style", true);
  for (int i = 0; i < 3; ++i) {
    static constexpr const char* kInputs[] = {"q", "k", "v"};
    static constexpr const char* kOutputs[] = {"out_q", "out_k", "out_v"};
    const std::string x = c.OptionalInput({kInputs[i], i});
    if (x.empty()) continue;
    const int64_t size = KnownDim(c, x, 3);
    if (size % 2 != 0) c.Corrupt("its heads have ", size, " elements");
    const std::vector<int64_t> apart =
        neighbours ? std::vector<int64_t>{0, 0, 0, size / 2, 2} : std::vector<int64_t>{0, 0, 0, 2, size / 2};
    const int64_t axis = neighbours ? 4 : 3;
    const std::string pairs = c.Reshaped(x, apart);
    const auto part = [&](int64_t k) {
      return c.Emit("slice", {{"x", {pairs}}},
                    {{"axes", std::vector<int64_t>{axis}}, {"starts", IntArray({k})}, {"ends", IntArray({k + 1})}});
    };
    const std::string turned =
        c.Reshaped(c.Emit("concat", {{"x", {c.Unary("neg", part(1)), part(0)}}}, {{"axis", axis}}), {0, 0, 0, size});
    c.Result({kOutputs[i], i}, c.Binary("add", c.Binary("multiply", x, cos), c.Binary("multiply", turned, sin)));
  }
}

// x + bias after an activation; of "geglu" and "swiglu" one half of the columns passes by it and multiplies the result.
void BiasActivation(OpContext& c) {
  for (const Param param : {Param{"dequant_scales", 2}, Param{"shift", 3}, Param{"smooth", 4}}) {
    if (!c.OptionalInput(param).empty()) c.Unsupported("input ", param.name, " is given");
  }
  if (c.Attr<double>("quant_scale", -1.0) > 0.0) c.Unsupported("its result is quantised");
  std::string x = c.Input({"x", 0});
  if (const std::string bias = c.OptionalInput({"bias", 1}); !bias.empty()) x = c.Binary("add", x, bias);
  const auto method = c.Attr<std::string>("act_method", "gelu");
  if (method != "geglu" && method != "swiglu") return c.Result({"out", 0}, Activated(c, x, method));
  const auto axis = static_cast<int64_t>(c.Rank(x)) - 1;
  const int64_t half = KnownDim(c, x, static_cast<size_t>(axis)) / 2;
  const auto parts = c.EmitMany("split", {{"x", {x}}}, {{"sections", IntArray({half, half})}, {"axis", axis}}, 2);
  c.Result({"out", 0}, c.Binary("multiply", Activated(c, parts[0], method == "geglu" ? "gelu" : "silu"), parts[1]));
}

std::string LayerNorm(OpContext& c, const std::string& x, const std::string& scale, const std::string& bias,
                      int64_t begin, double epsilon) {
  return c.Emit("layer_norm", {{"x", {x}}, {"scale", {scale}}, {"bias", {bias}}},
                {{"begin_norm_axis", begin}, {"epsilon", epsilon}});
}

// The norm of x + bias + residual; dropout does nothing here.
void BiasResidualNorm(OpContext& c) {
  std::string x = c.Input({"X", 0});
  if (const std::string bias = c.OptionalInput({"Bias", 2}); !bias.empty()) x = c.Binary("add", x, bias);
  const bool scaled = c.Attr<std::string>("dropout_implementation", "downgrade_in_infer") == "downgrade_in_infer";
  const double rate = c.Attr<double>("dropout_rate", 0.5);
  if (scaled && rate != 0.0) x = c.Scaled(x, 1.0 - rate);
  const std::string sum = c.Binary("add", x, c.Input({"Residual", 1}));
  c.Result({"Y", 0}, LayerNorm(c, sum, c.OptionalInput({"LnScale", 3}), c.OptionalInput({"LnBias", 4}), c.Rank(sum) - 1,
                               c.Attr<double>("ln_epsilon", 1e-5)));
}

void SkipLayerNorm(OpContext& c) {
  const std::string sum = c.Binary("add", c.Input({"X", 0}), c.Input({"Y", 1}));
  c.Result({"Out", 0}, LayerNorm(c, sum, c.Input({"Scale", 2}), c.Input({"Bias", 3}),
                                 c.Attr<int64_t>("begin_norm_axis", c.Rank(sum) - 1), c.Attr<double>("epsilon", 1e-5)));
}

void DropoutAdd(OpContext& c) {
  c.Refuse({"PTensor"});
  std::string x = c.Input({"x", 0});
  if (c.Attr<std::string>("mode", "upscale_in_train") != "upscale_in_train") {
    x = c.Scaled(x, 1.0 - c.Attr<double>("p", 0.5));
  }
  c.Result({"out", 0}, c.Binary("add", x, c.Input({"y", 1})));
}

}  // namespace

REGISTER_CONVERTER(paddle, flash_attn, &Convert<FlashAttention>);
REGISTER_CONVERTER(pir, flash_attn, &Convert<FlashAttention, 5, 4>);
REGISTER_CONVERTER(paddle, fused_rotary_position_embedding, &Convert<RotaryEmbedding>);
REGISTER_CONVERTER(pir, fused_rotary_position_embedding, &Convert<RotaryEmbedding, 6, 3>);
REGISTER_CONVERTER(paddle, fused_bias_act, &Convert<BiasActivation>);
REGISTER_CONVERTER(pir, fused_bias_act, &Convert<BiasActivation, 5>);
REGISTER_CONVERTER(paddle, fused_bias_dropout_residual_layer_norm, &Convert<BiasResidualNorm>);
REGISTER_CONVERTER(pir, fused_bias_dropout_residual_layer_norm, &Convert<BiasResidualNorm, 5, 5>);
REGISTER_CONVERTER(paddle, skip_layernorm, &Convert<SkipLayerNorm>);
REGISTER_CONVERTER(pir, skip_layernorm, &Convert<SkipLayerNorm, 4>);
REGISTER_CONVERTER(paddle, fused_dropout_add, &Convert<DropoutAdd>);
REGISTER_CONVERTER(pir, fused_dropout_add, &Convert<DropoutAdd, 3, 2>);

}  // namespace wherry::paddle
