// GroupQueryAttention of com.microsoft: heads of queries that share keys and values, a cache of these with a length of
// its own for each of the batch, and rotary embeddings.
#include <cmath>
#include <limits>

#include "base/strings.h"
#include "importers/onnx/convert_attention.h"
#include "importers/onnx/convert_contrib_attention.h"
#include "importers/onnx/convert_rotary.h"

namespace wherry::onnx {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kPastKeys = 3;
constexpr size_t kPastValues = 4;
constexpr size_t kLastPlaces = 5;
constexpr size_t kLongest = 6;
constexpr size_t kCos = 7;
constexpr size_t kSin = 8;
constexpr size_t kPositions = 9;
constexpr size_t kAdded = 10;
constexpr size_t kSinks = 11;
constexpr size_t kKeyScale = 12;
constexpr size_t kValueScale = 13;
constexpr size_t kQueryNorm = 14;
constexpr size_t kKeyNorm = 15;
constexpr size_t kQueryCounts = 16;

std::string AsInt64(OnnxContext& c, const std::string& x, std::vector<int64_t> shape) {
  return c.Reshaped(c.Cast(x, DataType::kInt64), std::move(shape));
}

std::string Infinite(OnnxContext& c, const std::string& condition, const std::string& x, const std::string& like) {
  return c.Emit("where", {{"condition", {condition}}, {"x", {x}}, {"y", {c.Like(like, -kInfinity)}}});
}

void CheckIsKnown(OnnxContext& c) {
  if (c.Attr<bool>("sliding_window_cache", false)) c.Unsupported("attribute sliding_window_cache is 1");
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    if (const auto kind = c.Attr<std::string>(name, "NONE"); kind != "NONE")
      c.Unsupported("attribute ", name, " is ", Quote(kind));
  }
  for (const size_t scale : {kKeyScale, kValueScale}) {
    if (c.HasInput(scale)) c.Unsupported("input ", scale, ", the scale of a cache in integers");
  }
}

// x, of four dimensions, with zeros at the end of an axis: `more` (i64[1], at least 0) places. Its other dimensions are
// those of `like`, which has at least one place there.
std::string Longer(OnnxContext& c, const std::string& x, const std::string& like, int64_t axis,
                   const std::string& more) {
  std::string places = c.Cast(c.Emit("arange", {{"end", {more}}}, {{"start", Scalar(int64_t{0})}}), c.TypeOf(x));
  if (axis == 2) places = c.Unsqueezed(places, {1});
  const std::string one =
      c.Emit("slice", {{"x", {like}}},
             {{"axes", std::vector<int64_t>{axis}}, {"starts", IntArray({0})}, {"ends", IntArray({1})}});
  const std::string zeros = c.Emit("full_like", {{"x", {c.Binary("add", one, places)}}}, {{"value", Scalar(0.0)}});
  return c.Emit("concat", {{"x", {x, zeros}}}, {{"axis", axis}});
}

// What is missing of the longest sequence's length at an axis of x, i64[1].
std::string Missing(OnnxContext& c, const std::string& x, int64_t axis) {
  const std::string missing = c.Binary("subtract", AsInt64(c, c.Input(kLongest), {1}), c.Dimension(x, axis));
  return c.Binary("maximum", missing, c.ConvertContext::ConstantInts({0}));
}

// The keys or values of the past with those of now at place first[b] and behind, for each of the batch.
std::string Cached(OnnxContext& c, size_t past, const std::string& now, const std::string& first) {
  if (!c.HasInput(past)) return now;
  const std::string cache = Longer(c, c.Input(past), now, 2, Missing(c, c.Input(past), 2));
  const std::string places = c.Binary("add", c.Unsqueezed(first, {1, 2, 3}), c.PositionsAlong(now, 2, 1));
  const std::string index = c.Emit("expand", {{"x", {places}}, {"shape", {c.Unary("shape", now)}}});
  return c.Emit("put_along_axis", {{"x", {cache}}, {"index", {index}}, {"value", {now}}},
                {{"axis", int64_t{2}}, {"reduce", std::string("assign")}});
}

