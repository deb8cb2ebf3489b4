// Reductions over axes.
#include <cmath>
#include <limits>

#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

struct Axes {
  Ints list;  // empty: all
  bool keep = false;
};

Axes AxesOf(OpContext& c) {
  Axes axes;
  // PIR has the attributes of ProgramDesc in one operator, and reduce_all in one more.
  const bool as_before = !c.pir() || c.op().type == "frobenius_norm";
  axes.keep = as_before ? c.Attr<bool>("keep_dim", c.DescAttr<bool>("keepdim", false)) : c.Attr<bool>("keepdim");
  const bool all = (as_before || c.op().type == "prod") && c.Attr<bool>("reduce_all", false);
  if (all) {
    axes.list.values.emplace();
  } else if (auto list = c.OptionalInts({"AxisTensor", 1}, {"AxisTensorList"}, c.pir() ? "axis" : "dim")) {
    axes.list = std::move(*list);
  } else {
    axes.list.values.emplace();
  }
  return axes;
}

// A scalar may be reduced along axis 0 or -1, which it does not have.
std::string Reduced(OpContext& c, const char* type, const std::string& x, Axes axes) {
  const MetaTensor& meta = c.Meta(x);
  if (meta.rank_known && meta.rank() == 0) {
    axes.list.values.emplace();
    axes.list.tensor.clear();
  }
  OpInputs inputs = {{"x", {x}}};
  OpAttrs attrs = {{"keepdim", axes.keep}};
  OpContext::Pass("axis", axes.list, &inputs, &attrs);
  return c.Emit(type, inputs, attrs);
}

// Before 2.5 Paddle had no scalars: a full reduction gave a [1].
void ReduceResult(OpContext& c, std::string value) {
  const MetaTensor& meta = c.Meta(value);
  if (meta.rank_known && meta.rank() == 0 && c.DeclaredRank({"Out", -1}) == 1) value = c.Reshaped(value, {1});
  c.Result({"Out", 0}, value);
}

// The type that the operator says its result has; PIR's sum alone does.
DataType ResultType(const OpContext& c) {
  if (c.op().type == "sum") return c.Attr<DataType>("dtype");
  return c.DescAttr<DataType>("out_dtype", DataType::kUndefined);
}

void Reduce(OpContext& c, const char* type) {
  std::string x = c.Input({"X", 0});
  const DataType dtype = ResultType(c);
  if (dtype != DataType::kUndefined) x = c.Cast(x, dtype);
  ReduceResult(c, Reduced(c, type, x, AxesOf(c)));
}

// Without a type of its own the sum of integers is i64.
void Sum(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const bool own = ResultType(c) != DataType::kUndefined;
  if (own || IsFloating(c.TypeOf(x)) || c.TypeOf(x) == DataType::kInt64) return Reduce(c, "sum");
  ReduceResult(c, Reduced(c, "sum", c.Cast(x, DataType::kInt64), AxesOf(c)));
}
void Mean(OpContext& c) { Reduce(c, "mean"); }
void Max(OpContext& c) { Reduce(c, "max"); }
void Min(OpContext& c) { Reduce(c, "min"); }
void Prod(OpContext& c) { Reduce(c, "prod"); }

void MeanAll(OpContext& c) { ReduceResult(c, c.Unary("mean", c.Input({"X", 0}))); }

void Any(OpContext& c) {
  // Of nothing, none is.
  const std::string set = c.Cast(c.Cast(c.Input({"X", 0}), DataType::kBool), DataType::kInt64);
  ReduceResult(c, c.Cast(Reduced(c, "sum", set, AxesOf(c)), DataType::kBool));
}
void All(OpContext& c) {
  ReduceResult(c, c.Cast(Reduced(c, "min", c.Cast(c.Input({"X", 0}), DataType::kInt32), AxesOf(c)), DataType::kBool));
}

void LogSumExp(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  Axes axes;
  axes.keep = c.Attr<bool>("keepdim", false);
  axes.list.values =
      c.Attr<bool>("reduce_all", false) ? std::vector<int64_t>{} : c.Attr<std::vector<int64_t>>("axis", {});
  Axes kept = axes;
  kept.keep = true;
  const std::string top = Reduced(c, "max", x, kept);
  const std::string sum = c.Unary("log", Reduced(c, "sum", c.Unary("exp", c.Binary("subtract", x, top)), axes));
  ReduceResult(c, c.Binary("add", sum, axes.keep ? top : Reduced(c, "max", x, axes)));
}

