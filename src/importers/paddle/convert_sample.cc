// Sampling of images and moving them about: grid_sample, affine_grid, roi_align, unfold, fold, temporal_shift, roll.
#include <limits>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void GridSample(OpContext& c) {
  const auto mode = c.Attr<std::string>("mode", "bilinear");
  if (mode != "bilinear" && mode != "nearest") c.Unsupported("attribute mode is ", Quote(mode));
  c.Result({"Output", 0}, c.Emit("grid_sample", {{"x", {c.Input({"X", 0})}}, {"grid", {c.Input({"Grid", 1})}}},
                                 {{"mode", std::string(mode == "nearest" ? "nearest" : "linear")},
                                  {"padding_mode", c.Attr<std::string>("padding_mode", "zeros")},
                                  {"align_corners", c.Attr<bool>("align_corners", true)}}));
}

void AffineGrid(OpContext& c) {
  OpInputs inputs = {{"theta", {c.Input({"Theta", 0})}}};
  OpAttrs attrs = {{"align_corners", c.Attr<bool>("align_corners", true)}};
  OpContext::Pass("size", c.IntsOf({"OutputShape", 1}, {nullptr}, "output_shape"), &inputs, &attrs);
  c.Result({"Output", 0}, c.Emit("affine_grid", inputs, attrs));
}

void RoiAlign(OpContext& c) {
  if (!c.pir() && !c.HasInput({"RoisNum"})) c.Unsupported("its regions have no RoisNum");
  c.EmitResult(
      "roi_align",
      {{"x", {c.Input({"X", 0})}}, {"rois", {c.Input({"ROIs", 1})}}, {"rois_num", {c.OptionalInput({"RoisNum", 2})}}},
      {{"pooled_height", c.Attr<int64_t>("pooled_height", 1)},
       {"pooled_width", c.Attr<int64_t>("pooled_width", 1)},
       {"spatial_scale", c.Attr<double>("spatial_scale", 1.0)},
       {"sampling_ratio", c.Attr<int64_t>("sampling_ratio", -1)},
       {"aligned", c.Attr<bool>("aligned", false)}});
}

OpAttrs PatchAttrs(OpContext& c) {
  OpAttrs attrs;
  for (const char* name : {"strides", "paddings", "dilations"}) {
    attrs.emplace_back(name, c.Attr<std::vector<int64_t>>(name));
  }
  return attrs;
}

void Unfold(OpContext& c) {
  OpAttrs attrs = PatchAttrs(c);
  attrs.emplace_back("kernel_sizes", c.Attr<std::vector<int64_t>>("kernel_sizes"));
  c.Result({"Y", 0}, c.Emit("unfold", {{"x", {c.Input({"X", 0})}}}, attrs));
}

void Fold(OpContext& c) {
  OpAttrs attrs = PatchAttrs(c);
  for (const char* name : {"output_sizes", "kernel_sizes"}) {
    attrs.emplace_back(name, IntArray(c.Attr<std::vector<int64_t>>(name)));
  }
  c.Result({"Y", 0}, c.Emit("fold", {{"x", {c.Input({"X", 0})}}}, attrs));
}

void Roll(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}};
  OpAttrs attrs = {{"axis", c.Attr<std::vector<int64_t>>("axis", {})}};
  OpContext::Pass("shifts", c.IntsOf({"ShiftsTensor", 1}, {nullptr}, "shifts"), &inputs, &attrs);
  c.EmitResult("roll", inputs, attrs);
}

// Of seg_num images in a row, the first channels come from the image before, as many more from the one after.
void TemporalShift(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const int64_t segments = c.Attr<int64_t>("seg_num");
  const double ratio = c.Attr<double>("shift_ratio", 0.25);
  const size_t axis = c.ChannelsLast() ? 3 : 1;
  if (c.Rank(x) != 4) c.Corrupt("its input has rank ", c.Rank(x), ", expected 4");
  if (segments < 1 || segments > std::numeric_limits<int32_t>::max()) c.Corrupt("attribute seg_num is ", segments);
  if (!(ratio >= 0.0 && ratio <= 0.5)) c.Corrupt("attribute shift_ratio is ", ratio);
  const std::vector<Dim>& dims = c.Meta(x).dims;
  if (!dims[axis].known()) c.Unsupported("the number of channels is not known");
  const auto channels = static_cast<double>(dims[axis].value());
  const auto first = static_cast<int64_t>(static_cast<float>(channels) * static_cast<float>(ratio));
  const auto second = static_cast<int64_t>(static_cast<float>(channels) * 2 * static_cast<float>(ratio));

  const std::string shape = c.Unary("shape", x);
  const auto part_of = [&c](const std::string& value, int64_t along, int64_t from, int64_t to) {
    return c.Emit("slice", {{"x", {value}}},
                  {{"axes", std::vector<int64_t>{along}}, {"starts", IntArray({from})}, {"ends", IntArray({to})}});
  };
  // [N, segments, ...]
  const std::string apart_shape = c.Emit(
      "concat", {{"x", {c.ConvertContext::ConstantInts(std::vector<int64_t>{-1, segments}), part_of(shape, 0, 1, 4)}}},
      {{"axis", int64_t{0}}});
  const std::string apart = c.Emit("reshape", {{"x", {x}}, {"shape", {apart_shape}}});
  const auto moved = [&](int64_t from, int64_t to, int64_t before, int64_t after) {
    std::vector<int64_t> paddings(10, 0);
    paddings[1] = before;
    paddings[6] = after;
    return c.Emit("pad", {{"x", {part_of(apart, static_cast<int64_t>(axis) + 1, from, to)}}},
                  {{"paddings", IntArray(paddings)}});
  };
  constexpr int64_t kEnd = std::numeric_limits<int32_t>::max();
  const std::string joined = c.Emit("concat",
                                    {{"x",
                                      {moved(0, first, 1, -1), moved(first, second, -1, 1),
                                       part_of(apart, static_cast<int64_t>(axis) + 1, second, kEnd)}}},
                                    {{"axis", static_cast<int64_t>(axis) + 1}});
  c.EmitResult("reshape", {{"x", {joined}}, {"shape", {shape}}});
}

}  // namespace

REGISTER_CONVERTER(paddle, grid_sampler, &Convert<GridSample>);
REGISTER_CONVERTER(pir, grid_sample, &Convert<GridSample, 2>);
REGISTER_CONVERTER(paddle, affine_grid, &Convert<AffineGrid>);
REGISTER_CONVERTER(pir, affine_grid, &Convert<AffineGrid, 2>);
REGISTER_CONVERTER(paddle, roi_align, &Convert<RoiAlign>);
REGISTER_CONVERTER(pir, roi_align, &Convert<RoiAlign, 3>);
REGISTER_CONVERTER(paddle, unfold, &Convert<Unfold>);
REGISTER_CONVERTER(pir, unfold, &Convert<Unfold, 1>);
REGISTER_CONVERTER(paddle, fold, &Convert<Fold>);
REGISTER_CONVERTER(pir, fold, &Convert<Fold, 1>);
REGISTER_CONVERTER(paddle, roll, &Convert<Roll>);
REGISTER_CONVERTER(pir, roll, &Convert<Roll, 2>);
REGISTER_CONVERTER(paddle, temporal_shift, &Convert<TemporalShift>);
REGISTER_CONVERTER(pir, temporal_shift, &Convert<TemporalShift, 1>);

}  // namespace wherry::paddle
