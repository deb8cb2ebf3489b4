// Losses, which networks keep as outputs now and then.
#include <limits>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

std::string Where(OpContext& c, const std::string& condition, const std::string& x, const std::string& y) {
  return c.Emit("where", {{"condition", {condition}}, {"x", {x}}, {"y", {y}}});
}

// The loss of class `label` among the logits along an axis, or with soft labels the mean over their distribution.
void SoftmaxCrossEntropy(OpContext& c) {
  const std::string logits = c.Input({"Logits", 0});
  std::string label = c.Input({"Label", 1});
  const int rank = c.Rank(logits);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", -1), rank);
  std::string log;
  if (c.Attr<bool>("use_softmax", true)) {
    log = c.Emit("log_softmax", {{"x", {logits}}}, {{"axis", axis}});
    c.Result({"Softmax", 0}, c.Emit("softmax", {{"x", {logits}}}, {{"axis", axis}}));
  } else {
    log = c.Unary("log", logits);
    c.Result({"Softmax", 0}, c.Unary("assign", logits));
  }
  if (c.Attr<bool>("soft_label", false)) {
    const std::string sum =
        c.Emit("sum", {{"x", {c.Binary("multiply", label, log)}}}, {{"axis", IntArray({axis})}, {"keepdim", true}});
    return c.Result({"Loss", 1}, c.Unary("neg", sum));
  }
  if (c.Rank(label) < rank) label = c.Unsqueezed(label, {axis});
  label = c.Cast(label, DataType::kInt64);
  const std::string zero = c.Like(label, 0.0);
  const std::string ignored =
      c.Binary("equal", label, c.Like(label, static_cast<double>(c.Attr<int64_t>("ignore_index", -100))));
  const std::string chosen =
      c.Emit("take_along_axis", {{"x", {log}}, {"index", {Where(c, ignored, zero, label)}}}, {{"axis", axis}});
  c.Result({"Loss", 1}, Where(c, ignored, c.Like(log, 0.0), c.Unary("neg", chosen)));
}

// target * (log(target) - x), and 0 where target is not positive.
void KlDivergence(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string target = c.Input({"Target", 1});
  std::string loss;
  if (c.Attr<bool>("log_target", false)) {
    loss = c.Binary("multiply", c.Unary("exp", target), c.Binary("subtract", target, x));
  } else {
    const std::string product = c.Binary("multiply", target, c.Binary("subtract", c.Unary("log", target), x));
    loss = Where(c, c.Binary("greater_than", target, c.Like(target, 0.0)), product, c.Like(x, 0.0));
  }
  const auto reduction = c.Attr<std::string>("reduction", "mean");
  if (reduction == "mean") {
    loss = c.Unary("mean", loss);
  } else if (reduction == "sum") {
    loss = c.Unary("sum", loss);
  } else if (reduction == "batchmean") {
    const std::string batch = c.Cast(c.Reshaped(c.Dimension(x, 0), {}), c.TypeOf(x));
    loss = c.Binary("divide", c.Unary("sum", loss), batch);
  } else if (reduction != "none") {
    c.Corrupt("attribute reduction is ", Quote(reduction));
  }
  c.Result({"Loss", 0}, loss);
}

// r^2 / 2 up to delta, delta * (|r| - delta / 2) beyond it.
void HuberLoss(OpContext& c) {
  const double delta = c.Attr<double>("delta", 1.0);
  const std::string residual = c.Binary("subtract", c.Input({"Y", 1}), c.Input({"X", 0}));
  const std::string size = c.Unary("abs", residual);
  const std::string near = c.Scaled(c.Unary("square", residual), 0.5);
  const std::string far = c.Scaled(size, delta, -0.5 * delta * delta);
  c.Result({"Out", 0}, Where(c, c.Binary("less_equal", size, c.Like(size, delta)), near, far));
  c.Result({"Residual", 1}, residual);
}

std::string OneMinus(OpContext& c, const std::string& x) { return c.Scaled(x, -1.0, 1.0); }

// -(label * log(x) + (1 - label) * log(1 - x)), with logarithms of at least -100.
void BceLoss(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string label = c.Input({"Label", 1});
  constexpr double kLowest = -100.0;
  const auto log = [&](const std::string& p) { return c.Binary("maximum", c.Unary("log", p), c.Like(x, kLowest)); };
  const std::string hit = c.Binary("multiply", label, log(x));
  const std::string miss = c.Binary("multiply", OneMinus(c, label), log(OneMinus(c, x)));
  c.Result({"Out", 0}, c.Unary("neg", c.Binary("add", hit, miss)));
}

