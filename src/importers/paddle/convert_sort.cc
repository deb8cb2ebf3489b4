// Order, rank, counts, and what gathers up along an axis.
#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void Topk(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"X"})}}};
  OpAttrs attrs = {
      {"axis", c.Attr<int64_t>("axis", -1)}, {"largest", c.Attr<bool>("largest", true)}, {"stable", false}};
  OpContext::Pass("k", c.NumberOf({"K"}, "k", Scalar(1)), &inputs, &attrs);
  const auto results = c.EmitMany("topk", inputs, attrs, 2);
  c.Result({"Out"}, results[0]);
  c.Result({"Indices"}, results[1]);
}

void KthValue(OpContext& c) {
  const auto k = c.Attr<int64_t>("k", 1);
  if (k < 1) c.Corrupt("attribute k is ", k);
  const auto axis = c.Attr<int64_t>("axis", -1);
  const std::string x = c.Input({"X", 0});
  const auto lowest = c.EmitMany("topk", {{"x", {x}}}, {{"k", Scalar(k)}, {"axis", axis}, {"largest", false}}, 2);
  for (size_t i = 0; i < 2; ++i) {
    std::string last = lowest[i];
    if (c.Rank(x) > 0) {
      last = c.Emit("slice", {{"x", {last}}},
                    {{"axes", std::vector<int64_t>{axis}}, {"starts", IntArray({k - 1})}, {"ends", IntArray({k})}});
      if (!c.Attr<bool>("keepdim", false)) last = c.Squeezed(last, {axis});
    }
    c.Result({i == 0 ? "Out" : "Indices", static_cast<int>(i)}, last);
  }
}

// The middle of the elements in order; NaN if one of them is. Mode "avg": the mean of the two that are nearest to the
// middle; "min": the lower one.
void Median(OpContext& c) {
  std::string x = c.Input({"X", 0});
  const auto mode = c.Attr<std::string>("mode", "avg");
  if (mode != "avg" && mode != "min") c.Corrupt("attribute mode is ", Quote(mode));
  c.Refuse({"AxisTensor", "AxisTensorList"});
  std::vector<int64_t> axes = c.Attr<std::vector<int64_t>>("axis", {});
  x = c.LastTogether(x, &axes);
  const Dim length = c.Meta(x).dims.back();
  if (!length.known()) c.Unsupported("the number of elements is not known");
  const int64_t count = length.value();
  if (count == 0) c.Unsupported("there are no elements");
  const auto sorted = c.EmitMany("argsort", {{"x", {x}}}, {{"axis", int64_t{-1}}}, 2);
  const auto at = [&](const std::string& value, int64_t place) {
    const std::string one =
        c.Emit("slice", {{"x", {value}}},
               {{"axes", std::vector<int64_t>{-1}}, {"starts", IntArray({place})}, {"ends", IntArray({place + 1})}});
    return c.Squeezed(one, {-1});
  };
  const int64_t low = (count - 1) / 2;
  const int64_t high = count / 2;
  const DataType dtype = IsFloating(c.TypeOf(x)) ? c.TypeOf(x) : mode == "avg" ? DataType::kFP64 : c.TypeOf(x);
  std::string middle = c.Cast(at(sorted[0], low), dtype);
  if (mode == "avg" && high != low) middle = c.Scaled(c.Binary("add", middle, c.Cast(at(sorted[0], high), dtype)), 0.5);
  // NaN comes last.
  const std::string greatest = c.Cast(at(sorted[0], count - 1), dtype);
  std::string place = at(sorted[1], low);
  if (IsFloating(dtype)) {
    const std::string has_nan = c.Unary("isnan", greatest);
    middle = c.Emit("where", {{"condition", {has_nan}}, {"x", {greatest}}, {"y", {middle}}});
    const std::string first_nan =
        c.Emit("argmax", {{"x", {c.Cast(c.Unary("isnan", x), DataType::kInt32)}}}, {{"axis", int64_t{-1}}});
    place = c.Emit("where", {{"condition", {has_nan}}, {"x", {first_nan}}, {"y", {place}}});
  }
  const bool keep = c.Attr<bool>("keepdim", false);
  c.Result({"Out", 0}, keep ? c.Unsqueezed(middle, axes) : middle);
  c.Result({"MedianIndex", 1}, keep ? c.Unsqueezed(place, axes) : place);
}