void Norm(OpContext& c) {
  std::string x = c.Input({"X", 0});
  const double order = c.Attr<double>("porder", 2.0);
  Axes axes;
  axes.keep = c.Attr<bool>("keepdim", false);
  axes.list.values =
      c.Attr<bool>("asvector", false) ? std::vector<int64_t>{} : std::vector<int64_t>{c.Attr<int64_t>("axis", -1)};
  if (order == 2.0) return ReduceResult(c, c.Unary("sqrt", Reduced(c, "sum", c.Unary("square", x), axes)));
  x = c.Unary("abs", x);
  if (order == 1.0) return ReduceResult(c, Reduced(c, "sum", x, axes));
  if (std::isinf(order)) return ReduceResult(c, Reduced(c, order > 0 ? "max" : "min", x, axes));
  if (order == 0.0) {
    const std::string counted = c.Cast(c.Binary("not_equal", x, c.Like(x, 0.0)), c.TypeOf(x));
    return ReduceResult(c, Reduced(c, "sum", counted, axes));
  }
  const std::string sum = Reduced(c, "sum", c.Binary("elementwise_pow", x, c.Like(x, order)), axes);
  ReduceResult(c, c.Binary("elementwise_pow", sum, c.Like(x, 1.0 / order)));
}

// x summed over what the shape of another tensor does not have.
void ReduceAs(OpContext& c) {
  const std::string x = c.Input({"x", 0});
  const std::string target = c.Input({"target", 1});
  const int surplus = c.Rank(x) - c.Rank(target);
  if (surplus < 0) c.Corrupt("the target has more dimensions than the input");
  std::vector<int64_t> leading;
  std::vector<int64_t> ones;
  const std::vector<Dim> dims = c.Meta(target).dims;
  for (int i = 0; i < c.Rank(x); ++i) {
    if (i < surplus) {
      leading.push_back(i);
    } else if (const Dim& dim = dims[static_cast<size_t>(i - surplus)]; !dim.known()) {
      c.Unsupported("the shape of the target is not known");
    } else if (dim == Dim(1)) {
      ones.push_back(i);
    }
  }
  std::string sum = x;
  if (!ones.empty()) sum = c.Emit("sum", {{"x", {sum}}}, {{"axis", IntArray(ones)}, {"keepdim", true}});
  if (!leading.empty()) sum = c.Emit("sum", {{"x", {sum}}}, {{"axis", IntArray(leading)}});
  c.EmitResult("assign", {{"x", {sum}}});
}

// The mean of the two middle numbers over axes (mode "min": the lower one), which are one for an odd count; NaN do not
// count.
void NanMedian(OpContext& c) {
  std::string x = c.Input({"X", 0});
  std::vector<int64_t> axes = c.Attr<std::vector<int64_t>>("axis", {});
  const int rank = c.Rank(x);
  x = c.LastTogether(x, &axes);
  const OpAttrs along = {{"axis", int64_t{-1}}};
  const auto results = c.EmitMany("argsort", {{"x", {x}}}, along, 2);
  const std::string valid = c.Cast(c.Unary("logical_not", c.Unary("isnan", x)), DataType::kInt64);
  const std::string count = c.Emit("sum", {{"x", {valid}}}, {{"axis", IntArray({-1})}, {"keepdim", true}});
  // Place (count + bias) / 2 among those in order.
  const auto place = [&](double bias) {
    const std::string half = c.Binary("floor_divide", c.Scaled(count, 1.0, bias), c.Like(count, 2.0));
    return c.Binary("maximum", half, c.Like(count, 0.0));
  };
  const auto at = [&](const std::string& values, const std::string& index) {
    return c.Emit("take_along_axis", {{"x", {values}}, {"index", {index}}}, along);
  };
  const std::string low = place(-1.0);
  std::string median = at(results[0], low);
  if (c.Attr<std::string>("mode", "avg") == "avg") {
    median = c.Scaled(c.Binary("add", median, at(results[0], place(0.0))), 0.5);
  }
  const auto shaped = [&](const std::string& value) {
    const std::string without = c.Squeezed(value, {-1});
    return c.Attr<bool>("keepdim", false) && rank > 0 ? c.Unsqueezed(without, axes) : without;
  };
  c.Result({"Out", 0}, shaped(median));
  if (c.ResultCount({"MedianIndex", 1}) == 0) return;
  const std::string none = c.Binary("equal", count, c.Like(count, 0.0));
  const std::string index =
      c.Emit("where", {{"condition", {none}}, {"x", {c.Like(results[1], -1.0)}}, {"y", {at(results[1], low)}}});
  c.Result({"MedianIndex", 1}, shaped(index));
}

