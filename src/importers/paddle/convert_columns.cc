// What recommenders and older text models do with the columns of their tables.
#include <cmath>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

std::string Columns(OpContext& c, const std::string& x, int64_t begin, int64_t end) {
  return c.Emit("slice", {{"x", {x}}},
                {{"axes", std::vector<int64_t>{1}}, {"starts", IntArray({begin})}, {"ends", IntArray({end})}});
}

// The first two columns are how often something was shown and clicked: their logarithms, the second less the first, or
// without use_cvm not there.
void Cvm(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  if (!c.Attr<bool>("use_cvm", true)) return c.Result({"Y", 0}, Columns(c, x, 2, INT32_MAX));
  const auto logarithm = [&](int64_t i) { return c.Unary("log", c.Scaled(Columns(c, x, i, i + 1), 1.0, 1.0)); };
  const std::string shown = logarithm(0);
  const std::string clicked = c.Binary("subtract", logarithm(1), shown);
  c.Result({"Y", 0}, c.Emit("concat", {{"x", {shown, clicked, Columns(c, x, 2, INT32_MAX)}}}, {{"axis", int64_t{1}}}));
}

// `length` columns (-1: all that follow) of each input from start_index on.
std::vector<std::string> Parts(OpContext& c) {
  const auto start = c.Attr<int64_t>("start_index", 0);
  const auto length = c.Attr<int64_t>("length", -1);
  if (start < INT32_MIN || start > INT32_MAX || length > INT32_MAX)
    c.Corrupt("it takes ", length, " columns from ", start, " on");
  std::vector<std::string> parts;
  for (const std::string& x : c.InputList({"X", 0})) {
    const bool to_end = length < 0 || (start < 0 && start + length >= 0);
    parts.push_back(Columns(c, x, start, to_end ? INT32_MAX : start + length));
  }
  if (parts.empty()) c.Corrupt("it has no inputs");
  return parts;
}
void PartialConcat(OpContext& c) { c.EmitResult("concat", {{"x", Parts(c)}}, {{"axis", int64_t{1}}}); }
void PartialSum(OpContext& c) {
  const std::vector<std::string> parts = Parts(c);
  std::string sum = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) sum = c.Binary("add", sum, parts[i]);
  c.Result({"Out", 0}, sum);
}

// A product with a weight and a bias for each of the batch.
void BatchFc(OpContext& c) {
  const std::string product = c.Binary("matmul", c.Input({"Input", 0}), c.Input({"W", 1}));
  c.EmitResult("add", {{"x", {product}}, {"y", {c.Unsqueezed(c.Input({"Bias", 2}), {1})}}});
}

// alpha * x + beta * waves, of x [batch, steps, size]: sines in the first half of the columns, cosines in the second,
// of the step over 10000^(k / (size / 2 - 1)).
void AddPositionEncoding(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const MetaTensor& meta = c.Meta(x);
  if (!meta.rank_known || meta.rank() != 3 || !meta.dims[2].known())
    c.Unsupported("the number of columns is not known");
  const int64_t half = meta.dims[2].value() / 2;
  constexpr int64_t kMost = 1 << 16;
  if (half < 1 || 2 * half != meta.dims[2].value() || half > kMost)
    c.Unsupported("it has ", meta.dims[2].value(), " columns");
  constexpr double kBase = 10000.0;
  std::vector<Scalar> rates;
  for (int64_t k = 0; k < half; ++k) {
    rates.emplace_back(half == 1 ? 1.0 / kBase
                                 : std::pow(kBase, -static_cast<double>(k) / static_cast<double>(half - 1)));
  }
  const std::string steps = c.Unsqueezed(c.Cast(c.CountTo(c.Dimension(x, 1)), DataType::kFP64), {1});
  const std::string angles =
      c.Binary("multiply", steps, c.Constant(TensorOfScalars(Shape{half}, rates, DataType::kFP64)));
  const std::string waves =
      c.Emit("concat", {{"x", {c.Unary("sin", angles), c.Unary("cos", angles)}}}, {{"axis", int64_t{1}}});
  const std::string added = c.Scaled(c.Cast(waves, c.TypeOf(x)), c.Attr<double>("beta", 1.0));
  c.EmitResult("add", {{"x", {c.Scaled(x, c.Attr<double>("alpha", 1.0))}}, {"y", {added}}});
}

}  // namespace

REGISTER_CONVERTER(paddle, cvm, &Convert<Cvm>);
REGISTER_CONVERTER(pir, cvm, &Convert<Cvm, 2>);
REGISTER_CONVERTER(paddle, partial_concat, &Convert<PartialConcat>);
REGISTER_CONVERTER(pir, partial_concat, &Convert<PartialConcat, 1>);
REGISTER_CONVERTER(paddle, partial_sum, &Convert<PartialSum>);
REGISTER_CONVERTER(pir, partial_sum, &Convert<PartialSum, 1>);
REGISTER_CONVERTER(paddle, batch_fc, &Convert<BatchFc>);
REGISTER_CONVERTER(pir, batch_fc, &Convert<BatchFc, 3>);
REGISTER_CONVERTER(paddle, add_position_encoding, &Convert<AddPositionEncoding>);
REGISTER_CONVERTER(pir, add_position_encoding, &Convert<AddPositionEncoding, 1>);

}  // namespace wherry::paddle