void Cumsum(OpContext& c) {
  std::string x = c.Input({"X", 0});
  if (c.TypeOf(x) == DataType::kBool) x = c.Cast(x, DataType::kInt64);
  OpInputs inputs = {{"x", {x}}};
  OpAttrs attrs = {{"flatten", c.Attr<bool>("flatten", false)},
                   {"exclusive", c.Attr<bool>("exclusive", false)},
                   {"reverse", c.Attr<bool>("reverse", false)}};
  OpContext::Pass("axis", c.NumberOf({nullptr, 1}, "axis", Scalar(-1)), &inputs, &attrs);
  c.EmitResult("cumsum", inputs, attrs);
}

// Of nothing it is the lowest number, where ours is -inf.
void LogCumsumExp(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const bool exclusive = c.Attr<bool>("exclusive", false);
  const std::string sums = c.Emit("logcumsumexp", {{"x", {x}}},
                                  {{"axis", Scalar(c.Attr<int64_t>("axis", -1))},
                                   {"flatten", c.Attr<bool>("flatten", false)},
                                   {"exclusive", exclusive},
                                   {"reverse", c.Attr<bool>("reverse", false)}});
  if (!exclusive) return c.EmitResult("assign", {{"x", {sums}}});
  const double lowest = c.TypeOf(x) == DataType::kFP64 ? std::numeric_limits<double>::lowest()
                                                       : static_cast<double>(std::numeric_limits<float>::lowest());
  c.EmitResult("maximum", {{"x", {sums}}, {"y", {c.Like(x, lowest)}}});
}

DataType IndexType(OpContext& c) {
  const auto dtype = c.Attr<DataType>("dtype", DataType::kInt64);
  return dtype == DataType::kUndefined ? DataType::kInt64 : dtype;
}

void Unique(OpContext& c) {
  const bool consecutive = c.op().type == "unique_consecutive";
  // Version 1 has no axis and keeps the order of occurrence.
  const OpAttrs attrs = {{"axis", c.Attr<std::vector<int64_t>>("axis", {})},
                         {"sorted", c.pir() || c.Attr<bool>("is_sorted", false)},
                         {"consecutive", consecutive},
                         {"dtype", IndexType(c)}};
  const auto results = c.EmitMany("unique", {{"x", {c.Input({"X", 0})}}}, attrs, 4);
  c.Result({"Out", 0}, results[0]);
  c.Result({"Indices", consecutive ? -1 : 1}, results[1]);
  c.Result({"Index", consecutive ? 1 : 2}, results[2]);
  c.Result({"Counts", consecutive ? 2 : 3}, results[3]);
}

void SearchSorted(OpContext& c) {
  c.EmitResult("searchsorted", {{"sequence", {c.Input({"SortedSequence", 0})}}, {"values", {c.Input({"Values", 1})}}},
               {{"dtype", c.Attr<bool>("out_int32", false) ? DataType::kInt32 : DataType::kInt64},
                {"right", c.Attr<bool>("right", false)}});
}

// How often each of 0 to `bins` - 1, a list of one number, occurs in a list of positions; or the sum of its weights.
std::string Counted(OpContext& c, const std::string& positions, const std::string& bins, const std::string& weights) {
  const std::string zeros = c.Emit("full", {{"shape", {bins}}}, {{"value", Scalar(0)}, {"dtype", c.TypeOf(weights)}});
  return c.Emit("put_along_axis", {{"x", {zeros}}, {"index", {positions}}, {"value", {weights}}},
                {{"reduce", std::string("add")}});
}
std::string OnesLike(OpContext& c, const std::string& x) {
  return c.Emit("full_like", {{"x", {x}}}, {{"value", Scalar(1)}, {"dtype", DataType::kInt64}});
}

void Bincount(OpContext& c) {
  const std::string x = c.Cast(c.Input({"X", 0}), DataType::kInt64);
  std::string weights = c.OptionalInput({"Weights", 1});
  if (!weights.empty() && c.TypeOf(weights) != DataType::kFloat) weights = c.Cast(weights, DataType::kFP64);
  Ints fallback;
  fallback.values = std::vector<int64_t>{0};
  const std::string least = c.TensorOf(c.OptionalInts({nullptr, 2}, {nullptr}, "minlength").value_or(fallback));
  const std::string most = c.Emit("max", {{"x", {x}}}, {{"keepdim", true}});
  const std::string bins = c.Binary("maximum", c.Scaled(most, 1.0, 1.0), least);
  c.EmitResult("assign", {{"x", {Counted(c, x, bins, weights.empty() ? OnesLike(c, x) : weights)}}});
}

