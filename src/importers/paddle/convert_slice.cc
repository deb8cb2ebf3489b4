// Parts, joins and look-ups.
#include <algorithm>
#include <functional>
#include <limits>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// Binds a slice without the axes that it makes 1 and drops.
void SliceResult(OpContext& c, std::string value, const std::vector<int64_t>& dropped) {
  if (!dropped.empty()) value = c.Emit("squeeze", {{"x", {value}}}, {{"axis", IntArray(dropped)}});
  // Before 2.5 Paddle had no scalars: dropping the last axis left a [1].
  const MetaTensor& meta = c.Meta(value);
  if (meta.rank_known && meta.rank() == 0 && c.DeclaredRank({"Out", -1}) == 1) value = c.Reshaped(value, {1});
  c.Result({"Out", 0}, value);
}

void Slice(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"Input", 0})}}};
  OpAttrs attrs = {{"axes", c.Attr<std::vector<int64_t>>("axes")}};
  OpContext::Pass("starts", c.IntsOf({"StartsTensor", 1}, {"StartsTensorList"}, "starts"), &inputs, &attrs);
  OpContext::Pass("ends", c.IntsOf({"EndsTensor", 2}, {"EndsTensorList"}, "ends"), &inputs, &attrs);
  SliceResult(c, c.Emit("slice", inputs, attrs), c.Attr<std::vector<int64_t>>("decrease_axis", {}));
}

void StridedSlice(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"Input", 0})}}};
  OpAttrs attrs = {{"axes", c.Attr<std::vector<int64_t>>("axes")}};
  OpContext::Pass("starts", c.IntsOf({"StartsTensor", 1}, {"StartsTensorList"}, "starts"), &inputs, &attrs);
  const std::vector<int64_t> steps = c.KnownInts({"StridesTensor", 3}, {"StridesTensorList"}, "strides");
  Ints ends = c.IntsOf({"EndsTensor", 2}, {"EndsTensorList"}, "ends");
  c.OpenEnds(steps, &ends);
  OpContext::Pass("ends", ends, &inputs, &attrs);
  attrs.emplace_back("steps", steps);
  SliceResult(c, c.Emit("slice", inputs, attrs), c.DescAttr<std::vector<int64_t>>("decrease_axis", {}));
}

void Flip(OpContext& c) {
  const auto axes = c.KnownInts({nullptr, 1}, {nullptr}, "axis");
  // From the last element to before the first.
  const IntArray starts(std::vector<int64_t>(axes.size(), std::numeric_limits<int32_t>::max()));
  const IntArray ends(std::vector<int64_t>(axes.size(), std::numeric_limits<int32_t>::min()));
  c.EmitResult("slice", {{"x", {c.Input({"X", 0})}}},
               {{"axes", axes}, {"starts", starts}, {"ends", ends}, {"steps", std::vector<int64_t>(axes.size(), -1)}});
}

