// Attention and MultiHeadAttention of com.microsoft (ContribOperators.md).
#include <cmath>

#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

int64_t KnownDim(OnnxContext& c, const std::string& x, size_t axis, const char* what) {
  const MetaTensor& meta = c.Meta(x);
  if (!meta.rank_known || axis >= meta.dims.size() || !meta.dims[axis].known()) c.Unsupported(what, " is not known");
  return meta.dims[axis].value();
}

std::string Columns(OnnxContext& c, const std::string& x, int64_t begin, int64_t end) {
  return c.Emit("slice", {{"x", {x}}},
                {{"axes", std::vector<int64_t>{-1}}, {"starts", IntArray({begin})}, {"ends", IntArray({end})}});
}

// Integers that are 1 where a key may be seen, [batch, keys] or [batch, queries, keys], as what is added to the scores;
// [batch] is how many keys there are of each.
std::string MaskOf(OnnxContext& c, const std::string& mask, const std::string& keys, int64_t key_axis, DataType dtype) {
  const int rank = c.Rank(mask);
  std::string seen;
  if (rank == 1) {
    const Dim batch = c.Meta(keys).dims[0];
    if (!(c.Meta(mask).dims[0] == batch)) c.Unsupported("a mask of other than one length for each of the batch");
    seen =
        c.Binary("less_than", c.PositionsAlong(keys, key_axis, 0), c.Unsqueezed(c.Cast(mask, DataType::kInt64), {1}));
  } else {
    seen = c.Cast(mask, DataType::kBool);
  }
  if (rank > 3) c.Unsupported("a mask of ", rank, " dimensions");
  seen = rank == 3 ? c.Unsqueezed(seen, {1}) : c.Unsqueezed(seen, {1, 2});
  const auto number = [&](double value) { return c.ConstantScalar(Scalar(value), dtype); };
  return c.Emit(
      "where",
      {{"condition", {seen}}, {"x", {number(0.0)}}, {"y", {number(c.Attr<double>("mask_filter_value", -10000.0))}}});
}

std::string Sum(OnnxContext& c, const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  return c.Binary("add", a, b);
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

// softmax(Q K' * scale + mask) V of the columns of one product, input * weights + bias.
void Attention(OnnxContext& c) {
  for (const size_t past : {4, 6}) {
    if (c.HasInput(past)) c.Unsupported("input ", past, ", the past");
  }
  if (c.HasOutput(1)) c.Unsupported("the present is a result");
  if (c.Attr<bool>("do_rotary", false)) c.Unsupported("attribute do_rotary is 1");
  const std::string x = c.Input(0);
  const std::string weights = c.Input(1);
  if (c.Rank(x) != 3) c.Corrupt("the input has ", c.Rank(x), " dimensions, expected 3");
  const int64_t columns = KnownDim(c, weights, 1, "the number of the weights' columns");
  const auto sizes = c.Attr<std::vector<int64_t>>("qkv_hidden_sizes", {columns / 3, columns / 3, columns / 3});
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] + sizes[1] + sizes[2] != columns || sizes[2] < 1) {
    c.Corrupt("qkv_hidden_sizes are [", Join(sizes, ","), "] of ", columns, " columns");
  }
  const int64_t heads = HeadsOf(c, sizes[0]);
  if (sizes[2] % heads != 0) c.Corrupt(sizes[2], " columns do not make ", heads, " heads");
  const std::string product = Sum(c, c.Binary("matmul", x, weights), c.OptionalInput(2));
  const std::string mask = Sum(c, c.HasInput(3) ? MaskOf(c, c.Input(3), x, 1, c.TypeOf(x)) : "", c.OptionalInput(5));
  c.EmitResult(
      "attention",
      {{"query", {Columns(c, product, 0, sizes[0])}},
       {"key", {Columns(c, product, sizes[0], 2 * sizes[0])}},
       {"value", {Columns(c, product, 2 * sizes[0], columns)}},
       {"mask", {mask}}},
      {{"heads", heads}, {"scale", ScaleOf(c, sizes[0] / heads)}, {"causal", c.Attr<bool>("unidirectional", false)}});
}

void MultiHeadAttention(OnnxContext& c) {
  if (!c.HasInput(1) || !c.HasInput(2)) c.Unsupported("keys and values packed with the queries");
  for (const size_t extra : {8, 9}) {
    if (c.HasInput(extra)) c.Unsupported("input ", extra, ", for a shared cache");
  }
  std::string query = c.Input(0);
  std::string keys = c.Input(1);
  std::string values = c.Input(2);
  if (c.Rank(query) != 3) c.Unsupported("a query of ", c.Rank(query), " dimensions");
  const int64_t columns = KnownDim(c, query, 2, "the number of the query's columns");
  const int64_t heads = HeadsOf(c, columns);
  const int rank = c.Rank(keys);
  if (rank != c.Rank(values) || (rank != 3 && rank != 4)) c.Unsupported("keys of ", rank, " dimensions");
  if (c.HasInput(3)) {
    const std::string bias = c.Input(3);
    query = c.Binary("add", query, Columns(c, bias, 0, columns));
    if (rank == 3) {
      keys = c.Binary("add", keys, Columns(c, bias, columns, 2 * columns));
      values = c.Binary("add", values, Columns(c, bias, 2 * columns, KnownDim(c, bias, 0, "the bias's size")));
    }
  }
  const bool keeps = c.HasInput(6) || c.HasOutput(1) || c.HasOutput(2);
  if (keeps) {
    // [batch, heads, sequence, size]
    const auto behind = [&](size_t past, std::string now) {
      if (rank == 3) {
        now = c.Emit("transpose", {{"x", {c.Reshaped(now, {0, 0, heads, -1})}}},
                     {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
      }
      if (!c.HasInput(past)) return now;
      return c.Emit("concat", {{"x", {c.Input(past), now}}}, {{"axis", int64_t{2}}});
    };
    keys = behind(6, keys);
    values = behind(7, values);
    c.Bind(1, keys);
    c.Bind(2, values);
  }
  const int64_t key_axis = keeps || rank == 4 ? 2 : 1;
  const std::string mask =
      Sum(c, c.HasInput(4) ? MaskOf(c, c.Input(4), keys, key_axis, c.TypeOf(query)) : "", c.OptionalInput(5));
  c.EmitResult(
      "attention", {{"query", {query}}, {"key", {keys}}, {"value", {values}}, {"mask", {mask}}},
      {{"heads", heads}, {"scale", ScaleOf(c, columns / heads)}, {"causal", c.Attr<bool>("unidirectional", false)}});
}

}  // namespace

REGISTER_CONVERTER(onnx, com_microsoft_Attention, &Convert<Attention>);
REGISTER_CONVERTER(onnx, com_microsoft_MultiHeadAttention, &Convert<MultiHeadAttention>);

}  // namespace wherry::onnx
