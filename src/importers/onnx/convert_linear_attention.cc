// LinearAttention and CausalConvWithState: what keeps a state instead of all keys and values.
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

// One step in the loop over time: its slices, and the state before and after it.
class Step {
 public:
  Step(OnnxContext* outer, OnnxContext* inside, std::string time)
      : outer_(*outer), c_(*inside), time_(std::move(time)) {}

  // Of [batch, time, heads, size]: [batch, heads, size].
  std::string At(const std::string& x) {
    c_.block().Capture(outer_.block(), x);
    return c_.Emit("gather", {{"x", {x}}, {"index", {time_}}}, {{"axis", int64_t{1}}});
  }

 private:
  OnnxContext& outer_;
  OnnxContext& c_;
  std::string time_;
};

void LinearAttention(OnnxContext& c) {
  const auto rule = c.Attr<std::string>("update_rule", "gated_delta");
  const bool gated = rule == "gated" || rule == "gated_delta";
  const bool delta = rule == "delta" || rule == "gated_delta";
  if (!gated && !delta && rule != "linear") c.Corrupt("attribute update_rule is ", Quote(rule));
  const auto heads = c.Attr<int64_t>("q_num_heads");
  const auto key_heads = c.Attr<int64_t>("kv_num_heads");
  if (heads < 1 || key_heads < 1 || heads % key_heads != 0)
    c.Corrupt(heads, " heads share ", key_heads, " of the keys");
  const DataType dtype = c.TypeOf(c.Input(0));
  const DataType precise = dtype == DataType::kFP64 ? dtype : DataType::kFloat;
  // [batch, time, heads, size]
  const auto apart = [&](size_t input, int64_t count) {
    const std::string x = c.Cast(c.Input(input), precise);
    if (c.Rank(x) != 3) c.Corrupt("input ", input, " has ", c.Rank(x), " dimensions, expected 3");
    return c.Reshaped(x, {0, 0, count, -1});
  };
  const std::string query = apart(0, heads);
  const std::string keys = apart(1, key_heads);
  const std::string values = apart(2, key_heads);
  const std::string decay = gated ? c.Unary("exp", apart(4, key_heads)) : "";
  // One for all heads, or one for each.
  const std::string beta = delta ? c.Unsqueezed(c.Cast(c.Input(5), precise), {3}) : "";
  double scale = c.Attr<double>("scale", 0.0);
  if (scale == 0.0) {
    const Dim size = c.Meta(query).dims[3];
    if (!size.known() || size.value() < 1) c.Unsupported("the size of a head is not known");
    scale = 1.0 / std::sqrt(static_cast<double>(size.value()));
  }
  std::string state = c.OptionalInput(3);
  const DataType state_type = state.empty() ? dtype : c.TypeOf(state);
  if (state.empty()) {
    const auto size = [&](const std::string& x, int64_t axis) { return c.Dimension(x, axis); };
    const std::string shape = c.Emit("concat", {{"x", {size(keys, 0), size(keys, 2), size(keys, 3), size(values, 3)}}},
                                     {{"axis", int64_t{0}}});
    state = c.Emit("full", {{"shape", {shape}}}, {{"value", Scalar(0.0)}, {"dtype", precise}});
    c.block().SetRank(state, 4);
  } else {
    state = c.Cast(state, precise);
  }
  const MetaTensor type = c.Meta(state);
  BlockBuilder& body =
      c.block().program().NewLoopBody(MetaTensor(DataType::kBool, {}), {type}, [&](BlockBuilder* block) {
        OnnxContext in = c.Inside(block);
        const std::vector<std::string> leading = block->inputs();
        Step step(&c, &in, leading[0]);
        std::string before = leading[2];
        block->SetRank(before, 4);
        if (gated) before = in.Binary("multiply", before, in.Unsqueezed(step.At(decay), {3}));
        const std::string key = step.At(keys);
        std::string added = in.Unsqueezed(step.At(values), {2});
        if (delta) {
          const std::string there = in.Binary("matmul", in.Unsqueezed(key, {2}), before);
          added = in.Binary("multiply", in.Binary("subtract", added, there), in.Unsqueezed(step.At(beta), {3}));
        }
        const std::string after = in.Binary("add", before, in.Binary("multiply", in.Unsqueezed(key, {3}), added));
        const std::string grouped = in.Reshaped(step.At(query), {0, key_heads, heads / key_heads, -1});
        const std::string y = in.Emit("flatten", {{"x", {in.Scaled(in.Binary("matmul", grouped, after), scale)}}},
                                      {{"start_axis", int64_t{1}}, {"stop_axis", int64_t{3}}});
        block->SetOutputs({in.Constant(FilledTensor(Shape(), Scalar(true), DataType::kBool)), after, y});
        return true;
      });
  const std::vector<std::string> results =
      c.block().AddLoop(c.Dimension(query, 1), "", {state}, &body, {c.Stem() + ".state", c.Stem()}, c.op().label);
  c.block().SetRank(results[1], 3);
  const std::string rows = c.Emit("transpose", {{"x", {results[1]}}}, {{"perm", std::vector<int64_t>{1, 0, 2}}});
  c.Bind(0, c.Cast(rows, dtype));
  c.Bind(1, c.Cast(results[0], state_type));
}

