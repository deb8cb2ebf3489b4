// Operators written with several of Wherry's: arithmetic.
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void Trunc(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  if (IsInteger(c.TypeOf(x))) return c.EmitResult("assign", {{"x", {x}}});
  const std::string negative = c.Binary("less_than", x, c.Like(x, 0.0));
  c.EmitResult("where", {{"condition", {negative}}, {"x", {c.Unary("ceil", x)}}, {"y", {c.Unary("floor", x)}}});
}

void Round(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const auto decimals = c.Attr<int64_t>("decimals", 0);
  const bool whole = !IsFloating(c.TypeOf(x)) && c.TypeOf(x) != DataType::kUndefined;
  if (whole && decimals >= 0) return c.EmitResult("assign", {{"x", {x}}});
  if (decimals == 0) return c.EmitResult("round", {{"x", {x}}});
  constexpr int64_t kMost = 300;
  if (decimals < -kMost || decimals > kMost) c.Unsupported("attribute decimals is ", decimals);
  const std::string unit = c.Like(x, std::pow(10.0, static_cast<double>(std::abs(decimals))));
  const char* const up = decimals > 0 ? "multiply" : "divide";
  const char* const down = decimals > 0 ? "divide" : "multiply";
  c.Result({"Out", 0}, c.Binary(down, c.Unary("round", c.Binary(up, x, unit)), unit));
}

// The quotient without its fraction.
void TruncDivide(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string y = c.Input({"Y", 1});
  if (IsFloating(c.TypeOf(x))) {
    const std::string quotient = c.Binary("divide", x, y);
    const std::string size = c.Unary("floor", c.Unary("abs", quotient));
    return c.EmitResult("multiply", {{"x", {c.Unary("sign", quotient)}}, {"y", {size}}});
  }
  const std::string size = c.Binary("floor_divide", c.Unary("abs", x), c.Unary("abs", y));
  c.EmitResult("multiply", {{"x", {c.Binary("multiply", c.Unary("sign", x), c.Unary("sign", y))}}, {"y", {size}}});
}

// x + weight * (y - x)
void Lerp(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string step = c.Binary("subtract", c.Input({"Y", 1}), x);
  c.EmitResult("add", {{"x", {x}}, {"y", {c.Binary("multiply", c.Input({"Weight", 2}), step)}}});
}

// (1 - epsilon) * x + epsilon * prior, where the prior is 1 / classes if none is given.
void LabelSmooth(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const double epsilon = c.Attr<double>("epsilon", 0.0);
  const std::string prior = c.OptionalInput({"PriorDist", 1});
  if (!prior.empty()) {
    const std::string kept = c.Scaled(x, 1.0 - epsilon);
    return c.EmitResult("add", {{"x", {kept}}, {"y", {c.Scaled(prior, epsilon)}}});
  }
  const MetaTensor& meta = c.Meta(x);
  if (!meta.rank_known || meta.dims.empty() || !meta.dims.back().known())
    c.Unsupported("the number of classes is not known");
  const auto classes = static_cast<double>(meta.dims.back().value());
  c.Result({"Out", 0}, c.Scaled(x, 1.0 - epsilon, epsilon / classes));
}

void EqualAll(OpContext& c) {
  const std::string equal = c.Binary("equal", c.Input({"X", 0}), c.Input({"Y", 1}));
  c.Result({"Out", 0}, c.Cast(c.Unary("min", c.Cast(equal, DataType::kInt32)), DataType::kBool));
}

void Dot(OpContext& c) {
  const std::string product = c.Binary("multiply", c.Input({"X", 0}), c.Input({"Y", 1}));
  c.EmitResult("sum", {{"x", {product}}}, {{"axis", IntArray({-1})}});
}

void MultiDot(OpContext& c) {
  const std::vector<std::string> factors = c.InputList({"X", 0});
  if (factors.size() < 2) c.Corrupt("it has ", factors.size(), " factors, expected at least two");
  std::string product = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) product = c.Binary("matmul", product, factors[i]);
  c.Result({"Out", 0}, product);
}

// log(1 + exp(x)) of x cut to [-threshold, threshold].
void SoftRelu(OpContext& c) {
  const double threshold = c.Attr<double>("threshold", 40.0);
  const std::string cut =
      c.Emit("clip", {{"x", {c.Input({"X", 0})}}}, {{"min", Scalar(-threshold)}, {"max", Scalar(threshold)}});
  c.EmitResult("softplus", {{"x", {cut}}}, {{"beta", 1.0}, {"threshold", std::numeric_limits<double>::max()}});
}

