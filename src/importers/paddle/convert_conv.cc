// Convolutions, and the normalisations that know where channels are.
#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

std::string PaddingAlgorithm(const OpContext& c) { return c.Attr<std::string>("padding_algorithm", "EXPLICIT"); }

// The attributes that every convolution of `axes` spatial axes has.
OpAttrs ConvAttrs(OpContext& c, size_t axes, const std::string& algorithm) {
  const std::vector<int64_t> ones(axes, 1);
  return {{"strides", c.Attr<std::vector<int64_t>>("strides", ones)},
          {"paddings", c.Attr<std::vector<int64_t>>("paddings", std::vector<int64_t>(axes, 0))},
          {"padding_algorithm", algorithm},
          // Paddle takes SAME to mean a dilation of 1, whatever the attribute says.
          {"dilations", algorithm == "SAME" ? ones : c.Attr<std::vector<int64_t>>("dilations", ones)},
          {"groups", c.Attr<int64_t>("groups", 1)}};
}

void Conv(OpContext& c, size_t axes) {
  c.Refuse({"ResidualData"});
  const bool channels_last = c.ChannelsLast();
  const std::string x = c.ImageInput({"Input", 0}, channels_last);
  // A Bias, which exporters may leave there, is read by Paddle's fused forms only.
  const std::string y = c.Emit(axes == 2 ? "conv2d" : "conv3d", {{"x", {x}}, {"filter", {c.Input({"Filter", 1})}}},
                               ConvAttrs(c, axes, PaddingAlgorithm(c)));
  c.ImageResult({"Output", 0}, y, channels_last);
}
void Conv2d(OpContext& c) { Conv(c, 2); }
void Conv3d(OpContext& c) { Conv(c, 3); }

void ConvTranspose(OpContext& c, size_t axes) {
  const bool channels_last = c.ChannelsLast();
  OpInputs inputs = {{"x", {c.ImageInput({"Input", 0}, channels_last)}}, {"filter", {c.Input({"Filter", 1})}}};
  OpAttrs attrs = ConvAttrs(c, axes, PaddingAlgorithm(c));
  // Paddle pads as the convolution of this input would, not as the one that has this result's size.
  for (auto& [name, value] : attrs) {
    if (name == "padding_algorithm" && std::get<std::string>(value) == "SAME") value = std::string("SAME_FORWARD");
  }
  attrs.emplace_back("output_padding", c.Attr<std::vector<int64_t>>("output_padding", {}));
  if (const auto size = c.OptionalInts({"OutputSizeTensor", axes == 2 ? 2 : -1}, {nullptr}, "output_size")) {
    OpContext::Pass("output_size", *size, &inputs, &attrs);
  }
  const std::string y = c.Emit(axes == 2 ? "conv2d_transpose" : "conv3d_transpose", inputs, attrs);
  c.ImageResult({"Output", 0}, y, channels_last);
}
void Conv2dTranspose(OpContext& c) { ConvTranspose(c, 2); }
void Conv3dTranspose(OpContext& c) { ConvTranspose(c, 3); }

// Version 1 has no mask.
void DeformableConv(OpContext& c) {
  const bool v1 = c.op().type == "deformable_conv_v1";
  OpAttrs attrs = ConvAttrs(c, 2, "EXPLICIT");
  attrs.emplace_back("deformable_groups", c.Attr<int64_t>("deformable_groups", 1));
  const std::string y = c.Emit("deformable_conv",
                               {{"x", {c.Input({"Input", 0})}},
                                {"offset", {c.Input({"Offset", 1})}},
                                {"filter", {c.Input({"Filter", 2})}},
                                {"mask", {v1 ? "" : c.OptionalInput({"Mask", 3})}}},
                               attrs);
  c.Result({"Output", 0}, y);
}

