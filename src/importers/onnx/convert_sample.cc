// Sampling of images: GridSample, AffineGrid, RoiAlign, Col2Im, CenterCropPad.
#include <numeric>

#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

void GridSample(OnnxContext& c) {
  auto mode = c.Attr<std::string>("mode", c.opset() < 20 ? "bilinear" : "linear");
  if (mode == "bilinear") mode = "linear";  // the names of opset 16
  if (mode == "bicubic") mode = "cubic";
  if (mode == "cubic" && c.Rank(c.Input(0)) != 4) c.Unsupported("cubic sampling of other than images");
  c.EmitResult("grid_sample", {{"x", {c.Input(0)}}, {"grid", {c.Input(1)}}},
               {{"mode", mode},
                {"padding_mode", c.Attr<std::string>("padding_mode", "zeros")},
                {"align_corners", c.Attr<bool>("align_corners", false)}});
}

void AffineGrid(OnnxContext& c) {
  OpInputs inputs = {{"theta", {c.Input(0)}}};
  OpAttrs attrs = {{"align_corners", c.Attr<bool>("align_corners", false)}};
  c.Input(1);
  OnnxContext::Pass("size", *c.IntsAt(1), &inputs, &attrs);
  c.EmitResult("affine_grid", inputs, attrs);
}

void RoiAlign(OnnxContext& c) {
  const auto shift =
      c.Attr<std::string>("coordinate_transformation_mode", c.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if (shift != "half_pixel" && shift != "output_half_pixel") {
    c.Corrupt("attribute coordinate_transformation_mode is ", Quote(shift));
  }
  c.EmitResult("roi_align", {{"x", {c.Input(0)}}, {"rois", {c.Input(1)}}, {"batch_index", {c.Input(2)}}},
               {{"pooled_height", c.Attr<int64_t>("output_height", 1)},
                {"pooled_width", c.Attr<int64_t>("output_width", 1)},
                {"spatial_scale", c.Attr<double>("spatial_scale", 1.0)},
                {"sampling_ratio", c.Attr<int64_t>("sampling_ratio", 0)},
                {"aligned", shift == "half_pixel"},
                {"mode", c.Attr<std::string>("mode", "avg")}});
}

void Col2Im(OnnxContext& c) {
  OpInputs inputs = {{"x", {c.Input(0)}}};
  OpAttrs attrs = {{"strides", c.Attr<std::vector<int64_t>>("strides", {})},
                   {"paddings", c.Attr<std::vector<int64_t>>("pads", {})},
                   {"dilations", c.Attr<std::vector<int64_t>>("dilations", {})}};
  c.Input(1);
  OnnxContext::Pass("output_sizes", *c.IntsAt(1), &inputs, &attrs);
  c.Input(2);
  OnnxContext::Pass("kernel_sizes", *c.IntsAt(2), &inputs, &attrs);
  c.EmitResult("fold", inputs, attrs);
}

// Padding by half of what is missing, cropping by half of what is too much: both have the odd element at the end, and
// what is cropped at one end is a padding that is negative.
void CenterCropPad(OnnxContext& c) {
  const std::string x = c.Input(0);
  const int rank = c.Rank(x);
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (c.HasAttr("axes")) {
    axes = c.Attr<std::vector<int64_t>>("axes");
    for (int64_t& axis : axes) axis = c.Axis(axis, rank);
  }
  c.Input(1);
  const Ints target = *c.IntsAt(1);
  if (target.values && target.values->size() != axes.size()) {
    c.Corrupt("there are ", target.values->size(), " extents for ", axes.size(), " axes");
  }
  // Where each axis stands in the list of extents; at axes.size(), for those that stay as they are, a 0 is added.
  const auto count = static_cast<int64_t>(axes.size());
  std::vector<int64_t> source(static_cast<size_t>(rank), count);
  for (size_t i = 0; i < axes.size(); ++i) source[static_cast<size_t>(axes[i])] = static_cast<int64_t>(i);
  OpInputs inputs = {{"x", {x}}};
  OpAttrs attrs;
  Ints pads;
  bool known = target.values.has_value();
  for (const int64_t axis : axes) known = known && c.Meta(x).dims[static_cast<size_t>(axis)].known();
  if (known) {
    std::vector<int64_t> before;
    std::vector<int64_t> after;
    for (size_t a = 0; a < source.size(); ++a) {
      const bool stays = source[a] == count;
      const int64_t missing = stays ? 0 : (*target.values)[static_cast<size_t>(source[a])] - c.Meta(x).dims[a].value();
      before.push_back(missing / 2);
      after.push_back(missing - missing / 2);
    }
    before.insert(before.end(), after.begin(), after.end());
    pads.values = std::move(before);
  } else {
    const std::string wanted =
        target.values ? c.ConvertContext::ConstantInts(*target.values) : c.Cast(target.tensor, DataType::kInt64);
    const auto gather = [&c](const std::string& list, const std::vector<int64_t>& positions) {
      return c.Emit("gather", {{"x", {list}}, {"index", {c.ConvertContext::ConstantInts(positions)}}},
                    {{"axis", int64_t{0}}});
    };
    const std::string missing = c.Binary("subtract", wanted, gather(c.Unary("shape", x), axes));
    const std::string zero = c.ConvertContext::ConstantInts({0});
    const std::string all = gather(c.Emit("concat", {{"x", {missing, zero}}}, {{"axis", int64_t{0}}}), source);
    const std::string before = c.Binary("divide", all, c.ConvertContext::ConstantInts({2}));
    pads.tensor = c.Emit("concat", {{"x", {before, c.Binary("subtract", all, before)}}}, {{"axis", int64_t{0}}});
  }
  OnnxContext::Pass("paddings", pads, &inputs, &attrs);
  c.EmitResult("pad", inputs, attrs);
}

}  // namespace

REGISTER_CONVERTER(onnx, GridSample, &Convert<GridSample>);
REGISTER_CONVERTER(onnx, AffineGrid, &Convert<AffineGrid>);
REGISTER_CONVERTER(onnx, RoiAlign, &Convert<RoiAlign>);
REGISTER_CONVERTER(onnx, Col2Im, &Convert<Col2Im>);
REGISTER_CONVERTER(onnx, CenterCropPad, &Convert<CenterCropPad>);

}  // namespace wherry::onnx