// log(x / (1 - x)) of x cut to [eps, 1 - eps].
void Logit(OpContext& c) {
  std::string x = c.Input({"X", 0});
  const double eps = c.Attr<double>("eps", 1e-6);
  if (eps > 0.0) x = c.Emit("clip", {{"x", {x}}}, {{"min", Scalar(eps)}, {"max", Scalar(1.0 - eps)}});
  c.EmitResult("log", {{"x", {c.Binary("divide", x, c.Scaled(x, -1.0, 1.0))}}});
}

void LogSigmoid(OpContext& c) {
  const std::string negative = c.Unary("neg", c.Input({"X", 0}));
  c.Result({"Out", 0}, c.Unary("neg", c.Emit("softplus", {{"x", {negative}}})));
}

// x / sqrt(sum(x * x) + epsilon) along an axis.
void L2Normalize(OpContext& c) {
  const std::string x = c.Input({"X"});
  const std::string sum = c.Emit("sum", {{"x", {c.Unary("square", x)}}},
                                 {{"axis", IntArray({c.Attr<int64_t>("axis", -1)})}, {"keepdim", true}});
  const std::string norm = c.Unary("sqrt", c.Scaled(sum, 1.0, c.Attr<double>("epsilon", 1e-10)));
  c.EmitResult("divide", {{"x", {x}}, {"y", {norm}}});
}

// x * scale + bias per channel.
void AffineChannel(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  std::vector<int64_t> shape(static_cast<size_t>(std::max(c.Rank(x) - 1, 1)), 1);
  shape[c.ChannelsLast() ? shape.size() - 1 : 0] = -1;
  const std::string scaled = c.Binary("multiply", x, c.Reshaped(c.Input({"Scale", 1}), shape));
  c.EmitResult("add", {{"x", {scaled}}, {"y", {c.Reshaped(c.Input({"Bias", 2}), shape)}}});
}

// (x - mean) * scale, both from sums over what was seen in training.
void DataNorm(OpContext& c) {
  const std::string x = c.Input({"X"});
  const std::string size = c.Input({"BatchSize"});
  if (c.HasInput({"scale_w"}) || c.HasInput({"bias"})) c.Unsupported("it has a scale and a bias");
  if (c.Attr<int64_t>("slot_dim", -1) > 0) c.Unsupported("attribute slot_dim is positive");
  const std::string means = c.Binary("divide", c.Input({"BatchSum"}), size);
  const std::string scales = c.Unary("sqrt", c.Binary("divide", size, c.Input({"BatchSquareSum"})));
  c.Result({"Y"}, c.Binary("multiply", c.Binary("subtract", x, means), scales));
  c.Result({"Means"}, means);
  c.Result({"Scales"}, scales);
}

}  // namespace

REGISTER_CONVERTER(paddle, trunc, &Convert<Trunc>);
REGISTER_CONVERTER(pir, trunc, &Convert<Trunc, 1>);
REGISTER_CONVERTER(paddle, round, &Convert<Round>);
REGISTER_CONVERTER(pir, round, &Convert<Round, 1>);
REGISTER_CONVERTER(pir, trunc_divide, &Convert<TruncDivide, 2>);
REGISTER_CONVERTER(paddle, lerp, &Convert<Lerp>);
REGISTER_CONVERTER(pir, lerp, &Convert<Lerp, 3>);
REGISTER_CONVERTER(paddle, label_smooth, &Convert<LabelSmooth>);
REGISTER_CONVERTER(pir, label_smooth, &Convert<LabelSmooth, 2>);
REGISTER_CONVERTER(paddle, equal_all, &Convert<EqualAll>);
REGISTER_CONVERTER(pir, equal_all, &Convert<EqualAll, 2>);
REGISTER_CONVERTER(paddle, dot, &Convert<Dot>);
REGISTER_CONVERTER(pir, dot, &Convert<Dot, 2>);
REGISTER_CONVERTER(paddle, multi_dot, &Convert<MultiDot>);
REGISTER_CONVERTER(pir, multi_dot, &Convert<MultiDot, 1>);
REGISTER_CONVERTER(paddle, soft_relu, &Convert<SoftRelu>);
REGISTER_CONVERTER(paddle, logit, &Convert<Logit>);
REGISTER_CONVERTER(pir, logit, &Convert<Logit, 1>);
REGISTER_CONVERTER(paddle, logsigmoid, &Convert<LogSigmoid>);
REGISTER_CONVERTER(pir, logsigmoid, &Convert<LogSigmoid, 1>);
REGISTER_CONVERTER(paddle, norm, &Convert<L2Normalize>);
REGISTER_CONVERTER(paddle, affine_channel, &Convert<AffineChannel>);
REGISTER_CONVERTER(pir, affine_channel, &Convert<AffineChannel, 3>);
REGISTER_CONVERTER(paddle, data_norm, &Convert<DataNorm>);

}  // namespace wherry::paddle
