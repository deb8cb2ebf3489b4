// Convolution, pooling and batch normalisation: the operators that know where channels are.
#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// Binds a result that was computed with channels on axis 1.
void ImageResult(OpContext& c, Param param, const std::string& value, bool channels_last) {
  c.Result(param, channels_last ? c.ToChannelsLast(value) : value);
}

std::string ImageInput(OpContext& c, Param param, bool channels_last) {
  const std::string x = c.Input(param);
  return channels_last ? c.ToChannelsFirst(x) : x;
}

void Conv2d(OpContext& c) {
  if (!c.pir() && c.HasInput({"ResidualData"})) c.Unsupported("input ResidualData is given");
  const bool channels_last = c.ChannelsLast();
  const std::string x = ImageInput(c, {"Input", 0}, channels_last);
  const auto algorithm = c.Attr<std::string>("padding_algorithm", "EXPLICIT");
  // Paddle takes SAME to mean a dilation of 1, whatever the attribute says.
  const std::vector<int64_t> ones = {1, 1};
  const auto dilations = algorithm == "SAME" ? ones : c.Attr<std::vector<int64_t>>("dilations", ones);
  // A Bias, which exporters may leave there, is read by Paddle's fused forms only.
  const std::string y = c.Emit("conv2d", {{"x", {x}}, {"filter", {c.Input({"Filter", 1})}}},
                               {{"strides", c.Attr<std::vector<int64_t>>("strides", {1, 1})},
                                {"paddings", c.Attr<std::vector<int64_t>>("paddings", {0, 0})},
                                {"padding_algorithm", algorithm},
                                {"dilations", dilations},
                                {"groups", c.Attr<int64_t>("groups", 1)}});
  ImageResult(c, {"Output", 0}, y, channels_last);
}

void Conv2dTranspose(OpContext& c) {
  const bool channels_last = c.ChannelsLast();
  const std::string x = ImageInput(c, {"Input", 0}, channels_last);
  auto algorithm = c.Attr<std::string>("padding_algorithm", "EXPLICIT");
  const std::vector<int64_t> ones = {1, 1};
  const auto dilations = algorithm == "SAME" ? ones : c.Attr<std::vector<int64_t>>("dilations", ones);
  // Paddle pads as the convolution of this input would, not as the one that has this result's size.
  if (algorithm == "SAME") algorithm = "SAME_FORWARD";
  OpInputs inputs = {{"x", {x}}, {"filter", {c.Input({"Filter", 1})}}};
  OpAttrs attrs = {{"strides", c.Attr<std::vector<int64_t>>("strides", {1, 1})},
                   {"paddings", c.Attr<std::vector<int64_t>>("paddings", {0, 0})},
                   {"output_padding", c.Attr<std::vector<int64_t>>("output_padding", {})},
                   {"padding_algorithm", algorithm},
                   {"dilations", dilations},
                   {"groups", c.Attr<int64_t>("groups", 1)}};
  if (const auto size = c.OptionalInts({"OutputSizeTensor", 2}, {nullptr}, "output_size")) {
    OpContext::Pass("output_size", *size, &inputs, &attrs);
  }
  ImageResult(c, {"Output", 0}, c.Emit("conv2d_transpose", inputs, attrs), channels_last);
}

void Pool2d(OpContext& c) {
  const bool channels_last = c.ChannelsLast();
  OpInputs inputs = {{"x", {ImageInput(c, {"X", 0}, channels_last)}}};
  OpAttrs attrs = {{"strides", c.Attr<std::vector<int64_t>>("strides", {1, 1})},
                   {"paddings", c.Attr<std::vector<int64_t>>("paddings", {0, 0})},
                   {"ceil_mode", c.Attr<bool>("ceil_mode", false)},
                   {"exclusive", c.Attr<bool>("exclusive", true)},
                   {"pooling_type", c.Attr<std::string>("pooling_type", "max")},
                   {"global_pooling", c.Attr<bool>("global_pooling", false)},
                   {"adaptive", c.Attr<bool>("adaptive", false)},
                   {"padding_algorithm", c.Attr<std::string>("padding_algorithm", "EXPLICIT")}};
  OpContext::Pass("kernel_size", c.IntsOf({nullptr, 1}, {nullptr}, c.pir() ? "kernel_size" : "ksize"), &inputs, &attrs);
  ImageResult(c, {"Out", 0}, c.Emit("pool2d", inputs, attrs), channels_last);
}

void BatchNorm(OpContext& c) {
  const bool channels_last = c.ChannelsLast();
  const std::string x = ImageInput(c, {"X", 0}, channels_last);
  const std::string y = c.Emit("batch_norm",
                               {{"x", {x}},
                                {"mean", {c.Input({"Mean", 1})}},
                                {"variance", {c.Input({"Variance", 2})}},
                                {"scale", {c.OptionalInput({"Scale", 3})}},
                                {"bias", {c.OptionalInput({"Bias", 4})}}},
                               {{"epsilon", c.Attr<double>("epsilon", 1e-5)}});
  ImageResult(c, {"Y", 0}, y, channels_last);
}

void GroupNorm(OpContext& c) {
  const bool channels_last = c.ChannelsLast();
  const std::string x = ImageInput(c, {"X", 0}, channels_last);
  const std::string y = c.Emit(
      "group_norm", {{"x", {x}}, {"scale", {c.OptionalInput({"Scale", 1})}}, {"bias", {c.OptionalInput({"Bias", 2})}}},
      {{"epsilon", c.Attr<double>("epsilon", 1e-5)}, {"groups", c.Attr<int64_t>("groups", 1)}});
  ImageResult(c, {"Y", 0}, y, channels_last);
}

}  // namespace

REGISTER_CONVERTER(paddle, conv2d, &Convert<Conv2d>);
REGISTER_CONVERTER(pir, conv2d, &Convert<Conv2d>);
REGISTER_CONVERTER(paddle, depthwise_conv2d, &Convert<Conv2d>);
REGISTER_CONVERTER(pir, depthwise_conv2d, &Convert<Conv2d>);
REGISTER_CONVERTER(paddle, conv2d_transpose, &Convert<Conv2dTranspose>);
REGISTER_CONVERTER(pir, conv2d_transpose, &Convert<Conv2dTranspose>);
REGISTER_CONVERTER(paddle, depthwise_conv2d_transpose, &Convert<Conv2dTranspose>);
REGISTER_CONVERTER(pir, depthwise_conv2d_transpose, &Convert<Conv2dTranspose>);
REGISTER_CONVERTER(paddle, pool2d, &Convert<Pool2d>);
REGISTER_CONVERTER(pir, pool2d, &Convert<Pool2d>);
REGISTER_CONVERTER(paddle, batch_norm, &Convert<BatchNorm>);
REGISTER_CONVERTER(paddle, sync_batch_norm, &Convert<BatchNorm>);
REGISTER_CONVERTER(pir, batch_norm_, &Convert<BatchNorm>);
REGISTER_CONVERTER(pir, batch_norm, &Convert<BatchNorm>);
REGISTER_CONVERTER(paddle, group_norm, &Convert<GroupNorm>);
REGISTER_CONVERTER(pir, group_norm, &Convert<GroupNorm>);

}  // namespace wherry::paddle
