// Resampling: Resize of all opsets and what came before it, Upsample.
#include <algorithm>
#include <numeric>

#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

// What an axis is resampled by: axes, and for each its extent or its scale.
struct Request {
  std::vector<int64_t> axes;
  std::vector<double> scales;  // if they are known
  std::string scale_tensor;    // if not
  std::optional<Ints> sizes;
};

// The elements `which` of a list.
template <typename T>
std::vector<T> Selected(const std::vector<T>& list, const std::vector<int64_t>& which) {
  std::vector<T> selected;
  for (const int64_t i : which) selected.push_back(list[static_cast<size_t>(i)]);
  return selected;
}

std::string GatherFrom(OnnxContext& c, const std::string& list, const std::vector<int64_t>& positions) {
  return c.Emit("gather", {{"x", {list}}, {"index", {c.ConvertContext::ConstantInts(positions)}}},
                {{"axis", int64_t{0}}});
}

// Axes that stay as they are need no resampling; what is left is two axes in most networks.
void DropUnchanged(OnnxContext& c, const std::string& x, Request* request) {
  const std::vector<Dim>& dims = c.Meta(x).dims;
  std::optional<std::vector<Dim>> sizes;
  if (request->sizes) {
    if (request->sizes->values) {
      sizes.emplace(request->sizes->values->begin(), request->sizes->values->end());
    } else {
      sizes = c.Meta(request->sizes->tensor).values;
    }
  }
  if (request->scales.empty() && !sizes) return;
  std::vector<int64_t> kept;
  for (size_t i = 0; i < request->axes.size(); ++i) {
    const bool same = sizes ? (*sizes)[i] == dims[static_cast<size_t>(request->axes[i])] : request->scales[i] == 1.0;
    if (!same) kept.push_back(static_cast<int64_t>(i));
  }
  if (kept.size() == request->axes.size()) return;
  request->axes = Selected(request->axes, kept);
  if (!request->scales.empty()) request->scales = Selected(request->scales, kept);
  if (!request->sizes) return;
  Ints& ints = *request->sizes;
  if (ints.values) {
    ints.values = Selected(*ints.values, kept);
    return;
  }
  ints.tensor = GatherFrom(c, ints.tensor, kept);
  ints.values = c.ConvertContext::ConstantInts(ints.tensor);
}

void CheckCount(OnnxContext& c, const char* what, std::optional<size_t> count, const Request& request) {
  if (count && *count != request.axes.size()) {
    c.Corrupt("there are ", *count, " ", what, " for ", request.axes.size(), " axes");
  }
}

std::optional<size_t> CountOf(OnnxContext& c, const std::string& list) {
  const MetaTensor& meta = c.Meta(list);
  if (!meta.rank_known || meta.rank() != 1 || !meta.dims[0].known()) return std::nullopt;
  return static_cast<size_t>(meta.dims[0].value());
}

// An input that is there and not of length 0, as the form with sizes has it.
std::string GivenList(OnnxContext& c, size_t position) {
  std::string value = c.OptionalInput(position);
  if (!value.empty() && CountOf(c, value) == 0U) value.clear();
  return value;
}

void EmitInterpolate(OnnxContext& c, Request request, OpInputs inputs, OpAttrs attrs, bool may_drop) {
  const std::string x = c.Input(0);
  if (may_drop) DropUnchanged(c, x, &request);
  if (request.axes.empty()) return c.EmitResult("assign", {{"x", {x}}});
  inputs.emplace_back("x", std::vector<std::string>{x});
  if (!request.scale_tensor.empty()) {
    // Extents as ONNX Runtime has them: the product in float, cut off.
    const std::string scales = c.Cast(request.scale_tensor, DataType::kFloat);
    const std::string extents = c.Cast(GatherFrom(c, c.Unary("shape", x), request.axes), DataType::kFloat);
    request.sizes.emplace().tensor = c.Cast(c.Unary("floor", c.Binary("multiply", extents, scales)), DataType::kInt64);
    inputs.emplace_back("scale_tensor", std::vector<std::string>{scales});
  }
  if (request.sizes) OnnxContext::Pass("size", *request.sizes, &inputs, &attrs);
  if (!request.scales.empty()) attrs.emplace_back("scale", request.scales);
  attrs.emplace_back("axes", request.axes);
  c.EmitResult("interpolate", inputs, attrs);
}