int NormalAxis(OpContext& c, const std::string& x, int64_t axis) {
  const int rank = c.Rank(x);
  if (axis < -rank || axis >= rank) c.Corrupt("the axis is ", axis, " for an input of rank ", rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// Binds `count` equal parts of x along `axis`.
std::vector<std::string> EqualParts(OpContext& c, const std::string& x, int64_t axis, size_t count) {
  constexpr size_t kMostParts = 1U << 16U;
  if (count == 0 || count > kMostParts) c.Corrupt("it makes ", count, " parts");
  OpInputs inputs = {{"x", {x}}};
  OpAttrs attrs = {{"axis", axis}};
  const Dim dim = c.Meta(x).rank_known ? c.Meta(x).dims[static_cast<size_t>(NormalAxis(c, x, axis))] : Dim(-1);
  const auto parts = static_cast<int64_t>(count);
  if (dim.known() && dim.value() >= 0) {
    if (dim.value() % parts != 0)
      c.Corrupt("dimension ", axis, " of ", dim.value(), " is not cut into ", parts, " equal parts");
    attrs.emplace_back("sections", IntArray(std::vector<int64_t>(count, dim.value() / parts)));
  } else {
    const auto at = static_cast<int64_t>(NormalAxis(c, x, axis));
    const std::string size =
        c.Emit("slice", {{"x", {c.Emit("shape", {{"x", {x}}})}}},
               {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({at})}, {"ends", IntArray({at + 1})}});
    const std::string part =
        c.Binary("floor_divide", size, c.ConvertContext::ConstantInts(std::vector<int64_t>{parts}));
    inputs.emplace_back("sections",
                        std::vector<std::string>{c.Emit("expand", {{"x", {part}}}, {{"shape", IntArray({parts})}})});
  }
  return c.EmitMany("split", inputs, attrs, count);
}

// What `convert` makes of a context and an axis, for an axis that a tensor has at run time: a branch for each of the
// `rank` axes, from `axis` on. `inputs` are the values that it uses.
using ByAxis = std::function<std::vector<std::string>(OpContext&, int64_t axis)>;
std::vector<std::string> ChooseAxis(OpContext& c, const std::string& chosen, const std::vector<std::string>& inputs,
                                    int64_t axis, int rank, size_t results, const ByAxis& convert) {
  if (axis + 1 >= rank) return convert(c, axis);
  const std::string cond = c.Binary("equal", chosen, c.Like(chosen, static_cast<double>(axis)));
  BlockBuilder* const branches[] = {&c.block().program().NewBlock(), &c.block().program().NewBlock()};
  for (BlockBuilder* branch : branches) {
    branch->Capture(c.block(), chosen);
    for (const std::string& input : inputs) branch->Capture(c.block(), input);
  }
  OpContext taken(c.op(), branches[0]);
  branches[0]->SetOutputs(convert(taken, axis));
  OpContext other(c.op(), branches[1]);
  branches[1]->SetOutputs(ChooseAxis(other, chosen, inputs, axis + 1, rank, results, convert));
  return c.block().AddIf(cond, branches[0], branches[1], std::vector<std::string>(results, c.Stem()), c.Stem());
}

// The same for an axis that is known now, or for any of x's.
std::vector<std::string> OverAxis(OpContext& c, Param tensor, const std::vector<std::string>& inputs, size_t results,
                                  const ByAxis& convert) {
  const auto axis = c.OptionalInts(tensor, {nullptr}, "axis");
  if (!axis) return convert(c, 0);
  if (axis->values && axis->values->size() != 1) c.Corrupt("it has ", axis->values->size(), " axes, expected one");
  if (axis->values) return convert(c, (*axis->values)[0]);
  const int rank = c.Rank(inputs[0]);
  if (rank == 0) c.Corrupt("its input has rank 0");
  const std::string given = c.Cast(c.Reshaped(axis->tensor, {}), DataType::kInt64);
  const std::string chosen = c.Binary("remainder", given, c.Like(given, static_cast<double>(rank)));
  return ChooseAxis(c, chosen, inputs, 0, rank, results, convert);
}

// How many results it has, which an attribute (0: none) says too.
size_t PartsOf(const OpContext& c, Param out, int64_t num) {
  const size_t count = c.ResultCount(out);
  if (num != 0 && num != static_cast<int64_t>(count)) c.Corrupt("it makes ", num, " parts and has ", count, " results");
  return count;
}

void Split(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const size_t count = PartsOf(c, {"Out", 0}, c.DescAttr<int64_t>("num", 0));
  const auto sections = c.OptionalInts({nullptr, 1}, {"SectionsTensorList"}, "sections");
  const bool equal = !sections || (sections->values && sections->values->empty());
  if (!equal && sections->values && sections->values->size() != count) {
    c.Corrupt("it has ", sections->values->size(), " sections and ", count, " results");
  }
  std::vector<std::string> used = {x};
  if (!equal && !sections->values) used.push_back(sections->tensor);
  const auto parts = OverAxis(c, {"AxisTensor", 2}, used, count, [&](OpContext& at, int64_t axis) {
    if (equal) return EqualParts(at, x, axis, count);
    OpInputs inputs = {{"x", {x}}};
    OpAttrs attrs = {{"axis", axis}};
    OpContext::Pass("sections", *sections, &inputs, &attrs);
    return at.EmitMany("split", inputs, attrs, count);
  });
  for (size_t i = 0; i < parts.size(); ++i) c.Result({"Out", 0}, parts[i], i);
}

void SplitWithNum(OpContext& c) {
  const std::string x = c.Input({nullptr, 0});
  const size_t count = PartsOf(c, {nullptr, 0}, c.Attr<int64_t>("num"));
  const auto parts = OverAxis(c, {nullptr, 1}, {x}, count,
                              [&](OpContext& at, int64_t axis) { return EqualParts(at, x, axis, count); });
  for (size_t i = 0; i < parts.size(); ++i) c.Result({nullptr, 0}, parts[i], i);
}

// The parts of size 1 along an axis, without that axis.
void Unstack(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const auto axis = c.Attr<int64_t>("axis", 0);
  const Param out = {c.op().type == "unstack" ? "Y" : "Out", 0};
  const int64_t num = c.op().type == "unstack" ? c.Attr<int64_t>("num", 0) : 0;
  const auto parts = EqualParts(c, x, axis, PartsOf(c, out, num));
  for (size_t i = 0; i < parts.size(); ++i) {
    c.Result(out, c.Emit("squeeze", {{"x", {parts[i]}}}, {{"axis", IntArray({axis})}}), i);
  }
}

void Concat(OpContext& c) {
  const std::vector<std::string> parts = c.InputList({"X", 0});
  if (parts.empty()) c.Corrupt("it has no input");
  const auto joined = OverAxis(c, {"AxisTensor", 1}, parts, 1, [&](OpContext& at, int64_t axis) {
    return std::vector<std::string>{at.Emit("concat", {{"x", parts}}, {{"axis", axis}})};
  });
  c.Result({"Out", 0}, joined[0]);
}

void Stack(OpContext& c) {
  c.EmitResult("stack", {{"x", c.InputList({nullptr, 0})}}, {{"axis", c.Attr<int64_t>("axis", 0)}});
}

void Gather(OpContext& c) {
  std::string index = c.Input({"Index", 1});
  // A column of positions counts as a list.
  if (c.Rank(index) == 2) index = c.Reshaped(index, {-1});
  c.EmitResult("gather", {{"x", {c.Input({"X", 0})}}, {"index", {index}}},
               {{"axis", c.KnownInt({"Axis", 2}, "axis", 0)}});
}

void IndexSelect(OpContext& c) {
  c.EmitResult("gather", {{"x", {c.Input({"X", 0})}}, {"index", {c.Input({"Index", 1})}}},
               {{"axis", c.Attr<int64_t>(c.pir() ? "axis" : "dim", 0)}});
}

// Version 1: positions have a last dimension of 1, which the result replaces.
void LookupTable(OpContext& c) {
  const std::string ids = c.Emit("squeeze", {{"x", {c.Input({"Ids"})}}}, {{"axis", IntArray({-1})}});
  c.EmitResult("embedding", {{"x", {ids}}, {"weight", {c.Input({"W"})}}},
               {{"padding_idx", c.Attr<int64_t>("padding_idx", -1)}});
}

void OneHot(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const Ints depth = c.IntsOf({"depth_tensor", 1}, {nullptr}, "depth");
  std::string classes;
  if (depth.values) {
    constexpr int64_t kMostClasses = int64_t{1} << 24;
    const bool fits = depth.values->size() == 1 && depth.values->front() >= 1 && depth.values->front() <= kMostClasses;
    if (!fits) c.Unsupported("the number of classes is ", Join(*depth.values, ", "));
    classes = c.Emit("arange", {},
                     {{"start", Scalar(int64_t{0})}, {"end", Scalar(depth.values->front())}, {"dtype", c.TypeOf(x)}});
  } else {
    classes = c.Cast(c.CountTo(c.Cast(depth.tensor, DataType::kInt64)), c.TypeOf(x));
  }
  const std::string column = c.Emit("unsqueeze", {{"x", {x}}}, {{"axis", IntArray({-1})}});
  DataType dtype = c.HasAttr("dtype") ? c.Attr<DataType>("dtype") : DataType::kFloat;
  if (dtype == DataType::kUndefined) dtype = DataType::kFloat;
  c.EmitResult("cast", {{"x", {c.Binary("equal", column, classes)}}}, {{"dtype", dtype}});
}

}  // namespace