void Histogram(OpContext& c) {
  const std::string x = c.Reshaped(c.Input({"X", 0}), {-1});
  const std::string weights = c.OptionalInput({"Weight", 1});
  const bool density = c.Attr<bool>("density", false);
  const auto bins = c.Attr<int64_t>("bins", 100);
  if (bins < 1 || bins > (int64_t{1} << 30)) c.Corrupt("attribute bins is ", bins);
  const std::string values = IsFloating(c.TypeOf(x)) ? x : c.Cast(x, DataType::kFP64);
  const auto given = [&](const char* name) { return c.Attr<double>(name, 0.0); };
  std::string low = c.Like(values, given("min"));
  std::string high = c.Like(values, given("max"));
  if (given("min") == given("max")) {
    // Of the elements themselves; around them where those are all equal.
    low = c.Unary("min", values);
    high = c.Unary("max", values);
    const std::string equal = c.Binary("equal", low, high);
    const std::string half = c.Cast(equal, c.TypeOf(values));
    low = c.Binary("subtract", low, half);
    high = c.Binary("add", high, half);
  }
  const std::string inside =
      c.Binary("logical_and", c.Binary("greater_equal", values, low), c.Binary("less_equal", values, high));
  const std::string places = c.Unary("nonzero", inside);
  const auto chosen = [&](const std::string& list) {
    return c.Emit("gather_nd", {{"x", {list}}, {"index", {places}}});
  };
  const std::string kept = chosen(values);
  const std::string scaled = c.Binary("divide", c.Scaled(c.Binary("subtract", kept, low), static_cast<double>(bins)),
                                      c.Binary("subtract", high, low));
  // The last bin has its upper end.
  const std::string bin = c.Emit("clip", {{"x", {c.Cast(scaled, DataType::kInt64)}}},
                                 {{"min", Scalar(int64_t{0})}, {"max", Scalar(bins - 1)}});
  const std::string count = c.ConvertContext::ConstantInts(std::vector<int64_t>{bins});
  std::string counted = Counted(c, bin, count, weights.empty() ? OnesLike(c, bin) : chosen(c.Reshaped(weights, {-1})));
  if (density) {
    // Over all, and over the width of a bin.
    counted = c.Cast(counted, DataType::kFloat);
    const std::string width =
        c.Cast(c.Scaled(c.Binary("subtract", high, low), 1.0 / static_cast<double>(bins)), DataType::kFloat);
    counted = c.Binary("divide", counted, c.Binary("multiply", c.Unary("sum", counted), width));
  }
  c.EmitResult("assign", {{"x", {counted}}});
}

}  // namespace

REGISTER_CONVERTER(paddle, top_k, &Convert<Topk>);
REGISTER_CONVERTER(paddle, top_k_v2, &Convert<Topk>);
REGISTER_CONVERTER(paddle, kthvalue, &Convert<KthValue>);
REGISTER_CONVERTER(pir, kthvalue, &Convert<KthValue, 1, 2>);
REGISTER_CONVERTER(paddle, median, &Convert<Median>);
REGISTER_CONVERTER(pir, median, &Convert<Median, 1, 2>);
REGISTER_CONVERTER(paddle, cumsum, &Convert<Cumsum>);
REGISTER_CONVERTER(pir, cumsum, &Convert<Cumsum, 2>);
REGISTER_CONVERTER(pir, cumsum_, &Convert<Cumsum, 2>);
REGISTER_CONVERTER(paddle, logcumsumexp, &Convert<LogCumsumExp>);
REGISTER_CONVERTER(pir, logcumsumexp, &Convert<LogCumsumExp, 1>);
REGISTER_CONVERTER(paddle, unique, &Convert<Unique>);
REGISTER_CONVERTER(pir, unique, &Convert<Unique, 1, 4>);
REGISTER_CONVERTER(paddle, unique_consecutive, &Convert<Unique>);
REGISTER_CONVERTER(pir, unique_consecutive, &Convert<Unique, 1, 3>);
REGISTER_CONVERTER(paddle, searchsorted, &Convert<SearchSorted>);
REGISTER_CONVERTER(pir, searchsorted, &Convert<SearchSorted, 2>);
REGISTER_CONVERTER(paddle, bincount, &Convert<Bincount>);
REGISTER_CONVERTER(pir, bincount, &Convert<Bincount, 3>);
REGISTER_CONVERTER(paddle, histogram, &Convert<Histogram>);
REGISTER_CONVERTER(pir, histogram, &Convert<Histogram, 2>);

}  // namespace wherry::paddle
