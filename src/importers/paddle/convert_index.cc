// Elements put in or picked out by positions and masks.
#include <algorithm>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// The value of set_value shaped so that it broadcasts to the part of x as slice gives it. Files think of a part without
// the axes `dropped`, which a single position picked, and with further ones of 1 before x's axes `added`.
std::string FitToPart(OpContext& c, std::string value, int64_t rank, const std::vector<int64_t>& dropped,
                      const std::vector<int64_t>& added) {
  // The axes that the value is aligned with, -1 for an added one.
  std::vector<int64_t> axes;
  size_t next = 0;
  for (int64_t i = 0; i <= rank; ++i) {
    for (; next < added.size() && (added[next] <= i || i == rank); ++next) axes.push_back(-1);
    if (i < rank && std::find(dropped.begin(), dropped.end(), i) == dropped.end()) axes.push_back(i);
  }
  const auto value_rank = static_cast<size_t>(c.Rank(value));
  std::vector<int64_t> surplus;  // of the value's axes
  std::vector<int64_t> kept;     // of x
  for (size_t i = 0; i < value_rank; ++i) {
    const bool before_all = value_rank - i > axes.size();
    const int64_t axis = before_all ? -1 : axes[axes.size() - (value_rank - i)];
    if (axis < 0) {
      surplus.push_back(static_cast<int64_t>(i));
    } else {
      kept.push_back(axis);
    }
  }
  value = c.Squeezed(value, surplus);
  if (kept.empty()) return value;
  std::vector<int64_t> missing;
  for (int64_t i = kept[0]; i < rank; ++i) {
    if (std::find(kept.begin(), kept.end(), i) == kept.end()) missing.push_back(i - kept[0]);
  }
  return c.Unsqueezed(value, missing);
}

void SetValue(OpContext& c) {
  const bool from_tensor = c.op().type.find("with_tensor") != std::string::npos;
  const int first = from_tensor ? 2 : 1;
  const std::string x = c.Input({"Input", 0});
  std::string value = c.OptionalInput({"ValueTensor", from_tensor ? 1 : -1});
  if (value.empty()) {
    const auto shape = c.Attr<std::vector<int64_t>>("shape");
    value = c.Constant(TensorOfScalars(Shape(shape), c.ListedValues(), c.TypeOf(x)));
  }
  const int rank = c.Rank(x);
  std::vector<int64_t> dropped;
  for (const int64_t axis : c.Attr<std::vector<int64_t>>("decrease_axes", {})) dropped.push_back(c.Axis(axis, rank));
  value = FitToPart(c, c.Cast(value, c.TypeOf(x)), rank, dropped, c.Attr<std::vector<int64_t>>("none_axes", {}));
  OpInputs inputs = {{"x", {x}}, {"value", {value}}};
  OpAttrs attrs = {{"axes", c.Attr<std::vector<int64_t>>("axes")}};
  OpContext::Pass("starts", c.IntsOf({nullptr, first}, {"StartsTensorList"}, "starts"), &inputs, &attrs);
  const Ints steps = c.IntsOf({nullptr, first + 2}, {"StepsTensorList"}, "steps");
  Ints ends = c.IntsOf({nullptr, first + 1}, {"EndsTensorList"}, "ends");
  c.OpenEnds(steps.values, &ends);
  OpContext::Pass("ends", ends, &inputs, &attrs);
  OpContext::Pass("steps", steps, &inputs, &attrs);
  c.EmitResult("set_value", inputs, attrs);
}