REGISTER_CONVERTER(paddle, slice, &Convert<Slice>);
REGISTER_CONVERTER(pir, slice, &Convert<Slice, 3>);
REGISTER_CONVERTER(paddle, strided_slice, &Convert<StridedSlice>);
REGISTER_CONVERTER(pir, strided_slice, &Convert<StridedSlice, 4>);
REGISTER_CONVERTER(paddle, flip, &Convert<Flip>);
REGISTER_CONVERTER(pir, flip, &Convert<Flip, 1>);
REGISTER_CONVERTER(paddle, reverse, &Convert<Flip>);
REGISTER_CONVERTER(pir, reverse, &Convert<Flip, 2>);
REGISTER_CONVERTER(paddle, split, &Convert<Split>);
REGISTER_CONVERTER(pir, split, &Convert<Split, 3>);
REGISTER_CONVERTER(pir, split_with_num, &Convert<SplitWithNum, 2>);
REGISTER_CONVERTER(paddle, unstack, &Convert<Unstack>);
REGISTER_CONVERTER(pir, unstack, &Convert<Unstack, 1>);
REGISTER_CONVERTER(paddle, unbind, &Convert<Unstack>);
REGISTER_CONVERTER(pir, unbind, &Convert<Unstack, 1>);
REGISTER_CONVERTER(paddle, concat, &Convert<Concat>);
REGISTER_CONVERTER(pir, concat, &Convert<Concat, 2>);
REGISTER_CONVERTER(pir, stack, &Convert<Stack, 1>);
REGISTER_CONVERTER(paddle, gather, &Convert<Gather>);
REGISTER_CONVERTER(pir, gather, &Convert<Gather, 3>);
REGISTER_CONVERTER(paddle, index_select, &Convert<IndexSelect>);
REGISTER_CONVERTER(pir, index_select, &Convert<IndexSelect, 2>);
REGISTER_CONVERTER(paddle, lookup_table, &Convert<LookupTable>);
REGISTER_CONVERTER(paddle, one_hot_v2, &Convert<OneHot>);
REGISTER_CONVERTER(pir, one_hot, &Convert<OneHot, 2>);

}  // namespace wherry::paddle