// out[t] is the sum over the steps from t on, as many as the filter has rows, each times its row: a convolution of each
// channel with a kernel of its own.
void RowConv(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const std::string filter = c.Input({"Filter", 1});
  if (c.Rank(x) != 3) c.Unsupported("the input has ", c.Rank(x), " dimensions, expected batch, steps and channels");
  const MetaTensor& meta = c.Meta(filter);
  if (!meta.rank_known || meta.rank() != 2 || !meta.dims[0].known() || !meta.dims[1].known())
    c.Unsupported("the filter is ", meta.DebugString(), ", expected known steps and channels");
  const int64_t steps = meta.dims[0].value();
  const int64_t channels = meta.dims[1].value();
  const std::string image = c.Emit("unsqueeze", {{"x", {c.Transposed(x, {0, 2, 1})}}}, {{"axis", IntArray({2})}});
  const std::string kernel = c.Reshaped(c.Transposed(filter, {1, 0}), {channels, 1, 1, steps});
  const std::string y = c.Emit("conv2d", {{"x", {image}}, {"filter", {kernel}}},
                               {{"paddings", std::vector<int64_t>{0, 0, 0, steps - 1}}, {"groups", channels}});
  c.EmitResult("transpose", {{"x", {c.Emit("squeeze", {{"x", {y}}}, {{"axis", IntArray({2})}})}}},
               {{"perm", std::vector<int64_t>{0, 2, 1}}});
}

// The weight over its largest singular value, which power_iters steps from u and v approach.
void SpectralNorm(OpContext& c) {
  const std::string weight = c.Input({"Weight", 0});
  const int rank = c.Rank(weight);
  const auto dim = c.Attr<int64_t>("dim", 0);
  if (dim < 0 || dim >= rank) c.Corrupt("attribute dim is ", dim, ", the weight has ", rank, " dimensions");
  std::vector<int64_t> perm = {dim};
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis != dim) perm.push_back(axis);
  }
  const std::string front = dim == 0 ? weight : c.Transposed(weight, perm);
  const std::string matrix =
      rank == 2 ? front : c.Emit("flatten", {{"x", {front}}}, {{"start_axis", int64_t{1}}, {"stop_axis", int64_t{-1}}});
  const auto epsilon = c.Attr<double>("eps", 1e-12);
  const auto normalised = [&](const std::string& x) {
    const std::string squares = c.Emit("sum", {{"x", {c.Unary("square", x)}}});
    return c.Binary("divide", x, c.Scaled(c.Unary("sqrt", squares), 1.0, epsilon));
  };
  const auto product = [&](const std::string& x, bool transposed) {
    return c.Emit("matmul", {{"x", {matrix}}, {"y", {x}}}, {{"transpose_x", transposed}});
  };
  std::string u = c.Reshaped(c.Input({"U", 1}), {-1});
  std::string v = c.Reshaped(c.Input({"V", 2}), {-1});
  for (int64_t i = 0, count = c.Attr<int64_t>("power_iters", 1); i < count; ++i) {
    if (i == 64) c.Unsupported("attribute power_iters is ", count);
    v = normalised(product(u, true));
    u = normalised(product(v, false));
  }
  const std::string sigma = c.Emit("sum", {{"x", {c.Binary("multiply", u, product(v, false))}}});
  c.EmitResult("divide", {{"x", {weight}}, {"y", {sigma}}});
}

void BatchNorm(OpContext& c) {
  const bool channels_last = c.ChannelsLast();
  const std::string x = c.ImageInput({"X", 0}, channels_last);
  std::string mean = c.Input({"Mean", 1});
  std::string variance = c.Input({"Variance", 2});
  const bool own = c.Attr<bool>("trainable_statistics", false) || !c.Attr<bool>("is_test", true);
  if (own && !c.Attr<bool>("use_global_stats", false)) {
    // By the statistics of what it is given, as in training.
    std::vector<int64_t> axes = {0};
    for (int64_t axis = 2; axis < c.Rank(x); ++axis) axes.push_back(axis);
    const auto mean_of = [&](const std::string& value) {
      return c.Emit("mean", {{"x", {value}}}, {{"axis", IntArray(axes)}, {"keepdim", true}});
    };
    const std::string center = mean_of(x);
    mean = c.Reshaped(center, {-1});
    variance = c.Reshaped(mean_of(c.Unary("square", c.Binary("subtract", x, center))), {-1});
  }
  const std::string y = c.Emit("batch_norm",
                               {{"x", {x}},
                                {"mean", {mean}},
                                {"variance", {variance}},
                                {"scale", {c.OptionalInput({"Scale", 3})}},
                                {"bias", {c.OptionalInput({"Bias", 4})}}},
                               {{"epsilon", c.Attr<double>("epsilon", 1e-5)}});
  c.ImageResult({"Y", 0}, y, channels_last);
}

