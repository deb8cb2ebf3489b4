// Normalisations of com.microsoft with what is added before them (ContribOperators.md).
#include "base/strings.h"
#include "importers/onnx/convert_contrib_attention.h"
#include "importers/onnx/convert_conv.h"
#include "importers/onnx/convert_norm.h"

namespace wherry::onnx {

namespace {

// The sum of input, skip and the bias at `bias`, whose last axis is normalised. It is result 3.
std::string Skipped(OnnxContext& c, size_t bias) {
  const std::string sum = Sum(c, c.Binary("add", c.Input(0), c.Input(1)), c.OptionalInput(bias));
  if (c.Rank(sum) < 2) c.Corrupt("the input has ", c.Rank(sum), " dimensions");
  c.Bind(3, sum);
  return sum;
}

void SkipLayerNormalization(OnnxContext& c) {
  const std::string sum = Skipped(c, 4);
  const int64_t axis = c.Rank(sum) - 1;
  const auto epsilon = c.Attr<double>("epsilon", 1e-12);
  c.EmitResult("layer_norm", {{"x", {sum}}, {"scale", {c.Input(2)}}, {"bias", {c.OptionalInput(3)}}},
               {{"epsilon", epsilon}, {"begin_norm_axis", axis}});
  BindStatistics(c, sum, axis, epsilon);
}

// It subtracts no mean, but has one among its results.
void SkipSimplifiedLayerNormalization(OnnxContext& c) {
  const std::string sum = Skipped(c, 3);
  const int64_t axis = c.Rank(sum) - 1;
  const auto epsilon = c.Attr<double>("epsilon", 1e-12);
  c.EmitResult("rms_norm", {{"x", {sum}}, {"scale", {c.Input(2)}}}, {{"epsilon", epsilon}, {"begin_norm_axis", axis}});
  if (c.HasOutput(1)) c.Bind(1, MeanOverLast(c, sum, axis));
  if (c.HasOutput(2)) c.Bind(2, InverseRms(c, sum, axis, epsilon));
}

// Written without a domain.
void SimplifiedLayerNormalization(OnnxContext& c) {
  const std::string x = c.Input(0);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", -1), c.Rank(x));
  const auto epsilon = c.Attr<double>("epsilon", 1e-5);
  c.EmitResult("rms_norm", {{"x", {x}}, {"scale", {c.Input(1)}}}, {{"epsilon", epsilon}, {"begin_norm_axis", axis}});
  if (c.HasOutput(1)) c.Bind(1, InverseRms(c, x, axis, epsilon));
}

// Tables that rows are taken from, and the scale and bias of the normalisation.
struct Tables {
  std::string words, positions, segments, gamma, beta;
};

// The rows of words, positions and segments, added and normalised; result 1 counts the mask's ones by sequence.
void Embed(OnnxContext& c, const Tables& tables, size_t position_ids) {
  const auto rows = [&](const std::string& table, const std::string& index) {
    return c.Emit("gather", {{"x", {table}}, {"index", {index}}});
  };
  const std::string ids = c.Input(0);
  if (c.Rank(ids) != 2) c.Corrupt("the words have ", c.Rank(ids), " dimensions, expected 2");
  const std::string places = c.HasInput(position_ids) ? c.Input(position_ids) : c.PositionsAlong(ids, 1, 0);
  std::string sum = c.Binary("add", rows(tables.words, ids), rows(tables.positions, places));
  if (!tables.segments.empty() && c.HasInput(1)) sum = c.Binary("add", sum, rows(tables.segments, c.Input(1)));
  c.EmitResult("layer_norm", {{"x", {sum}}, {"scale", {tables.gamma}}, {"bias", {tables.beta}}},
               {{"epsilon", c.Attr<double>("epsilon", 1e-12)}, {"begin_norm_axis", int64_t{2}}});
  c.Bind(2, sum);
  if (!c.HasOutput(1)) return;
  const std::string counted =
      c.HasInput(7) ? c.Input(7) : c.Emit("full_like", {{"x", {ids}}}, {{"value", Scalar(int64_t{0})}});
  const std::string count = c.Emit("sum", {{"x", {counted}}}, {{"axis", IntArray({1})}});
  c.Bind(1, c.Cast(count, DataType::kInt32));
}

void EmbedLayerNormalization(OnnxContext& c) {
  Embed(c, {c.Input(2), c.Input(3), c.OptionalInput(4), c.Input(5), c.Input(6)}, 8);
}

// Its tables are integers with scales and zero points.
void QEmbedLayerNormalization(OnnxContext& c) {
  const auto numbers = [&](size_t table) {
    if (!c.HasInput(table)) return std::string();
    return c.Emit("dequantize_linear",
                  {{"x", {c.Input(table)}}, {"scale", {c.Input(table + 6)}}, {"zero_point", {c.Input(table + 11)}}});
  };
  Embed(c, {numbers(2), numbers(3), numbers(4), numbers(5), numbers(6)}, AttentionInputs::kNone);
}

// `x` with groups of channels normalised and perhaps silu after it.
std::string Grouped(OnnxContext& c, const std::string& x) {
  const bool last = c.Attr<bool>("channels_last", true);
  const auto activation = c.Attr<int64_t>("activation");
  if (activation != 0 && activation != 1) c.Unsupported("attribute activation is ", activation);
  const auto groups = c.Attr<int64_t>("groups");
  if (groups < 1) c.Corrupt("attribute groups is ", groups);
  // Scale and bias may have another type than x.
  const auto parameter = [&](size_t position) { return c.Cast(c.Input(position), c.TypeOf(x)); };
  std::string y = c.Emit("group_norm",
                         {{"x", {last ? ChannelsFirst(c, x) : x}}, {"scale", {parameter(1)}}, {"bias", {parameter(2)}}},
                         {{"epsilon", c.Attr<double>("epsilon", 1e-5)}, {"groups", groups}});
  if (activation == 1) y = c.Unary("silu", y);
  return last ? ChannelsLast(c, y) : y;
}

void GroupNorm(OnnxContext& c) { c.Bind(0, Grouped(c, c.Input(0))); }

// The sum with `skip` and perhaps a bias by channel is result 1.
void SkipGroupNorm(OnnxContext& c) {
  const bool last = c.Attr<bool>("channels_last", true);
  const auto by_channel = [&](const std::string& x) { return last ? x : c.Unsqueezed(x, {1, 2}); };
  std::string skip = c.Input(3);
  if (c.Rank(skip) == 2) skip = c.Unsqueezed(skip, last ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2, 3});
  std::string sum = c.Binary("add", c.Input(0), skip);
  if (c.HasInput(4)) sum = c.Binary("add", sum, by_channel(c.Input(4)));
  c.Bind(1, sum);
  c.Bind(0, Grouped(c, sum));
}

}  // namespace

REGISTER_CONVERTER(onnx, com_microsoft_SkipLayerNormalization, &Convert<SkipLayerNormalization>);
REGISTER_CONVERTER(onnx, com_microsoft_SkipSimplifiedLayerNormalization, &Convert<SkipSimplifiedLayerNormalization>);
REGISTER_CONVERTER(onnx, SimplifiedLayerNormalization, &Convert<SimplifiedLayerNormalization>);
REGISTER_CONVERTER(onnx, com_microsoft_EmbedLayerNormalization, &Convert<EmbedLayerNormalization>);
REGISTER_CONVERTER(onnx, com_microsoft_QEmbedLayerNormalization, &Convert<QEmbedLayerNormalization>);
REGISTER_CONVERTER(onnx, com_microsoft_GroupNorm, &Convert<GroupNorm>);
REGISTER_CONVERTER(onnx, com_microsoft_SkipGroupNorm, &Convert<SkipGroupNorm>);

}  // namespace wherry::onnx
