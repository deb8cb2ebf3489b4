// The same elements under another shape or type.
#include <algorithm>
#include <functional>

#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void Reshape(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}};
  OpAttrs attrs;
  OpContext::Pass("shape", c.IntsOf({"Shape", 1}, {"ShapeTensor"}, "shape"), &inputs, &attrs);
  c.EmitResult("reshape", inputs, attrs);
}

// Unlike ONNX's, it names every axis: without any it is not the reverse.
void Transpose(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const auto perm = c.pir() ? c.Attr<std::vector<int64_t>>("perm") : c.Attr<std::vector<int64_t>>("axis");
  if (perm.empty() && c.Rank(x) != 0) c.Corrupt("it names no axis of an input of rank ", c.Rank(x));
  c.EmitResult("transpose", {{"x", {x}}}, {{"perm", perm}});
}

// To a matrix: the axes before `axis` are its rows.
void FlattenToMatrix(OpContext& c) {
  const std::string x = c.Input({"X"});
  const int rank = c.Rank(x);
  const auto axis = c.Attr<int64_t>("axis", 1);
  if (axis < 0 || axis > rank) c.Corrupt("attribute axis is ", axis, " for an input of rank ", rank);
  if (axis == 0) return c.Result({"Out"}, c.Reshaped(x, {1, -1}));
  if (axis == rank) return c.Result({"Out"}, c.Reshaped(x, {-1, 1}));
  const std::string rows = c.Emit("flatten", {{"x", {x}}}, {{"start_axis", int64_t{0}}, {"stop_axis", axis - 1}});
  c.EmitResult("flatten", {{"x", {rows}}}, {{"start_axis", int64_t{1}}, {"stop_axis", int64_t{-1}}});
}

// One axis after the other, each in what the ones before it gave. That is all at once when they are in order.
void Unsqueeze(OpContext& c) {
  std::string x = c.Input({"X", 0});
  const Ints axes = c.IntsOf({"AxesTensor", 1}, {"AxesTensorList"}, "axes");
  const auto rank = c.DeclaredRank({"Out", 0});
  const int64_t count = !axes.values && rank ? *rank - c.Rank(x) : 0;
  if (count > 1) {
    for (int64_t i = 0; i < count; ++i) {
      const std::string axis =
          c.Emit("slice", {{"x", {axes.tensor}}},
                 {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({i})}, {"ends", IntArray({i + 1})}});
      x = c.Emit("unsqueeze", {{"x", {x}}, {"axis", {axis}}});
    }
    return c.Result({"Out", 0}, x);
  }
  OpInputs inputs = {{"x", {x}}};
  OpAttrs attrs;
  const bool ascending =
      !axes.values || axes.values->size() < 2 ||
      (axes.values->front() >= 0 &&
       std::adjacent_find(axes.values->begin(), axes.values->end(), std::greater_equal<>()) == axes.values->end());
  if (ascending) {
    OpContext::Pass("axis", axes, &inputs, &attrs);
    return c.EmitResult("unsqueeze", inputs, attrs);
  }
  for (const int64_t axis : *axes.values) x = c.Unsqueezed(x, {axis});
  c.Result({"Out", 0}, x);
}

void Squeeze(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({nullptr, 0})}}};
  OpAttrs attrs;
  OpContext::Pass("axis", c.IntsOf({nullptr, 1}, {nullptr}, "axis"), &inputs, &attrs);
  c.EmitResult("squeeze", inputs, attrs);
}

void Expand(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}};
  OpAttrs attrs;
  OpContext::Pass("shape", c.IntsOf({"Shape", 1}, {"expand_shapes_tensor"}, "shape"), &inputs, &attrs);
  c.EmitResult("expand", inputs, attrs);
}

void ExpandAs(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string like = c.OptionalInput({"Y", 1});
  if (like.empty()) {
    return c.EmitResult("expand", {{"x", {x}}}, {{"shape", IntArray(c.Attr<std::vector<int64_t>>("target_shape"))}});
  }
  c.EmitResult("expand", {{"x", {x}}, {"shape", {c.Emit("shape", {{"x", {like}}})}}});
}