// Positions as rows, one number for each axis, of tensors that broadcast to one shape or of masks; and that shape, or
// for masks the number of rows.
struct Positions {
  std::string rows;
  std::string shape;
  int64_t depth = 0;
};
Positions PositionsOf(OpContext& c, const std::vector<std::string>& indices) {
  Positions positions;
  std::vector<std::string> lists;
  for (const std::string& index : indices) {
    if (c.TypeOf(index) != DataType::kBool) {
      lists.push_back(c.Cast(index, DataType::kInt64));
      ++positions.depth;
      continue;
    }
    const std::string found = c.Unary("nonzero", index);
    const int rank = c.Rank(index);
    if (indices.size() == 1) return {found, c.Dimension(found, 0), rank};
    for (int64_t i = 0; i < rank; ++i, ++positions.depth) {
      lists.push_back(c.Squeezed(
          c.Emit("slice", {{"x", {found}}},
                 {{"axes", std::vector<int64_t>{1}}, {"starts", IntArray({i})}, {"ends", IntArray({i + 1})}}),
          {1}));
    }
  }
  // Sums of zeros have the common shape.
  std::string common = lists[0];
  for (size_t i = 1; i < lists.size(); ++i) common = c.Binary("add", common, lists[i]);
  positions.shape = c.Unary("shape", common);
  for (std::string& list : lists) list = c.Unsqueezed(c.Expanded(list, positions.shape), {-1});
  positions.rows = lists.size() == 1 ? lists[0] : c.Emit("concat", {{"x", lists}}, {{"axis", int64_t{-1}}});
  return positions;
}

// The dimensions of x from `axis` on, as a list.
std::string DimensionsFrom(OpContext& c, const std::string& x, int64_t axis) {
  return c.Emit("slice", {{"x", {c.Unary("shape", x)}}},
                {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({axis})}, {"ends", IntArray({INT32_MAX})}});
}

void IndexPut(OpContext& c) {
  const std::string x = c.Input({"x", 0});
  const std::vector<std::string> indices = c.InputList({"indices", 1});
  if (indices.empty()) c.Corrupt("it has no indices");
  const Positions positions = PositionsOf(c, indices);
  const int rank = c.Rank(x);
  if (positions.depth > rank) c.Corrupt("it has ", positions.depth, " indices for an input of rank ", rank);
  const std::string shape =
      positions.depth == rank ? positions.shape : c.Joined({positions.shape, DimensionsFrom(c, x, positions.depth)});
  const std::string value = c.Expanded(c.Cast(c.Input({"value", 2}), c.TypeOf(x)), shape);
  const char* reduce = c.Attr<bool>("accumulate", false) ? "add" : "assign";
  c.Result({"out", 0}, c.Emit("scatter_nd", {{"x", {x}}, {"index", {positions.rows}}, {"updates", {value}}},
                              {{"reduce", std::string(reduce)}}));
}

// One number for each slice along an axis as positions along it for every element of `like`.
std::string SpreadAlong(OpContext& c, const std::string& index, const std::string& like, int64_t axis, int rank) {
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = -1;
  return c.Expanded(c.Reshaped(index, shape), c.Unary("shape", like));
}

void IndexAdd(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string value = c.Input({"AddValue", 2});
  const int rank = c.Rank(x);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis", 0), rank);
  c.EmitResult("put_along_axis",
               {{"x", {x}},
                {"index", {SpreadAlong(c, c.Input({"Index", 1}), value, axis, rank)}},
                {"value", {c.Cast(value, c.TypeOf(x))}}},
               {{"axis", axis}, {"reduce", std::string("add")}});
}

// Rows of x replaced; without `overwrite`, by the sum of all that are given for them.
void Scatter(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  std::string index = c.Input({"Ids", 1});
  std::string updates = c.Input({"Updates", 2});
  const bool overwrite = c.Attr<bool>("overwrite", true);
  if (c.Rank(index) == 2) index = c.Reshaped(index, {-1});
  if (c.Rank(index) == 0) index = c.Reshaped(index, {1});
  const int rank = c.Rank(x);
  if (rank == 0) c.Corrupt("its input is a scalar");
  if (c.Rank(updates) < rank) updates = c.Unsqueezed(updates, {0});
  if (overwrite) {
    return c.EmitResult("scatter_nd", {{"x", {x}}, {"index", {c.Unsqueezed(index, {-1})}}, {"updates", {updates}}});
  }
  c.EmitResult("put_along_axis",
               {{"x", {x}}, {"index", {SpreadAlong(c, index, updates, 0, rank)}}, {"value", {updates}}},
               {{"axis", int64_t{0}}, {"reduce", std::string("add")}, {"include_self", false}});
}