// Which keys a query may see, as bool; empty: those up to its own place, or without `causal` all.
std::string Allowed(OnnxContext& c, const std::string& query, const std::string& keys, const std::string& first,
                    const std::string& lengths, bool causal) {
  const auto window = c.Attr<int64_t>("local_window_size", -1);
  if (!causal && window >= 0) c.Corrupt("attribute local_window_size is ", window, " without causal");
  const std::string key = c.PositionsAlong(keys, 2, 0);
  if (!causal) return c.Binary("less_than", key, c.Unsqueezed(lengths, {1, 2, 3}));
  if (!c.HasInput(kPastKeys) && window < 0) return "";
  const std::string own = c.Binary("add", c.Unsqueezed(first, {1, 2, 3}), c.PositionsAlong(query, 2, 1));
  std::string allowed = c.Binary("less_equal", key, own);
  if (window >= 0) {
    const std::string oldest = c.Binary("subtract", own, c.ConvertContext::ConstantInts({window}));
    allowed = c.Binary("logical_and", allowed, c.Binary("greater_than", key, oldest));
  }
  return allowed;
}

// Attention whose scores are capped, are a result, or share the softmax with a sink for each head.
std::string Composed(OnnxContext& c, const std::string& query, const std::string& keys, const std::string& values,
                     const std::string& allowed, const std::string& added, double scale, int64_t sharing) {
  std::string scores =
      c.Scaled(c.Emit("matmul", {{"x", {query}}, {"y", {Repeated(c, keys, sharing)}}}, {{"transpose_y", true}}), scale);
  if (const auto cap = c.Attr<double>("softcap", 0.0); cap != 0.0)
    scores = c.Scaled(c.Unary("tanh", c.Scaled(scores, 1.0 / cap)), cap);
  if (!added.empty()) scores = c.Binary("add", scores, added);
  // As a result, scores that are hidden are 0.
  std::string shown = scores;
  if (!allowed.empty()) {
    shown = c.Emit("where", {{"condition", {allowed}}, {"x", {scores}}, {"y", {c.Like(scores, 0.0)}}});
    scores = Infinite(c, allowed, scores, scores);
  }
  const bool smooth = c.Attr<int64_t>("smooth_softmax", -1) == 1;
  std::string logits = scores;
  if (smooth || c.HasInput(kSinks)) {
    std::string sink = c.Emit("full_like", {{"x", {Columns(c, scores, 0, 1)}}}, {{"value", Scalar(0.0)}});
    if (c.HasInput(kSinks)) sink = c.Binary("add", sink, c.Unsqueezed(c.Input(kSinks), {1, 2}));
    logits = c.Emit("concat", {{"x", {scores, sink}}}, {{"axis", int64_t{3}}});
  }
  std::string weights = c.Emit("softmax", {{"x", {logits}}}, {{"axis", int64_t{-1}}});
  if (logits != scores) weights = Columns(c, weights, 0, -1);
  if (const auto stage = c.Attr<int64_t>("qk_output", 0); stage != 0) c.Bind(3, stage == 1 ? shown : weights);
  const std::string y = c.Binary("matmul", weights, Repeated(c, values, sharing));
  const std::string rows = c.Emit("transpose", {{"x", {y}}}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return c.Emit("flatten", {{"x", {rows}}}, {{"start_axis", int64_t{2}}, {"stop_axis", int64_t{3}}});
}

// Elements of a head: from the columns of the query (`parts` heads) or, where those are not known, from another input.
int64_t SizeOfHead(OnnxContext& c, int64_t parts, int64_t key_heads) {
  struct Source {
    size_t input;
    int axis;
    int64_t heads;
  };
  for (const auto& [input, axis, heads] : {Source{0, 2, parts}, Source{1, 2, key_heads}, Source{kPastKeys, 3, 1},
                                           Source{kQueryNorm, 0, 1}, Source{kKeyNorm, 0, 1}}) {
    if (!c.HasInput(input)) continue;
    const MetaTensor& meta = c.Meta(c.Input(input));
    if (!meta.rank_known || meta.rank() != axis + 1 || !meta.dims.back().known()) continue;
    const int64_t columns = meta.dims.back().value();
    if (columns < 1 || columns % heads != 0)
      c.Corrupt(columns, " columns of input ", input, " do not make ", heads, " heads");
    return columns / heads;
  }
  c.Unsupported("the number of the query's columns is not known, nor another input's that tells it");
}

void GroupQueryAttention(OnnxContext& c) {
  CheckIsKnown(c);
  if (c.Rank(c.Input(0)) != 3) c.Corrupt("the query has ", c.Rank(c.Input(0)), " dimensions, expected 3");
  const auto heads = c.Attr<int64_t>("num_heads");
  const auto key_heads = c.Attr<int64_t>("kv_num_heads");
  if (heads < 1 || key_heads < 1 || heads % key_heads != 0)
    c.Corrupt(heads, " heads share ", key_heads, " of the keys");
  const bool packed = !c.HasInput(1);
  const int64_t parts = packed ? heads + 2 * key_heads : heads;
  const int64_t size = SizeOfHead(c, parts, key_heads);
  const std::string x = c.Reshaped(c.Input(0), {0, 0, parts * size});
  std::string query = x;
  std::string keys;
  std::string values;
  if (!packed) {
    keys = c.Input(1);
    values = c.Input(2);
  } else {
    const int64_t begin = heads * size;
    const int64_t middle = begin + key_heads * size;
    query = Columns(c, x, 0, begin);
    keys = Columns(c, x, begin, middle);
    values = Columns(c, x, middle, parts * size);
  }
  query = HeadsApart(c, query, heads);
  keys = HeadsApart(c, keys, key_heads);
  values = HeadsApart(c, values, key_heads);
  const auto normalised = [&](const std::string& heads_apart, size_t weight, const char* epsilon) {
    if (!c.HasInput(weight)) return heads_apart;
    return c.Emit("rms_norm", {{"x", {heads_apart}}, {"scale", {c.Input(weight)}}},
                  {{"epsilon", c.Attr<double>(epsilon, c.Attr<double>("qk_norm_epsilon", 1e-6))},
                   {"begin_norm_axis", int64_t{3}}});
  };
  query = normalised(query, kQueryNorm, "q_norm_epsilon");
  keys = normalised(keys, kKeyNorm, "k_norm_epsilon");

  // For each of the batch: how many keys there are then, and the place among them of the first query.
  const std::string lengths = c.Scaled(AsInt64(c, c.Input(kLastPlaces), {-1}), 1.0, 1.0);
  const std::string counts = c.HasInput(kQueryCounts) ? AsInt64(c, c.Input(kQueryCounts), {-1}) : c.Dimension(query, 2);
  const std::string first =
      c.Binary("maximum", c.Binary("subtract", lengths, counts), c.ConvertContext::ConstantInts({0}));
  if (c.Attr<bool>("do_rotary", false)) {
    const std::string positions = c.HasInput(kPositions)
                                      ? c.Input(kPositions)
                                      : c.Binary("add", c.Unsqueezed(first, {1}), c.PositionsAlong(query, 2, 0));
    const int64_t turned = 2 * KnownDim(c, c.Input(kCos), 1, "the size of the cosines");
    if (turned > size) c.Corrupt(turned, " of ", size, " elements turn");
    const std::string cos = AnglesAt(c, c.Input(kCos), positions, turned, 1);
    const std::string sin = AnglesAt(c, c.Input(kSin), positions, turned, 1);
    const bool interleaved = c.Attr<bool>("rotary_interleaved", false);
    query = Rotated(c, query, cos, sin, turned, interleaved);
    keys = Rotated(c, keys, cos, sin, turned, interleaved);
  }
  keys = Cached(c, kPastKeys, keys, first);
  values = Cached(c, kPastValues, values, first);
  c.Bind(1, keys);
  c.Bind(2, values);

  const bool causal = c.Attr<bool>("causal", true);
  const double scale = ScaleOf(c, size);
  const std::string added = c.HasInput(kAdded) && c.HasInput(kPastKeys)
                                ? Longer(c, c.Input(kAdded), c.Input(kAdded), 3,
                                         c.Binary("subtract", c.Dimension(keys, 2), c.Dimension(c.Input(kAdded), 3)))
                                : c.OptionalInput(kAdded);
  std::string allowed = Allowed(c, query, keys, first, lengths, causal);
  const bool composed = c.Attr<double>("softcap", 0.0) != 0.0 || c.Attr<int64_t>("smooth_softmax", -1) == 1 ||
                        c.HasInput(kSinks) || c.HasOutput(3);
  if (composed) {
    if (allowed.empty() && causal)
      allowed = c.Binary("less_equal", c.PositionsAlong(keys, 2, 0), c.PositionsAlong(query, 2, 1));
    return c.Bind(0, Composed(c, query, keys, values, allowed, added, scale, heads / key_heads));
  }
  std::string mask = allowed;
  if (!added.empty()) mask = allowed.empty() ? added : Infinite(c, allowed, added, query);
  c.EmitResult("attention", {{"query", {query}}, {"key", {keys}}, {"value", {values}}, {"mask", {mask}}},
               {{"heads", heads},
                {"key_heads", key_heads},
                {"scale", scale},
                {"causal", causal && allowed.empty()},
                {"zero_masked_rows", true}});
}

}  // namespace

REGISTER_CONVERTER(onnx, com_microsoft_GroupQueryAttention, &Convert<GroupQueryAttention>);

}  // namespace wherry::onnx