void Tile(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}};
  OpAttrs attrs;
  OpContext::Pass("repeats", c.IntsOf({"RepeatTimes", 1}, {"repeat_times_tensor"}, "repeat_times"), &inputs, &attrs);
  c.EmitResult("tile", inputs, attrs);
}

void CastOp(OpContext& c) {
  c.EmitResult("cast", {{"x", {c.Input({"X"})}}}, {{"dtype", c.Attr<DataType>("out_dtype")}});
}

// The number of elements.
void Numel(OpContext& c) { c.EmitResult("prod", {{"x", {c.Emit("shape", {{"x", {c.Input({"Input", 0})}}})}}}); }

// From one device to another.
void Copy(OpContext& c) { c.EmitResult("assign", {{"x", {c.Input({"X", 0})}}}); }

// The values of another tensor in place of one's own.
void AssignOut(OpContext& c) { c.EmitResult("assign", {{"x", {c.Input({nullptr, 0})}}}); }

}  // namespace

REGISTER_CONVERTER(paddle, reshape2, &Convert<Reshape>);
REGISTER_CONVERTER(paddle, reshape, &Convert<Reshape>);
REGISTER_CONVERTER(pir, reshape, &Convert<Reshape, 2>);
REGISTER_CONVERTER(pir, reshape_, &Convert<Reshape, 2>);
REGISTER_CONVERTER(pir, legacy_reshape, &Convert<Reshape, 2>);
REGISTER_CONVERTER(paddle, transpose2, &Convert<Transpose>);
REGISTER_CONVERTER(paddle, transpose, &Convert<Transpose>);
REGISTER_CONVERTER(pir, transpose, &Convert<Transpose, 1>);
REGISTER_CONVERTER(paddle, flatten, &Convert<FlattenToMatrix>);
REGISTER_CONVERTER(paddle, flatten2, &Convert<FlattenToMatrix>);
REGISTER_CONVERTER(paddle, unsqueeze2, &Convert<Unsqueeze>);
REGISTER_CONVERTER(paddle, unsqueeze, &Convert<Unsqueeze>);
REGISTER_CONVERTER(pir, unsqueeze, &Convert<Unsqueeze, 2>);
REGISTER_CONVERTER(pir, unsqueeze_, &Convert<Unsqueeze, 2>);
REGISTER_CONVERTER(pir, squeeze, &Convert<Squeeze, 2>);
REGISTER_CONVERTER(pir, squeeze_, &Convert<Squeeze, 2>);
REGISTER_CONVERTER(paddle, expand_v2, &Convert<Expand>);
REGISTER_CONVERTER(pir, expand, &Convert<Expand, 2>);
REGISTER_CONVERTER(paddle, expand_as_v2, &Convert<ExpandAs>);
REGISTER_CONVERTER(pir, expand_as, &Convert<ExpandAs, 2>);
REGISTER_CONVERTER(paddle, tile, &Convert<Tile>);
REGISTER_CONVERTER(pir, tile, &Convert<Tile, 2>);
REGISTER_CONVERTER(paddle, cast, &Convert<CastOp>);
REGISTER_CONVERTER(paddle, size, &Convert<Numel>);
REGISTER_CONVERTER(pir, numel, &Convert<Numel, 1>);
REGISTER_CONVERTER(paddle, memcpy, &Convert<Copy>);
REGISTER_CONVERTER(paddle, memcpy_d2h, &Convert<Copy>);
REGISTER_CONVERTER(pir, memcpy_d2h, &Convert<Copy, 1>);
REGISTER_CONVERTER(paddle, memcpy_h2d, &Convert<Copy>);
REGISTER_CONVERTER(pir, memcpy_h2d, &Convert<Copy, 1>);
REGISTER_CONVERTER(pir, assign_out_, &Convert<AssignOut, 2>);

}  // namespace wherry::paddle