void PutAlongAxis(OpContext& c) {
  const std::string x = c.Input({"Input", 0});
  const std::string index = c.Input({"Index", 1});
  auto reduce = c.Attr<std::string>(c.pir() ? "reduce" : "Reduce", "assign");
  if (reduce == "multiply") reduce = "mul";
  if (reduce == "amax") reduce = "max";
  if (reduce == "amin") reduce = "min";
  const std::string value = c.Expanded(c.Cast(c.Input({"Value", 2}), c.TypeOf(x)), c.Unary("shape", index));
  c.Result({"Result", 0}, c.Emit("put_along_axis", {{"x", {x}}, {"index", {index}}, {"value", {value}}},
                                 {{"axis", c.Attr<int64_t>(c.pir() ? "axis" : "Axis", 0)},
                                  {"reduce", reduce},
                                  {"include_self", c.Attr<bool>(c.pir() ? "include_self" : "Include_self", true)}}));
}

// x and a mask, broadcast to one shape.
std::pair<std::string, std::string> Broadcast(OpContext& c, const std::string& x, const std::string& mask) {
  const MetaTensor& have = c.Meta(x);
  const MetaTensor& want = c.Meta(mask);
  if (have.rank_known && want.rank_known && have.dims == want.dims) return {x, mask};
  // A sum of zeros has the common shape.
  const std::string zeros = c.Binary(
      "logical_and", c.Emit("full_like", {{"x", {x}}}, {{"value", Scalar(false)}, {"dtype", DataType::kBool}}), mask);
  const std::string shape = c.Unary("shape", zeros);
  return {c.Expanded(x, shape), c.Expanded(mask, shape)};
}

void MaskedSelect(OpContext& c) {
  const auto [x, mask] = Broadcast(c, c.Input({"X", 0}), c.Input({"Mask", 1}));
  c.Result({"Y", 0}, c.Emit("gather_nd", {{"x", {x}}, {"index", {c.Unary("nonzero", mask)}}}));
}

void MaskedFill(OpContext& c) {
  const std::string x = c.Input({"x", 0});
  const std::string value = c.Cast(c.Input({"value", 2}), c.TypeOf(x));
  c.Result({"out", 0}, c.Emit("where", {{"condition", {c.Input({"mask", 1})}}, {"x", {value}}, {"y", {x}}}));
}

// Row i of the result is row i of the input that Ids[i] names.
void Multiplex(OpContext& c) {
  const std::string all = c.Emit("stack", {{"x", c.InputList({"X", 0})}}, {{"axis", int64_t{0}}});
  const std::string which = c.Reshaped(c.Cast(c.Input({"Ids", 1}), DataType::kInt64), {-1, 1});
  const std::string rows = c.Unsqueezed(c.CountTo(c.Dimension(which, 0)), {1});
  const std::string index = c.Emit("concat", {{"x", {which, rows}}}, {{"axis", int64_t{1}}});
  c.EmitResult("gather_nd", {{"x", {all}}, {"index", {index}}});
}

// The elements along `axis`, each as often as its place in `repeats` says.
std::string Repeated(OpContext& c, const std::string& x, const std::string& repeats, int64_t axis) {
  // Place i is filled from the first element whose copies, with all before it, are more than i.
  const std::string ends = c.Emit("cumsum", {{"x", {repeats}}}, {{"axis", Scalar(int64_t{0})}});
  const std::string places = c.CountTo(c.Emit("sum", {{"x", {repeats}}}, {{"keepdim", true}}));
  const std::string index = c.Emit("searchsorted", {{"sequence", {ends}}, {"values", {places}}}, {{"right", true}});
  return c.Emit("gather", {{"x", {x}}, {"index", {index}}}, {{"axis", axis}});
}

