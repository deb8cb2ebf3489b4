// Attention: softmax(Q K' * scale + mask) V with heads, cached keys and values, and masks of several kinds.
#include "importers/onnx/convert_attention.h"

#include <cmath>
#include <limits>

#include "base/strings.h"

namespace wherry::onnx {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// [batch, heads, sequence, size]
std::string Heads(OnnxContext& c, const std::string& x, const char* heads) {
  const int rank = c.Rank(x);
  if (rank == 4) return x;
  if (rank != 3) c.Corrupt("an input has ", rank, " dimensions, expected 3 or 4");
  const auto count = c.Attr<int64_t>(heads, 0);
  if (count < 1) c.Corrupt("attribute ", heads, " is ", count);
  return c.Emit("transpose", {{"x", {c.Reshaped(x, {0, 0, count, -1})}}}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
}

int64_t Known(OnnxContext& c, const std::string& x, size_t axis, const char* what) {
  if (static_cast<size_t>(c.Rank(x)) <= axis) c.Corrupt(what, " is not there in ", c.Meta(x).DebugString());
  const Dim dim = c.Meta(x).dims[axis];
  if (!dim.known()) c.Unsupported(what, " is not known");
  return dim.value();
}

// The mask as what is added to scores of the type of `like`, as long as there are keys.
std::string Additive(OnnxContext& c, const std::string& mask, const std::string& keys, const std::string& like) {
  const auto minus_infinity = [&] { return c.Like(like, -kInfinity); };
  std::string added = mask;
  if (c.TypeOf(mask) == DataType::kBool) {
    added = c.Emit("where", {{"condition", {mask}}, {"x", {c.Like(like, 0.0)}}, {"y", {minus_infinity()}}});
  }
  const int rank = c.Rank(added);
  if (rank == 0) return added;
  const Dim have = c.Meta(added).dims.back();
  const Dim want = c.Meta(keys).dims[2];
  if (!have.known() || !want.known() || have == want || have == Dim(1)) return added;
  if (have.value() > want.value()) c.Corrupt("the mask is for ", have.value(), " keys, there are ", want.value());
  std::vector<int64_t> paddings(2 * static_cast<size_t>(rank), 0);
  paddings.back() = want.value() - have.value();
  return c.Emit("pad", {{"x", {added}}}, {{"paddings", IntArray(std::move(paddings))}, {"value", Scalar(-kInfinity)}});
}

// What is_causal, the window and the lengths of the batch's sequences leave, as bool; empty: everything.
std::string Allowed(OnnxContext& c, const std::string& query, const std::string& keys, bool causal) {
  const std::string past = c.OptionalInput(4);
  const std::string lengths = c.HasInput(6) ? c.Unsqueezed(c.Cast(c.Input(6), DataType::kInt64), {1, 2, 3}) : "";
  const auto left = c.Attr<int64_t>("left_window_size", -1);
  const auto right = c.Attr<int64_t>("right_window_size", -1);
  if (!causal && left < 0 && right < 0 && lengths.empty()) return "";

  std::string allowed;
  const auto require = [&](const char* relation, const std::string& x, const std::string& y) {
    const std::string holds = c.Binary(relation, x, y);
    allowed = allowed.empty() ? holds : c.Binary("logical_and", allowed, holds);
  };
  const std::string key = c.PositionsAlong(keys, 2, 0);
  // Of the query among the keys: those that come before the first of its own are the past, or all but its own.
  std::string own = c.PositionsAlong(query, 2, 1);
  if (!past.empty()) {
    own = c.Binary("add", own, c.Dimension(past, 2));
  } else if (!lengths.empty()) {
    own = c.Binary("add", own, c.Binary("subtract", lengths, c.Dimension(query, 2)));
  }
  const auto constant = [&](int64_t value) { return c.ConvertContext::ConstantInts({value}); };
  if (causal) require("less_equal", key, own);
  if (left >= 0) require("greater_equal", key, c.Binary("subtract", own, constant(left)));
  if (right >= 0) require("less_equal", key, c.Binary("add", own, constant(right)));
  if (!lengths.empty()) require("less_than", key, lengths);
  return allowed;
}

// A row without any key gets no weight at all.
std::string Weights(OnnxContext& c, const std::string& scores, bool masked) {
  const std::string weights = c.Emit("softmax", {{"x", {scores}}}, {{"axis", int64_t{-1}}});
  if (!masked) return weights;
  const std::string largest = c.Emit("max", {{"x", {scores}}}, {{"axis", IntArray({-1})}, {"keepdim", true}});
  const std::string none = c.Binary("equal", largest, c.Like(scores, -kInfinity));
  return c.Emit("where", {{"condition", {none}}, {"x", {c.Like(scores, 0.0)}}, {"y", {weights}}});
}

// The operator attention, where that says it all: no cap, no scores among the results, and the softmax in the type of
// the operands or, for 16-bit floats, in f32 as all else, with one rounding in the end. `keys` and `values` are
// [batch, heads, sequence, size].
bool EmitOperator(OnnxContext& c, const std::string& query, const std::string& keys, const std::string& values,
                  int64_t heads, int64_t key_heads, double scale) {
  const DataType dtype = c.TypeOf(query);
  const bool is_short = dtype == DataType::kFP16 || dtype == DataType::kBF16;
  const DataType precise = is_short ? DataType::kFloat : dtype;
  if (precise != DataType::kFloat && precise != DataType::kFP64) return false;
  if (c.Attr<double>("softcap", 0.0) != 0.0 || c.HasOutput(3)) return false;
  if (const auto precision = c.Attr<int64_t>("softmax_precision", 0);
      precision != 0 && DataTypeOf(precision) != dtype && DataTypeOf(precision) != precise) {
    return false;
  }
  const bool causal = c.Attr<bool>("is_causal", false);
  // The operator's last query sees all keys, which is so when those of the past come before as many as there are
  // queries.
  const Dim own = c.Rank(c.Input(1)) == 4 ? c.Meta(c.Input(1)).dims[2] : c.Meta(c.Input(1)).dims[1];
  const bool sees_all = own == c.Meta(query).dims[2] && !c.HasInput(6);
  const std::string allowed = Allowed(c, query, keys, causal && !sees_all);
  std::string mask;
  if (c.HasInput(3)) {
    const Dim& have = c.Rank(c.Input(3)) == 0 ? Dim(1) : c.Meta(c.Input(3)).dims.back();
    const bool whole = have == Dim(1) || have == c.Meta(keys).dims[2];
    const bool as_is = c.TypeOf(c.Input(3)) == DataType::kBool && whole && allowed.empty();
    mask = as_is ? c.Input(3) : c.Cast(Additive(c, c.Input(3), keys, query), precise);
    if (!allowed.empty()) {
      mask = c.Emit("where", {{"condition", {allowed}}, {"x", {mask}}, {"y", {c.Like(mask, -kInfinity)}}});
    }
  } else {
    mask = allowed;
  }
  // Heads that lie side by side are read as they lie, unless the past is in front of them.
  const bool packed = c.Rank(c.Input(0)) == 3;
  const auto place = [&](size_t input, size_t past, const std::string& apart) {
    return c.Rank(c.Input(input)) == 3 && c.OptionalInput(past).empty() ? c.Input(input) : apart;
  };
  const std::string y = c.Emit("attention",
                               {{"query", {c.Cast(packed ? c.Input(0) : query, precise)}},
                                {"key", {c.Cast(place(1, 4, keys), precise)}},
                                {"value", {c.Cast(place(2, 5, values), precise)}},
                                {"mask", {mask}}},
                               {{"heads", heads},
                                {"key_heads", key_heads},
                                {"scale", scale},
                                {"causal", causal && sees_all},
                                {"zero_masked_rows", !mask.empty()},
                                {"merged", packed}});
  c.Bind(0, c.Cast(y, dtype));
  return true;
}

void Attention(OnnxContext& c) {
  const std::string query = Heads(c, c.Input(0), "q_num_heads");
  std::string keys = Heads(c, c.Input(1), "kv_num_heads");
  std::string values = Heads(c, c.Input(2), "kv_num_heads");
  const auto behind = [&](const std::string& past, const std::string& now) {
    return past.empty() ? now : c.Emit("concat", {{"x", {past, now}}}, {{"axis", int64_t{2}}});
  };
  keys = behind(c.OptionalInput(4), keys);
  values = behind(c.OptionalInput(5), values);
  c.Bind(1, keys);
  c.Bind(2, values);

  const int64_t heads = Known(c, query, 1, "the number of heads");
  const int64_t key_heads = Known(c, keys, 1, "the number of heads of the keys");
  if (key_heads < 1 || heads % key_heads != 0) c.Corrupt(heads, " heads share ", key_heads, " of the keys");
  double scale = c.Attr<double>("scale", 0.0);
  if (!c.HasAttr("scale")) scale = 1.0 / std::sqrt(static_cast<double>(Known(c, query, 3, "the size of a head")));
  if (scale < 0.0) c.Unsupported("attribute scale is ", scale);
  if (EmitOperator(c, query, keys, values, heads, key_heads, scale)) return;
  // The root on each side keeps 16-bit products in range.
  std::string scores = c.Emit("matmul",
                              {{"x", {c.Scaled(query, std::sqrt(scale))}},
                               {"y", {c.Scaled(Repeated(c, keys, heads / key_heads), std::sqrt(scale))}}},
                              {{"transpose_y", true}});
  std::vector<std::string> stages = {scores};
  if (const auto cap = c.Attr<double>("softcap", 0.0); cap != 0.0) {
    scores = c.Scaled(c.Unary("tanh", c.Scaled(scores, 1.0 / cap)), cap);
  }
  stages.push_back(scores);
  bool masked = false;
  if (c.HasInput(3)) {
    scores = c.Binary("add", scores, Additive(c, c.Input(3), keys, scores));
    masked = true;
  }
  if (const std::string allowed = Allowed(c, query, keys, c.Attr<bool>("is_causal", false)); !allowed.empty()) {
    scores = c.Emit("where", {{"condition", {allowed}}, {"x", {scores}}, {"y", {c.Like(scores, -kInfinity)}}});
    masked = true;
  }
  stages.push_back(scores);
  const DataType dtype = c.TypeOf(query);
  const auto precision = c.Attr<int64_t>("softmax_precision", 0);
  const std::string precise = precision == 0 ? scores : c.Cast(scores, DataTypeOf(precision));
  const std::string weights = c.Cast(Weights(c, precise, masked), dtype);
  stages.push_back(weights);

  const auto stage = c.Attr<int64_t>("qk_matmul_output_mode", 0);
  if (stage < 0 || stage > 3) c.Corrupt("attribute qk_matmul_output_mode is ", stage);
  c.Bind(3, stages[static_cast<size_t>(stage)]);
  const std::string y = c.Binary("matmul", weights, Repeated(c, values, heads / key_heads));
  if (c.Rank(c.Input(0)) == 4) return c.Bind(0, y);
  const std::string rows = c.Emit("transpose", {{"x", {y}}}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  c.EmitResult("flatten", {{"x", {rows}}}, {{"start_axis", int64_t{2}}, {"stop_axis", int64_t{3}}});
}

}  // namespace

std::string Repeated(OnnxContext& c, const std::string& x, int64_t times) {
  if (times == 1) return x;
  const std::string wide =
      c.Emit("expand", {{"x", {c.Unsqueezed(x, {2})}}}, {{"shape", IntArray({-1, -1, times, -1, -1})}});
  return c.Emit("flatten", {{"x", {wide}}}, {{"start_axis", int64_t{1}}, {"stop_axis", int64_t{2}}});
}

REGISTER_CONVERTER(onnx, Attention, &Convert<Attention>);

}  // namespace wherry::onnx