// Of each label its number of x [n, classes, ...], turned round, times its class's weight.
void NllLoss(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string label = c.Cast(c.Input({"Label", 1}), DataType::kInt64);
  const std::string weight = c.OptionalInput({"Weight", 2});
  const std::string ignored =
      c.Binary("equal", label, c.Like(label, static_cast<double>(c.Attr<int64_t>("ignore_index", -100))));
  const std::string safe = Where(c, ignored, c.Like(label, 0.0), label);
  const std::string chosen = c.Squeezed(
      c.Emit("take_along_axis", {{"x", {x}}, {"index", {c.Unsqueezed(safe, {1})}}}, {{"axis", int64_t{1}}}), {1});
  std::string each = c.Cast(c.Unary("logical_not", ignored), c.TypeOf(x));
  if (!weight.empty()) {
    const std::string flat = c.Emit("gather", {{"x", {weight}}, {"index", {c.Reshaped(safe, {-1})}}});
    each = c.Binary("multiply", each, c.Emit("reshape", {{"x", {flat}}, {"shape", {c.Unary("shape", safe)}}}));
  }
  const std::string loss = c.Unary("neg", c.Binary("multiply", chosen, each));
  const auto reduction = c.Attr<std::string>("reduction", "mean");
  const std::string total = c.Unary("sum", each);
  c.Result({"Total_weight", 1}, total);
  if (reduction == "none") return c.Result({"Out", 0}, loss);
  const std::string sum = c.Unary("sum", loss);
  if (reduction != "mean" && reduction != "sum") c.Corrupt("attribute reduction is ", Quote(reduction));
  c.Result({"Out", 0}, reduction == "sum" ? sum : c.Binary("divide", sum, total));
}

// max(0, 1 - logits * (2 * labels - 1))
void HingeLoss(OpContext& c) {
  const std::string sign = c.Scaled(c.Input({"Labels", 1}), 2.0, -1.0);
  c.Result({"Loss", 0}, c.Unary("relu", OneMinus(c, c.Binary("multiply", c.Input({"Logits", 0}), sign))));
}

void LogLoss(OpContext& c) {
  const std::string p = c.Input({"Predicted", 0});
  const std::string label = c.Input({"Labels", 1});
  const double epsilon = c.Attr<double>("epsilon", 1e-4);
  const std::string hit = c.Binary("multiply", label, c.Unary("log", c.Scaled(p, 1.0, epsilon)));
  const std::string miss = c.Binary("multiply", OneMinus(c, label), c.Unary("log", c.Scaled(p, -1.0, 1.0 + epsilon)));
  c.Result({"Loss", 0}, c.Unary("neg", c.Binary("add", hit, miss)));
}

// (1 - label) * x + log(1 + exp(-x)) * pos_weight, 0 where the label is ignored; over the number of labels that are
// not, if it is normalised.
void SigmoidCrossEntropy(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string label = c.Input({"Label", 1});
  const std::string zero = c.Like(x, 0.0);
  // Without overflow: max(-x, 0) + log(1 + exp(-|x|)).
  std::string tail = c.Binary("add", c.Unary("relu", c.Unary("neg", x)),
                              c.Unary("log1p", c.Unary("exp", c.Unary("neg", c.Unary("abs", x)))));
  if (const std::string weight = c.OptionalInput({"pos_weight", 2}); !weight.empty()) {
    tail = c.Binary("multiply", tail, weight);
  }
  const std::string loss = c.Binary("add", c.Binary("multiply", OneMinus(c, label), x), tail);
  const std::string ignored =
      c.Binary("equal", label, c.Like(label, static_cast<double>(c.Attr<int64_t>("ignore_index", -100))));
  std::string out = Where(c, ignored, zero, loss);
  if (c.Attr<bool>("normalize", false)) {
    constexpr double kLeast = 1e-5;
    const std::string count = c.Unary("sum", c.Cast(c.Unary("logical_not", ignored), c.TypeOf(x)));
    out = c.Binary("divide", out, c.Binary("maximum", count, c.Like(x, kLeast)));
  }
  c.Result({"Out", 0}, out);
}

}  // namespace

REGISTER_CONVERTER(paddle, softmax_with_cross_entropy, &Convert<SoftmaxCrossEntropy>);
REGISTER_CONVERTER(pir, cross_entropy_with_softmax, &Convert<SoftmaxCrossEntropy, 2, 2>);
REGISTER_CONVERTER(paddle, kldiv_loss, &Convert<KlDivergence>);
REGISTER_CONVERTER(pir, kldiv_loss, &Convert<KlDivergence, 2>);
REGISTER_CONVERTER(paddle, huber_loss, &Convert<HuberLoss>);
REGISTER_CONVERTER(pir, huber_loss, &Convert<HuberLoss, 2, 2>);
REGISTER_CONVERTER(paddle, bce_loss, &Convert<BceLoss>);
REGISTER_CONVERTER(pir, bce_loss, &Convert<BceLoss, 2>);
REGISTER_CONVERTER(paddle, nll_loss, &Convert<NllLoss>);
REGISTER_CONVERTER(pir, nll_loss, &Convert<NllLoss, 3, 2>);
REGISTER_CONVERTER(paddle, hinge_loss, &Convert<HingeLoss>);
REGISTER_CONVERTER(pir, hinge_loss, &Convert<HingeLoss, 2>);
REGISTER_CONVERTER(paddle, log_loss, &Convert<LogLoss>);
REGISTER_CONVERTER(pir, log_loss, &Convert<LogLoss, 2>);
REGISTER_CONVERTER(paddle, sigmoid_cross_entropy_with_logits, &Convert<SigmoidCrossEntropy>);
REGISTER_CONVERTER(pir, sigmoid_cross_entropy_with_logits, &Convert<SigmoidCrossEntropy, 3>);

}  // namespace wherry::paddle