void RepeatInterleave(OpContext& c) {
  std::string x = c.Input({"X", 0});
  const int64_t axis = c.Axis(c.Attr<int64_t>(c.pir() ? "axis" : "dim", 0), c.Rank(x));
  const std::string repeats = c.OptionalInput({"RepeatsTensor", 1});
  if (!repeats.empty()) {
    const std::string list = c.Cast(c.Reshaped(repeats, {-1}), DataType::kInt64);
    return c.EmitResult("assign", {{"x", {Repeated(c, x, c.Expanded(list, c.Dimension(x, axis)), axis)}}});
  }
  const auto times = c.Attr<int64_t>(c.pir() ? "repeats" : "Repeats");
  if (times < 0) c.Corrupt("it repeats ", times, " times");
  const std::string list =
      c.Expanded(c.ConvertContext::ConstantInts(std::vector<int64_t>{times}), c.Dimension(x, axis));
  c.EmitResult("assign", {{"x", {Repeated(c, x, list, axis)}}});
}

}  // namespace

REGISTER_CONVERTER(paddle, set_value, &Convert<SetValue>);
REGISTER_CONVERTER(pir, set_value, &Convert<SetValue, 4>);
REGISTER_CONVERTER(pir, set_value_, &Convert<SetValue, 4>);
REGISTER_CONVERTER(pir, set_value_with_tensor, &Convert<SetValue, 5>);
REGISTER_CONVERTER(pir, set_value_with_tensor_, &Convert<SetValue, 5>);
REGISTER_CONVERTER(paddle, index_put, &Convert<IndexPut>);
REGISTER_CONVERTER(pir, index_put, &Convert<IndexPut, 3>);
REGISTER_CONVERTER(pir, index_put_, &Convert<IndexPut, 3>);
REGISTER_CONVERTER(paddle, index_add, &Convert<IndexAdd>);
REGISTER_CONVERTER(pir, index_add, &Convert<IndexAdd, 3>);
REGISTER_CONVERTER(pir, index_add_, &Convert<IndexAdd, 3>);
REGISTER_CONVERTER(paddle, scatter, &Convert<Scatter>);
REGISTER_CONVERTER(pir, scatter, &Convert<Scatter, 3>);
REGISTER_CONVERTER(pir, scatter_, &Convert<Scatter, 3>);
REGISTER_CONVERTER(paddle, put_along_axis, &Convert<PutAlongAxis>);
REGISTER_CONVERTER(pir, put_along_axis, &Convert<PutAlongAxis, 3>);
REGISTER_CONVERTER(pir, put_along_axis_, &Convert<PutAlongAxis, 3>);
REGISTER_CONVERTER(paddle, masked_select, &Convert<MaskedSelect>);
REGISTER_CONVERTER(pir, masked_select, &Convert<MaskedSelect, 2>);
REGISTER_CONVERTER(paddle, masked_fill, &Convert<MaskedFill>);
REGISTER_CONVERTER(pir, masked_fill, &Convert<MaskedFill, 3>);
REGISTER_CONVERTER(pir, masked_fill_, &Convert<MaskedFill, 3>);
REGISTER_CONVERTER(paddle, multiplex, &Convert<Multiplex>);
REGISTER_CONVERTER(pir, multiplex, &Convert<Multiplex, 2>);
REGISTER_CONVERTER(paddle, repeat_interleave, &Convert<RepeatInterleave>);
REGISTER_CONVERTER(pir, repeat_interleave, &Convert<RepeatInterleave, 1>);
REGISTER_CONVERTER(pir, repeat_interleave_with_tensor_index, &Convert<RepeatInterleave, 2>);

}  // namespace wherry::paddle