void GroupNorm(OpContext& c) {
  const bool channels_last = c.ChannelsLast();
  const std::string x = c.ImageInput({"X", 0}, channels_last);
  const std::string y = c.Emit(
      "group_norm", {{"x", {x}}, {"scale", {c.OptionalInput({"Scale", 1})}}, {"bias", {c.OptionalInput({"Bias", 2})}}},
      {{"epsilon", c.Attr<double>("epsilon", 1e-5)}, {"groups", c.Attr<int64_t>("groups", 1)}});
  c.ImageResult({"Y", 0}, y, channels_last);
}

}  // namespace

REGISTER_CONVERTER(paddle, conv2d, &Convert<Conv2d>);
REGISTER_CONVERTER(pir, conv2d, &Convert<Conv2d, 2>);
REGISTER_CONVERTER(paddle, depthwise_conv2d, &Convert<Conv2d>);
REGISTER_CONVERTER(pir, depthwise_conv2d, &Convert<Conv2d, 2>);
REGISTER_CONVERTER(paddle, conv2d_transpose, &Convert<Conv2dTranspose>);
REGISTER_CONVERTER(pir, conv2d_transpose, &Convert<Conv2dTranspose, 3>);
REGISTER_CONVERTER(paddle, depthwise_conv2d_transpose, &Convert<Conv2dTranspose>);
REGISTER_CONVERTER(pir, depthwise_conv2d_transpose, &Convert<Conv2dTranspose, 3>);
REGISTER_CONVERTER(paddle, conv3d, &Convert<Conv3d>);
REGISTER_CONVERTER(pir, conv3d, &Convert<Conv3d, 2>);
REGISTER_CONVERTER(paddle, conv3d_transpose, &Convert<Conv3dTranspose>);
REGISTER_CONVERTER(pir, conv3d_transpose, &Convert<Conv3dTranspose, 2>);
REGISTER_CONVERTER(paddle, deformable_conv, &Convert<DeformableConv>);
REGISTER_CONVERTER(paddle, deformable_conv_v1, &Convert<DeformableConv>);
REGISTER_CONVERTER(pir, deformable_conv, &Convert<DeformableConv, 4>);
REGISTER_CONVERTER(paddle, row_conv, &Convert<RowConv>);
REGISTER_CONVERTER(pir, row_conv, &Convert<RowConv, 2>);
REGISTER_CONVERTER(paddle, spectral_norm, &Convert<SpectralNorm>);
REGISTER_CONVERTER(pir, spectral_norm, &Convert<SpectralNorm, 3>);
REGISTER_CONVERTER(paddle, batch_norm, &Convert<BatchNorm>);
REGISTER_CONVERTER(paddle, sync_batch_norm, &Convert<BatchNorm>);
REGISTER_CONVERTER(pir, batch_norm_, &Convert<BatchNorm, 5, 6>);
REGISTER_CONVERTER(pir, batch_norm, &Convert<BatchNorm, 5, 6>);
REGISTER_CONVERTER(pir, sync_batch_norm_, &Convert<BatchNorm, 5, 6>);
REGISTER_CONVERTER(paddle, group_norm, &Convert<GroupNorm>);
REGISTER_CONVERTER(pir, group_norm, &Convert<GroupNorm, 3, 3>);

}  // namespace wherry::paddle