void FrobeniusNorm(OpContext& c) {
  ReduceResult(c, c.Unary("sqrt", Reduced(c, "sum", c.Unary("square", c.Input({"X", 0})), AxesOf(c))));
}

void ArgExtreme(OpContext& c, const char* type) {
  OpAttrs attrs = {{"axis", c.KnownInt({nullptr, 1}, "axis", -1)},
                   {"keepdims", c.Attr<bool>("keepdims", false)},
                   {"flatten", c.Attr<bool>("flatten", false)},
                   {"dtype", c.Attr<DataType>("dtype", DataType::kInt64)}};
  c.EmitResult(type, {{"x", {c.Input({nullptr, 0})}}}, attrs);
}
void ArgMax(OpContext& c) { ArgExtreme(c, "argmax"); }
void ArgMin(OpContext& c) { ArgExtreme(c, "argmin"); }

}  // namespace

REGISTER_CONVERTER(paddle, reduce_sum, &Convert<Sum>);
REGISTER_CONVERTER(pir, sum, &Convert<Sum, 2>);
REGISTER_CONVERTER(paddle, reduce_mean, &Convert<Mean>);
REGISTER_CONVERTER(pir, mean, &Convert<Mean, 2>);
REGISTER_CONVERTER(paddle, reduce_max, &Convert<Max>);
REGISTER_CONVERTER(pir, max, &Convert<Max, 2>);
REGISTER_CONVERTER(paddle, reduce_amax, &Convert<Max>);
REGISTER_CONVERTER(pir, amax, &Convert<Max, 1>);
REGISTER_CONVERTER(paddle, reduce_min, &Convert<Min>);
REGISTER_CONVERTER(pir, min, &Convert<Min, 2>);
REGISTER_CONVERTER(paddle, reduce_amin, &Convert<Min>);
REGISTER_CONVERTER(pir, amin, &Convert<Min, 1>);
REGISTER_CONVERTER(paddle, reduce_prod, &Convert<Prod>);
REGISTER_CONVERTER(pir, prod, &Convert<Prod, 2>);
REGISTER_CONVERTER(paddle, mean, &Convert<MeanAll>);
REGISTER_CONVERTER(pir, mean_all, &Convert<MeanAll, 1>);
REGISTER_CONVERTER(paddle, reduce_any, &Convert<Any>);
REGISTER_CONVERTER(pir, any, &Convert<Any, 1>);
REGISTER_CONVERTER(paddle, reduce_all, &Convert<All>);
REGISTER_CONVERTER(pir, all, &Convert<All, 1>);
REGISTER_CONVERTER(paddle, logsumexp, &Convert<LogSumExp>);
REGISTER_CONVERTER(pir, logsumexp, &Convert<LogSumExp, 1>);
REGISTER_CONVERTER(paddle, reduce_as, &Convert<ReduceAs>);
REGISTER_CONVERTER(pir, reduce_as, &Convert<ReduceAs, 2>);
REGISTER_CONVERTER(paddle, nanmedian, &Convert<NanMedian>);
REGISTER_CONVERTER(pir, nanmedian, &Convert<NanMedian, 1, 2>);
REGISTER_CONVERTER(paddle, p_norm, &Convert<Norm>);
REGISTER_CONVERTER(pir, p_norm, &Convert<Norm, 1>);
REGISTER_CONVERTER(paddle, frobenius_norm, &Convert<FrobeniusNorm>);
REGISTER_CONVERTER(pir, frobenius_norm, &Convert<FrobeniusNorm, 2>);
REGISTER_CONVERTER(pir, argmax, &Convert<ArgMax, 2>);
REGISTER_CONVERTER(pir, argmin, &Convert<ArgMin, 2>);

}  // namespace wherry::paddle
