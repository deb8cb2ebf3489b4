// Attention, MultiHeadAttention and their kin of com.microsoft (ContribOperators.md).
#include "importers/onnx/convert_contrib_attention.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/strings.h"

namespace wherry::onnx {

namespace {

std::string Number(OnnxContext& c, double value, DataType dtype) { return c.ConstantScalar(Scalar(value), dtype); }

// x along an axis from `begin` up to but without `end`, i64[1] each; empty: from the start, to the end.
std::string Between(OnnxContext& c, const std::string& x, int64_t axis, const std::string& begin,
                    const std::string& end) {
  OpInputs inputs = {{"x", {x}}, {"starts", {begin}}, {"ends", {end}}};
  OpAttrs attrs = {{"axes", std::vector<int64_t>{axis}}};
  if (begin.empty()) attrs.emplace_back("starts", IntArray({0}));
  if (end.empty()) attrs.emplace_back("ends", IntArray({std::numeric_limits<int64_t>::max()}));
  return c.Emit("slice", inputs, attrs);
}

// The keys or values [batch, heads, sequence, size] that are seen, and what is kept for the next run.
struct Cache {
  std::string seen;
  std::string present;
};
// `past` may be empty. `length`, if not empty: the past is a buffer with room behind its first `length` places
// (i64[1]).
Cache Behind(OnnxContext& c, const std::string& past, const std::string& now, const std::string& length) {
  if (past.empty()) return {now, now};
  const auto concat = [&](const std::vector<std::string>& parts) {
    return c.Emit("concat", {{"x", parts}}, {{"axis", int64_t{2}}});
  };
  if (length.empty()) {
    const std::string all = concat({past, now});
    return {all, all};
  }
  const std::string seen = concat({Between(c, past, 2, "", length), now});
  return {seen, concat({seen, Between(c, past, 2, c.Dimension(seen, 2), "")})};
}

// A length that is an input, as i64[1].
std::string LengthAt(OnnxContext& c, size_t position) {
  return c.HasInput(position) ? c.Reshaped(c.Cast(c.Input(position), DataType::kInt64), {1}) : "";
}

// What says where keys may be seen, as what is added to the scores. It has integers that are 1 where they may,
// [batch, keys], [batch, queries, keys] or [batch, 1, most queries, most keys]; or for each of the batch how many keys
// there are (first in its list), perhaps followed by where they begin.
// `keys` has the batch first and the keys along `key_axis`; `query` the queries along `query_axis`.
std::string MaskOf(OnnxContext& c, const std::string& mask, const std::string& query, int64_t query_axis,
                   const std::string& keys, int64_t key_axis) {
  const DataType dtype = c.TypeOf(query);
  const int rank = c.Rank(mask);
  std::string seen;
  if (rank == 1) {
    if (c.Rank(keys) < 1) c.Corrupt("the keys are ", c.Meta(keys).DebugString());
    const Dim batch = c.Meta(keys).dims[0];
    const Dim have = c.Meta(mask).dims[0];
    const std::string position = c.PositionsAlong(keys, key_axis, 0);
    const std::string numbers = c.Cast(mask, DataType::kInt64);
    if (have == batch) {
      seen = c.Binary("less_than", position, c.Unsqueezed(numbers, {1}));
    } else if (have == batch * Dim(2)) {
      const std::string ends_and_begins = c.Unsqueezed(c.Reshaped(numbers, {2, -1}), {2});
      const auto row = [&](int64_t i) {
        return c.Emit("gather", {{"x", {ends_and_begins}}, {"index", {c.ConstantScalar(Scalar(i), DataType::kInt64)}}});
      };
      seen =
          c.Binary("logical_and", c.Binary("less_than", position, row(0)), c.Binary("greater_equal", position, row(1)));
    } else if (have == batch * Dim(3) + Dim(2)) {
      seen = c.Binary("less_than", position, c.Unsqueezed(Between(c, numbers, 0, "", c.Dimension(keys, 0)), {1}));
    } else {
      c.Unsupported("a mask of ", have.DebugString(), " numbers for a batch of ", batch.DebugString());
    }
  } else {
    seen = c.Cast(mask, DataType::kBool);
  }
  if (rank > 4) c.Unsupported("a mask of ", rank, " dimensions");
  if (rank < 3) seen = c.Unsqueezed(seen, {1, 2});
  if (rank == 3) seen = c.Unsqueezed(seen, {1});
  if (rank == 4) {
    // The rows are those of the past and then the queries.
    const std::string count = c.Dimension(keys, key_axis);
    const std::string past = c.Binary("subtract", count, c.Dimension(query, query_axis));
    seen = Between(c, Between(c, seen, 3, "", count), 2, past, count);
  }
  return c.Emit("where", {{"condition", {seen}},
                          {"x", {Number(c, 0.0, dtype)}},
                          {"y", {Number(c, c.Attr<double>("mask_filter_value", -10000.0), dtype)}}});
}

// softmax(Q K' * scale + mask) V of the columns of one product, input * weights + bias.
void Attention(OnnxContext& c) {
  const std::string x = c.Input(0);
  if (c.Rank(x) != 3) c.Corrupt("the input has ", c.Rank(x), " dimensions, expected 3");
  AttendColumns(c, Sum(c, c.Binary("matmul", x, c.Input(1)), c.OptionalInput(2)),
                {.mask = 3, .past = 4, .added = 5, .past_length = 6});
}

// The inputs of MultiHeadAttention, or of an operator that has them in other places. Empty: absent.
struct Operands {
  std::string query, keys, values, bias, mask, added, past_keys, past_values, past_length;
};

// The three or two that lie side by side: [batch, sequence, heads, `count`, size].
std::vector<std::string> Packed(OnnxContext& c, const std::string& x, int64_t count) {
  const MetaTensor& meta = c.Meta(x);
  if (c.Rank(x) != 5 || !(meta.dims[3] == Dim(count))) c.Corrupt("packed operands are ", meta.DebugString());
  std::vector<std::string> parts;
  for (int64_t i = 0; i < count; ++i) {
    const std::string part = c.Emit("gather", {{"x", {x}}, {"index", {c.ConstantScalar(Scalar(i), DataType::kInt64)}}},
                                    {{"axis", int64_t{3}}});
    parts.push_back(c.Emit("flatten", {{"x", {part}}}, {{"start_axis", int64_t{2}}, {"stop_axis", int64_t{3}}}));
  }
  return parts;
}

void AttendHeads(OnnxContext& c, Operands in) {
  if (in.values.empty()) c.Corrupt("there are keys without values");
  if (c.Rank(in.query) != 3) c.Unsupported("a query of ", c.Rank(in.query), " dimensions");
  const int64_t columns = KnownDim(c, in.query, 2, "the number of the query's columns");
  const int64_t heads = HeadsOf(c, columns);
  const int rank = c.Rank(in.keys);
  if (rank != c.Rank(in.values) || (rank != 3 && rank != 4)) c.Unsupported("keys of ", rank, " dimensions");
  if (!in.bias.empty()) {
    in.query = c.Binary("add", in.query, Columns(c, in.bias, 0, columns));
    if (rank == 3) {
      const int64_t all = KnownDim(c, in.bias, 0, "the bias's size");
      in.keys = c.Binary("add", in.keys, Columns(c, in.bias, columns, 2 * columns));
      in.values = c.Binary("add", in.values, Columns(c, in.bias, 2 * columns, all));
    }
  }
  const bool keeps = !in.past_keys.empty() || c.HasOutput(1) || c.HasOutput(2);
  if (keeps) {
    const auto with_past = [&](const std::string& past, const std::string& now, size_t result) {
      const Cache cache = Behind(c, past, rank == 3 ? HeadsApart(c, now, heads) : now, in.past_length);
      c.Bind(result, cache.present);
      return cache.seen;
    };
    in.keys = with_past(in.past_keys, in.keys, 1);
    in.values = with_past(in.past_values, in.values, 2);
  }
  const int64_t key_axis = keeps || rank == 4 ? 2 : 1;
  const double scale = ScaleOf(c, columns / heads);
  if (c.HasOutput(3)) {
    const std::string keys = key_axis == 2 ? in.keys : HeadsApart(c, in.keys, heads);
    const std::string scores =
        c.Emit("matmul", {{"x", {HeadsApart(c, in.query, heads)}}, {"y", {keys}}}, {{"transpose_y", true}});
    c.Bind(3, c.Scaled(scores, scale));
  }
  const std::string mask = Sum(c, in.mask.empty() ? "" : MaskOf(c, in.mask, in.query, 1, in.keys, key_axis), in.added);
  c.EmitResult("attention", {{"query", {in.query}}, {"key", {in.keys}}, {"value", {in.values}}, {"mask", {mask}}},
               {{"heads", heads}, {"scale", scale}, {"causal", c.Attr<bool>("unidirectional", false)}});
}

void MultiHeadAttention(OnnxContext& c) {
  if (c.HasInput(9)) c.Unsupported("input 9, the beams of a search");
  Operands in = {c.Input(0),         c.OptionalInput(1), c.OptionalInput(2), c.OptionalInput(3), c.OptionalInput(4),
                 c.OptionalInput(5), c.OptionalInput(6), c.OptionalInput(7), LengthAt(c, 8)};
  if (in.keys.empty()) {
    const std::vector<std::string> parts = Packed(c, in.query, 3);
    in.query = parts[0];
    in.keys = parts[1];
    in.values = parts[2];
  } else if (in.values.empty()) {
    const std::vector<std::string> parts = Packed(c, in.keys, 2);
    in.keys = parts[0];
    in.values = parts[1];
  }
  AttendHeads(c, std::move(in));
}

// Of one query.
void DecoderMaskedMultiHeadAttention(OnnxContext& c) {
  if (c.HasInput(9)) c.Unsupported("input 9, the beams of a search");
  Operands in = {c.Input(0),         c.OptionalInput(1), c.OptionalInput(2), c.OptionalInput(10), c.OptionalInput(3),
                 c.OptionalInput(4), c.OptionalInput(5), c.OptionalInput(6), LengthAt(c, 7)};
  if (in.keys.empty()) {
    const std::string all = in.query;
    const int64_t columns = KnownDim(c, all, 2, "the number of columns");
    if (columns % 3 != 0) c.Unsupported("values of another size than keys in ", columns, " columns");
    in.query = Columns(c, all, 0, columns / 3);
    in.keys = Columns(c, all, columns / 3, columns / 3 * 2);
    in.values = Columns(c, all, columns / 3 * 2, columns);
  }
  AttendHeads(c, std::move(in));
}

}  // namespace

int64_t KnownDim(OnnxContext& c, const std::string& x, size_t axis, const char* what) {
  const MetaTensor& meta = c.Meta(x);
  if (!meta.rank_known || axis >= meta.dims.size() || !meta.dims[axis].known()) c.Unsupported(what, " is not known");
  return meta.dims[axis].value();
}

std::string Columns(OnnxContext& c, const std::string& x, int64_t begin, int64_t end) {
  return c.Emit("slice", {{"x", {x}}},
                {{"axes", std::vector<int64_t>{-1}}, {"starts", IntArray({begin})}, {"ends", IntArray({end})}});
}

std::string Sum(OnnxContext& c, const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  return c.Binary("add", a, b);
}

std::string HeadsApart(OnnxContext& c, const std::string& x, int64_t heads) {
  return c.Emit("transpose", {{"x", {c.Reshaped(x, {0, 0, heads, -1})}}}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
}

double ScaleOf(OnnxContext& c, int64_t head_size) {
  const auto scale = c.Attr<double>("scale", 0.0);
  return scale != 0.0 ? scale : 1.0 / std::sqrt(static_cast<double>(head_size));
}

int64_t HeadsOf(OnnxContext& c, int64_t columns) {
  const auto heads = c.Attr<int64_t>("num_heads");
  if (heads < 1 || columns < 1 || columns % heads != 0) c.Corrupt(columns, " columns do not make ", heads, " heads");
  return heads;
}

void AttendColumns(OnnxContext& c, const std::string& product, const AttentionInputs& inputs) {
  if (c.Attr<bool>("do_rotary", false)) c.Unsupported("attribute do_rotary is 1");
  const int64_t columns = KnownDim(c, product, 2, "the number of the weights' columns");
  const auto sizes = c.Attr<std::vector<int64_t>>("qkv_hidden_sizes", {columns / 3, columns / 3, columns / 3});
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] + sizes[1] + sizes[2] != columns || sizes[2] < 1) {
    c.Corrupt("qkv_hidden_sizes are [", Join(sizes, ","), "] of ", columns, " columns");
  }
  const int64_t heads = HeadsOf(c, sizes[0]);
  if (sizes[2] % heads != 0) c.Corrupt(sizes[2], " columns do not make ", heads, " heads");
  const std::string query = Columns(c, product, 0, sizes[0]);
  std::string keys = Columns(c, product, sizes[0], 2 * sizes[0]);
  std::string values = Columns(c, product, 2 * sizes[0], columns);
  const bool keeps = c.HasInput(inputs.past) || c.HasOutput(1);
  if (keeps) {
    const std::string length = LengthAt(c, inputs.past_length);
    const auto cache = [&](int64_t which, const std::string& now) {
      const std::string past = c.OptionalInput(inputs.past);
      const std::string index = c.ConstantScalar(Scalar(which), DataType::kInt64);
      return Behind(c, past.empty() ? past : c.Emit("gather", {{"x", {past}}, {"index", {index}}}),
                    HeadsApart(c, now, heads), length);
    };
    const Cache key_cache = cache(0, keys);
    const Cache value_cache = cache(1, values);
    keys = key_cache.seen;
    values = value_cache.seen;
    if (c.HasOutput(1))
      c.Bind(1, c.Emit("stack", {{"x", {key_cache.present, value_cache.present}}}, {{"axis", int64_t{0}}}));
  }
  const std::string mask =
      Sum(c, c.HasInput(inputs.mask) ? MaskOf(c, c.Input(inputs.mask), query, 1, keys, keeps ? 2 : 1) : "",
          c.OptionalInput(inputs.added));
  c.EmitResult(
      "attention", {{"query", {query}}, {"key", {keys}}, {"value", {values}}, {"mask", {mask}}},
      {{"heads", heads}, {"scale", ScaleOf(c, sizes[0] / heads)}, {"causal", c.Attr<bool>("unidirectional", false)}});
}

REGISTER_CONVERTER(onnx, com_microsoft_Attention, &Convert<Attention>);
REGISTER_CONVERTER(onnx, com_microsoft_MultiHeadAttention, &Convert<MultiHeadAttention>);
REGISTER_CONVERTER(onnx, com_microsoft_DecoderMaskedMultiHeadAttention, &Convert<DecoderMaskedMultiHeadAttention>);

}  // namespace wherry::onnx
