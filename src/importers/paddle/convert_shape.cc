// The same elements under another shape or type.
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void Reshape(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}};
  OpAttrs attrs;
  OpContext::Pass("shape", c.IntsOf({"Shape", 1}, {"ShapeTensor"}, "shape"), &inputs, &attrs);
  c.EmitResult("reshape", inputs, attrs);
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

void Unsqueeze(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}};
  OpAttrs attrs;
  OpContext::Pass("axis", c.IntsOf({"AxesTensor", 1}, {"AxesTensorList"}, "axes"), &inputs, &attrs);
  c.EmitResult("unsqueeze", inputs, attrs);
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

// The values of another tensor in place of one's own.
void AssignOut(OpContext& c) { c.EmitResult("assign", {{"x", {c.Input({nullptr, 0})}}}); }

}  // namespace

REGISTER_CONVERTER(paddle, reshape2, &Convert<Reshape>);
REGISTER_CONVERTER(paddle, reshape, &Convert<Reshape>);
REGISTER_CONVERTER(pir, reshape, &Convert<Reshape>);
REGISTER_CONVERTER(pir, reshape_, &Convert<Reshape>);
REGISTER_CONVERTER(pir, legacy_reshape, &Convert<Reshape>);
REGISTER_CONVERTER(paddle, flatten, &Convert<FlattenToMatrix>);
REGISTER_CONVERTER(paddle, flatten2, &Convert<FlattenToMatrix>);
REGISTER_CONVERTER(paddle, unsqueeze2, &Convert<Unsqueeze>);
REGISTER_CONVERTER(paddle, unsqueeze, &Convert<Unsqueeze>);
REGISTER_CONVERTER(pir, unsqueeze, &Convert<Unsqueeze>);
REGISTER_CONVERTER(pir, unsqueeze_, &Convert<Unsqueeze>);
REGISTER_CONVERTER(pir, squeeze, &Convert<Squeeze>);
REGISTER_CONVERTER(pir, squeeze_, &Convert<Squeeze>);
REGISTER_CONVERTER(paddle, expand_v2, &Convert<Expand>);
REGISTER_CONVERTER(pir, expand, &Convert<Expand>);
REGISTER_CONVERTER(paddle, expand_as_v2, &Convert<ExpandAs>);
REGISTER_CONVERTER(pir, expand_as, &Convert<ExpandAs>);
REGISTER_CONVERTER(paddle, tile, &Convert<Tile>);
REGISTER_CONVERTER(pir, tile, &Convert<Tile>);
REGISTER_CONVERTER(paddle, cast, &Convert<CastOp>);
REGISTER_CONVERTER(paddle, size, &Convert<Numel>);
REGISTER_CONVERTER(pir, numel, &Convert<Numel>);
REGISTER_CONVERTER(pir, assign_out_, &Convert<AssignOut>);

}  // namespace wherry::paddle