void SetScales(OnnxContext& c, const std::string& scales, Request* request) {
  CheckCount(c, "scales", CountOf(c, scales), *request);
  if (const auto known = c.ConstantFloats(scales)) {
    request->scales = *known;
  } else {
    request->scale_tensor = scales;
  }
}

std::vector<int64_t> AllAxes(OnnxContext& c) {
  std::vector<int64_t> axes(static_cast<size_t>(c.Rank(c.Input(0))));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// Upsample, and Resize of opset 10, which is the same but that it may shrink.
void ResizeAsymmetric(OnnxContext& c) {
  Request request;
  request.axes = AllAxes(c);
  if (c.HasInput(1)) {
    SetScales(c, c.Input(1), &request);
  } else if (c.HasAttr("height_scale")) {
    request.axes = {2, 3};  // opset 1
    request.scales = {c.Attr<double>("height_scale"), c.Attr<double>("width_scale")};
    if (c.Rank(c.Input(0)) != 4) c.Corrupt("the input has ", c.Rank(c.Input(0)), " dimensions, expected 4");
  } else {
    request.scales = c.Attr<std::vector<double>>("scales");
    CheckCount(c, "scales", request.scales.size(), request);
  }
  const auto mode = c.Attr<std::string>("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "bilinear") c.Corrupt("attribute mode is ", Quote(mode));
  EmitInterpolate(c, std::move(request), {},
                  {{"mode", std::string(mode == "nearest" ? "nearest" : "linear")},
                   {"coordinates", std::string("asymmetric")},
                   {"nearest_mode", std::string("simple")}},
                  /*may_drop=*/true);
}

void Resize(OnnxContext& c) {
  if (c.opset() < 11) return ResizeAsymmetric(c);
  Request request;
  if (c.HasAttr("axes")) {
    const int rank = c.Rank(c.Input(0));
    for (const int64_t axis : c.Attr<std::vector<int64_t>>("axes")) request.axes.push_back(c.Axis(axis, rank));
  } else {
    request.axes = AllAxes(c);
  }
  const std::string scales = GivenList(c, 2);
  const std::string sizes = GivenList(c, 3);
  if (scales.empty() == sizes.empty()) c.Corrupt("it needs either scales or sizes");
  OpInputs inputs;
  const auto policy = c.Attr<std::string>("keep_aspect_ratio_policy", "stretch");
  const auto coordinates = c.Attr<std::string>("coordinate_transformation_mode", "half_pixel");
  OpAttrs attrs = {{"mode", c.Attr<std::string>("mode", "nearest")},
                   {"coordinates", coordinates},
                   {"nearest_mode", c.Attr<std::string>("nearest_mode", "round_prefer_floor")},
                   {"keep_aspect_ratio", policy},
                   {"cubic_coefficient", c.Attr<double>("cubic_coeff_a", -0.75)},
                   {"exclude_outside", c.Attr<bool>("exclude_outside", false)},
                   {"antialias", c.Attr<bool>("antialias", false)},
                   {"extrapolation_value", c.Attr<double>("extrapolation_value", 0.0)}};
  if (!scales.empty()) {
    SetScales(c, scales, &request);
  } else {
    CheckCount(c, "sizes", CountOf(c, sizes), request);
    request.sizes = c.IntsAt(3);
  }
  const bool crops = coordinates == "tf_crop_and_resize";
  if (crops) {
    const std::string roi = GivenList(c, 1);
    if (roi.empty()) c.Corrupt("roi is missing");
    inputs.emplace_back("roi", std::vector<std::string>{c.Cast(roi, DataType::kFloat)});
  }
  EmitInterpolate(c, std::move(request), std::move(inputs), std::move(attrs),
                  /*may_drop=*/!crops && policy == "stretch");
}

}  // namespace

REGISTER_CONVERTER(onnx, Resize, &Convert<Resize>);
REGISTER_CONVERTER(onnx, Upsample, &Convert<ResizeAsymmetric>);

}  // namespace wherry::onnx