// A depthwise convolution along time, behind the elements that came before.
void CausalConvWithState(OnnxContext& c) {
  const std::string x = c.Input(0);
  const std::string filter = c.Input(1);
  for (const std::string& value : {x, filter}) {
    if (c.Rank(value) != 3) c.Corrupt("an input has ", c.Rank(value), " dimensions, expected 3");
  }
  const Dim channels = c.Meta(filter).dims[0];
  const Dim taps = c.Meta(filter).dims[2];
  if (!channels.known() || !taps.known()) c.Unsupported("the filter's shape is not known");
  if (taps.value() < 1) c.Corrupt("the filter has ", taps.value(), " taps");
  const int64_t before = taps.value() - 1;
  std::string all = x;
  if (c.HasInput(3)) {
    all = c.Emit("concat", {{"x", {c.Input(3), x}}}, {{"axis", int64_t{2}}});
  } else if (before > 0) {
    all = c.Emit("pad", {{"x", {x}}}, {{"paddings", IntArray({0, 0, before, 0, 0, 0})}, {"value", Scalar(0.0)}});
  }
  const DataType dtype = c.TypeOf(x);
  const DataType precise = dtype == DataType::kFP64 ? dtype : DataType::kFloat;
  // As an image of height 1. Below f32, sums are made in f32.
  std::string y = c.Emit(
      "conv2d",
      {{"x", {c.Unsqueezed(c.Cast(all, precise), {2})}}, {"filter", {c.Unsqueezed(c.Cast(filter, precise), {2})}}},
      {{"strides", std::vector<int64_t>{1, 1}},
       {"paddings", std::vector<int64_t>{0, 0, 0, 0}},
       {"dilations", std::vector<int64_t>{1, 1}},
       {"groups", channels.value()}});
  y = c.Squeezed(y, {2});
  if (c.HasInput(2)) y = c.Binary("add", y, c.Unsqueezed(c.Cast(c.Input(2), precise), {1}));
  const auto activation = c.Attr<std::string>("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = c.Binary("multiply", y, c.Unary("sigmoid", y));
  } else if (activation != "none") {
    c.Corrupt("attribute activation is ", Quote(activation));
  }
  c.Bind(0, c.Cast(y, dtype));
  c.Bind(1, c.Emit("slice", {{"x", {all}}},
                   {{"axes", std::vector<int64_t>{2}},
                    {"starts", IntArray({before == 0 ? 0 : -before})},
                    {"ends", IntArray({before == 0 ? 0 : std::numeric_limits<int64_t>::max()})}}));
}

}  // namespace

REGISTER_CONVERTER(onnx, LinearAttention, &Convert<LinearAttention>);
REGISTER_CONVERTER(onnx, CausalConvWithState, &Convert<CausalConvWithState>);

}  // namespace wherry::onnx
