// Interpolation: {nearest, linear, bilinear, trilinear, bicubic}_interp, whose version 2 PIR has.
#include <cmath>

#include "base/strings.h"
#include "importers/paddle/converter.h"
#include "op/infer/resample.h"

namespace wherry::paddle {

namespace {

enum class Version : uint8_t { k1, k2 };

// Scales, one per axis; empty: none.
struct Scales {
  std::vector<double> known;
  std::string tensor;  // f32, one per axis
  bool empty() const { return known.empty() && tensor.empty(); }
};

Scales ScalesOf(OpContext& c, size_t axes) {
  Scales scales;
  if (const std::string tensor = c.OptionalInput({"Scale", 3}); !tensor.empty()) {
    if (const auto floats = c.ConstantFloats(tensor)) {
      scales.known = *floats;
    } else {
      scales.tensor = c.Emit("expand", {{"x", {c.Reshaped(c.Cast(tensor, DataType::kFloat), {-1})}}},
                             {{"shape", IntArray({static_cast<int64_t>(axes)})}});
      return scales;
    }
  } else if (c.pir() || c.HasAttr("scale")) {
    scales.known = c.Attr<std::vector<double>>("scale");
  }
  if (scales.known.size() == 1) scales.known.resize(axes, scales.known[0]);
  if (scales.known.size() > axes) scales.known.resize(axes);
  if (scales.known.size() < axes || scales.known[0] <= 0.0) scales.known.clear();  // as Paddle: not given
  return scales;
}

// The sizes that scales which are not known give: the product in float, cut off.
std::string ScaledSizes(OpContext& c, const std::string& x, const std::vector<int64_t>& axes, const Scales& scales) {
  const std::string shape = c.Emit(
      "slice", {{"x", {c.Unary("shape", x)}}},
      {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({axes.front()})}, {"ends", IntArray({axes.back() + 1})}});
  const std::string extents = c.Binary("multiply", c.Cast(shape, DataType::kFloat), scales.tensor);
  return c.Cast(c.Unary("floor", extents), DataType::kInt64);
}

// Whether scales leave all extents as they are, so that Paddle copies.
bool KeepsExtents(OpContext& c, const std::string& x, const std::vector<int64_t>& axes, const Scales& scales) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const Dim& dim = c.Meta(x).dims[static_cast<size_t>(axes[i])];
    if (scales.known.empty() || ScaledExtent(dim, scales.known[i]) != dim) return false;
  }
  return true;
}

// What the operator does, which its type says, and an attribute that decides where they differ.
std::string ModeOf(OpContext& c, const std::string& by_type) {
  const auto method = c.Attr<std::string>("interp_method", "");
  if (method.empty()) return by_type;
  if (method == "nearest") return method;
  if (method == "bicubic") return "cubic";
  if (method == "linear" || method == "bilinear" || method == "trilinear") return "linear";
  c.Unsupported("attribute interp_method is ", Quote(method));
}

template <Version kVersion>
void Interpolate(OpContext& c, const std::string& by_type) {
  const std::string mode = ModeOf(c, by_type);
  const std::string x = c.Input({"X", 0});
  const int rank = c.Rank(x);
  if (rank < 3 || rank > 5) c.Corrupt("its input has rank ", rank, ", expected 3 to 5");
  std::vector<int64_t> axes;
  for (int i = 0; i < rank - 2; ++i) axes.push_back(i + (c.ChannelsLast() ? 1 : 2));

  const bool align_corners = c.Attr<bool>("align_corners", true);
  std::string coordinates = "align_corners";
  if (!align_corners) {
    const bool centers = mode == "cubic" || (mode == "linear" && c.Attr<int64_t>("align_mode", 1) == 0);
    coordinates = centers ? "half_pixel" : "asymmetric";
  }
  OpInputs inputs = {{"x", {x}}};
  OpAttrs attrs = {{"axes", axes},
                   {"mode", mode},
                   {"coordinates", coordinates},
                   {"nearest_mode", std::string(align_corners ? "round_prefer_ceil" : "floor")}};

  auto sizes = c.OptionalInts({nullptr}, {"SizeTensor", 2}, "");
  Scales scales;
  if (!sizes) {
    scales = ScalesOf(c, axes.size());
    sizes = c.OptionalInts({"OutSize", 1}, {nullptr}, "");
  }
  if (!sizes && scales.empty()) {
    constexpr const char* kNames[] = {"out_d", "out_h", "out_w"};
    sizes.emplace().values.emplace();
    for (size_t i = 3 - axes.size(); i < 3; ++i) sizes->values->push_back(c.Attr<int64_t>(kNames[i]));
  } else if (!sizes && KeepsExtents(c, x, axes, scales)) {
    return c.EmitResult("assign", inputs);
  }
  if (sizes) {
    OpContext::Pass("size", *sizes, &inputs, &attrs);
  } else if (!scales.tensor.empty()) {
    inputs.emplace_back("size", std::vector<std::string>{ScaledSizes(c, x, axes, scales)});
  }
  if (!scales.tensor.empty()) inputs.emplace_back("scale_tensor", std::vector<std::string>{scales.tensor});
  if (!scales.known.empty()) attrs.emplace_back("scale", scales.known);
  // Corners are those of the whole extents; version 1 has scales for extents only.
  attrs.emplace_back("recompute_scale", kVersion == Version::k1 || align_corners);
  c.EmitResult("interpolate", inputs, attrs);
}

template <Version kVersion>
void Nearest(OpContext& c) {
  Interpolate<kVersion>(c, "nearest");
}
template <Version kVersion>
void Linear(OpContext& c) {
  Interpolate<kVersion>(c, "linear");
}
template <Version kVersion>
void Cubic(OpContext& c) {
  Interpolate<kVersion>(c, "cubic");
}

}  // namespace

REGISTER_CONVERTER(paddle, nearest_interp, &Convert<Nearest<Version::k1>>);
REGISTER_CONVERTER(paddle, linear_interp, &Convert<Linear<Version::k1>>);
REGISTER_CONVERTER(paddle, bilinear_interp, &Convert<Linear<Version::k1>>);
REGISTER_CONVERTER(paddle, trilinear_interp, &Convert<Linear<Version::k1>>);
REGISTER_CONVERTER(paddle, bicubic_interp, &Convert<Cubic<Version::k1>>);
REGISTER_CONVERTER(paddle, nearest_interp_v2, &Convert<Nearest<Version::k2>>);
REGISTER_CONVERTER(paddle, linear_interp_v2, &Convert<Linear<Version::k2>>);
REGISTER_CONVERTER(paddle, bilinear_interp_v2, &Convert<Linear<Version::k2>>);
REGISTER_CONVERTER(paddle, trilinear_interp_v2, &Convert<Linear<Version::k2>>);
REGISTER_CONVERTER(paddle, bicubic_interp_v2, &Convert<Cubic<Version::k2>>);
REGISTER_CONVERTER(pir, nearest_interp, &Convert<Nearest<Version::k2>, 4>);
REGISTER_CONVERTER(pir, linear_interp, &Convert<Linear<Version::k2>, 4>);
REGISTER_CONVERTER(pir, bilinear_interp, &Convert<Linear<Version::k2>, 4>);
REGISTER_CONVERTER(pir, trilinear_interp, &Convert<Linear<Version::k2>, 4>);
REGISTER_CONVERTER(pir, bicubic_interp, &Convert<Cubic<Version::k2>, 4>);

}  // namespace wherry::paddle
