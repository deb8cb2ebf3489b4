// Operators that compare positions: triangles, diagonals, one-hot vectors and the losses that pick a class.
#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

void Trilu(OnnxContext& c) {
  OpInputs inputs = {{"x", {c.Input(0)}}};
  OpAttrs attrs = {{"lower", !c.Attr<bool>("upper", true)}};
  c.PassScalar("diagonal", 1, &inputs, &attrs);
  c.EmitResult("tril_triu", inputs, attrs);
}

void EyeLike(OnnxContext& c) {
  const std::string x = c.Input(0);
  if (c.Rank(x) != 2) c.Corrupt("the input has ", c.Rank(x), " dimensions, expected 2");
  const DataType dtype = c.Attr<DataType>("dtype", c.TypeOf(x));
  const std::string k = c.ConvertContext::ConstantInts({c.Attr<int64_t>("k", 0)});
  const std::string ones = c.Binary("add", c.PositionsAlong(x, 0, 1), k);  // the column of each row's 1
  c.Bind(0, c.Cast(c.Binary("equal", c.PositionsAlong(x, 1, 0), ones), dtype));
}

void OneHot(OnnxContext& c) {
  std::string index = c.Cast(c.Input(0), DataType::kInt64);
  const std::string values = c.Input(2);
  const int rank = c.Rank(index) + 1;
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", -1), rank);
  const std::string depth = c.Reshaped(c.Cast(c.Input(1), DataType::kInt64), {1});
  const std::string negative = c.Binary("less_than", index, c.ConvertContext::ConstantInts({0}));
  index = c.Emit("where", {{"condition", {negative}}, {"x", {c.Binary("add", index, depth)}}, {"y", {index}}});
  // A scalar has become one dimension by now.
  index = rank == 1 ? index : c.Unsqueezed(index, {axis});
  std::string classes = c.Emit("arange", {{"end", {depth}}}, {{"start", Scalar(int64_t{0})}});
  std::vector<int64_t> behind;
  for (int64_t i = 1; i < rank - axis; ++i) behind.push_back(i);
  if (!behind.empty()) classes = c.Unsqueezed(classes, behind);
  const auto value = [&](int64_t i) {
    return c.Emit("slice", {{"x", {values}}},
                  {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({i})}, {"ends", IntArray({i + 1})}});
  };
  c.EmitResult("where", {{"condition", {c.Binary("equal", index, classes)}}, {"x", {value(1)}}, {"y", {value(0)}}});
}

// The negative of what `log_prob` [N, C, ...] has for the class that `target` [N, ...] names, weighted.
std::string NegativeLogLikelihood(OnnxContext& c, const std::string& log_prob, const std::string& target,
                                  const std::string& weight) {
  const int rank = c.Rank(log_prob);
  if (rank < 2) c.Corrupt("the input has ", rank, " dimensions, expected at least 2");
  const auto reduction = c.Attr<std::string>("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    c.Corrupt("attribute reduction is ", Quote(reduction));
  }
  const std::string zero = c.Like(log_prob, 0.0);
  const std::string chosen = c.Cast(target, DataType::kInt64);
  std::string hit = c.Binary("equal", c.Unsqueezed(chosen, {1}), c.PositionsAlong(log_prob, 1, rank - 2));
  if (c.HasAttr("ignore_index")) {
    const std::string ignored = c.ConvertContext::ConstantInts({c.Attr<int64_t>("ignore_index")});
    hit = c.Binary("logical_and", hit, c.Unsqueezed(c.Binary("not_equal", chosen, ignored), {1}));
  }
  const auto of_class = [&](const std::string& value) {
    const std::string only = c.Emit("where", {{"condition", {hit}}, {"x", {value}}, {"y", {zero}}});
    return c.Emit("sum", {{"x", {only}}}, {{"axis", IntArray({1})}});
  };
  std::string per_class = weight;
  if (!weight.empty() && rank > 2) {
    std::vector<int64_t> behind;
    for (int64_t i = 1; i < rank - 1; ++i) behind.push_back(i);
    per_class = c.Unsqueezed(weight, behind);
  }
  const std::string weights = of_class(weight.empty() ? c.Like(log_prob, 1.0) : per_class);
  const std::string loss = c.Unary("neg", c.Binary("multiply", of_class(log_prob), weights));
  if (reduction == "none") return loss;
  const std::string sum = c.Unary("sum", loss);
  return reduction == "sum" ? sum : c.Binary("divide", sum, c.Unary("sum", weights));
}

void NegativeLogLikelihoodLoss(OnnxContext& c) {
  c.Bind(0, NegativeLogLikelihood(c, c.Input(0), c.Input(1), c.OptionalInput(2)));
}

void SoftmaxCrossEntropyLoss(OnnxContext& c) {
  const std::string log_prob = c.Emit("log_softmax", {{"x", {c.Input(0)}}}, {{"axis", int64_t{1}}});
  c.Bind(0, NegativeLogLikelihood(c, log_prob, c.Input(1), c.OptionalInput(2)));
  c.Bind(1, log_prob);
}

}  // namespace

REGISTER_CONVERTER(onnx, Trilu, &Convert<Trilu>);
REGISTER_CONVERTER(onnx, EyeLike, &Convert<EyeLike>);
REGISTER_CONVERTER(onnx, OneHot, &Convert<OneHot>);
REGISTER_CONVERTER(onnx, NegativeLogLikelihoodLoss, &Convert<NegativeLogLikelihoodLoss>);
REGISTER_CONVERTER(onnx, SoftmaxCrossEntropyLoss, &Convert<SoftmaxCrossEntropyLoss>);

}  // namespace wherry::onnx
