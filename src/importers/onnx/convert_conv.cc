// Convolutions and the normalisations that know where channels are. What has one spatial axis becomes an image of
// height 1.
#include "importers/onnx/convert_conv.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/strings.h"

namespace wherry::onnx {

namespace {

// The epilogue that adds operand 0 to each channel, where there is one.
Epilogue BiasEpilogue(const std::string& bias) {
  Epilogue epilogue;
  if (bias.empty()) return epilogue;
  EpilogueStep step;
  step.kind = EpilogueStep::Kind::kBias;
  step.operand = 0;
  epilogue.steps.push_back(step);
  return epilogue;
}

// How many spatial axes x and filter have; what else the operator says about the filter must be true of it.
size_t ConvAxes(OnnxContext& c, const std::string& x, const std::string& filter) {
  const MetaTensor& filter_meta = c.Meta(filter);
  const size_t axes = SpatialAxes(c, filter_meta.rank_known ? filter_meta.rank() : c.Rank(x), "the filter");
  if (const MetaTensor& meta = c.Meta(x); meta.rank_known && static_cast<size_t>(meta.rank()) != axes + 2) {
    c.Corrupt("the input has ", meta.rank(), " dimensions, the filter ", axes + 2);
  }
  if (c.HasAttr("kernel_shape") && filter_meta.rank_known) {
    const std::vector<int64_t> kernel = PerAxis(c, "kernel_shape", axes, 1);
    for (size_t i = 0; i < axes; ++i) {
      const Dim& dim = filter_meta.dims[i + 2];
      if (dim.known() && dim.value() != kernel[i]) {
        c.Corrupt("attribute kernel_shape is [", Join(kernel, ","), "], the filter is ", filter_meta.DebugString());
      }
    }
  }
  return axes;
}

void Conv(OnnxContext& c) { c.Bind(0, EmitConv(c, c.Input(0), c.Input(1), c.OptionalInput(2))); }

void ConvTranspose(OnnxContext& c) {
  std::string x = c.Input(0);
  std::string filter = c.Input(1);
  const std::string bias = c.OptionalInput(2);
  const size_t axes = ConvAxes(c, x, filter);
  Window window = WindowOf(c, axes);
  std::vector<int64_t> output_size;
  if (c.HasAttr("output_shape")) {
    // The paddings follow from it, whatever `pads` says. Some exporters put batch and channels in front.
    output_size = c.Attr<std::vector<int64_t>>("output_shape");
    if (output_size.size() == axes + 2) output_size.erase(output_size.begin(), output_size.begin() + 2);
    if (output_size.size() != axes) c.Corrupt("attribute output_shape has ", output_size.size(), " values");
    output_size = WithHeight(output_size, 1);
    if (window.padding_algorithm != "SAME") window.padding_algorithm = "SAME_LOWER";
  }
  if (axes == 1) {
    x = c.Unsqueezed(x, {2});
    filter = c.Unsqueezed(filter, {2});
  }
  const std::string y = c.Emit(axes == 3 ? "conv3d_transpose" : "conv2d_transpose",
                               {{"x", {x}}, {"filter", {filter}}, {"operands", {bias}}},
                               {{"strides", window.strides},
                                {"paddings", window.paddings},
                                {"output_size", IntArray(output_size)},
                                {"output_padding", WithHeight(PerAxis(c, "output_padding", axes, 0), 0)},
                                {"padding_algorithm", window.padding_algorithm},
                                {"dilations", window.dilations},
                                {"groups", c.Attr<int64_t>("group", 1)},
                                {"epilogue", BiasEpilogue(bias)}});
  c.Bind(0, axes == 1 ? c.Squeezed(y, {2}) : y);
}

void DeformConv(OnnxContext& c) {
  const std::string x = c.Input(0);
  const std::string filter = c.Input(1);
  const std::string bias = c.OptionalInput(3);
  if (ConvAxes(c, x, filter) != 2) c.Unsupported("the filter has no two spatial axes");
  const Window window = WindowOf(c, 2);
  const std::string y = c.Emit(
      "deformable_conv", {{"x", {x}}, {"offset", {c.Input(2)}}, {"filter", {filter}}, {"mask", {c.OptionalInput(4)}}},
      {{"strides", window.strides},
       {"paddings", window.paddings},
       {"dilations", window.dilations},
       {"groups", c.Attr<int64_t>("group", 1)},
       {"deformable_groups", c.Attr<int64_t>("offset_group", 1)}});
  c.Bind(0, bias.empty() ? y : c.Binary("add", y, c.Unsqueezed(bias, {1, 2})));
}

// With the statistics of this input, in f32 at least; results 1 and 2 are the running ones after it.
void NormalizeBatch(OnnxContext& c) {
  const std::string x = c.Input(0);
  const int64_t rank = c.Rank(x);
  if (rank < 2) c.Corrupt("the input has ", rank, " dimensions");
  const DataType precise = c.TypeOf(x) == DataType::kFP64 ? DataType::kFP64 : DataType::kFloat;
  std::vector<int64_t> others = {0};
  std::vector<int64_t> behind;
  for (int64_t i = 2; i < rank; ++i) {
    others.push_back(i);
    behind.push_back(i - 1);
  }
  const auto by_channel = [&](const std::string& value) {
    return behind.empty() ? value : c.Unsqueezed(value, behind);
  };
  const OpAttrs over = {{"axis", IntArray(others)}};
  const std::string wide = c.Cast(x, precise);
  const std::string mean = c.Emit("mean", {{"x", {wide}}}, over);
  const std::string centred = c.Binary("subtract", wide, by_channel(mean));
  const std::string variance = c.Emit("mean", {{"x", {c.Unary("square", centred)}}}, over);
  const std::string factor = c.Binary("multiply", c.Cast(c.Input(1), precise),
                                      c.Unary("rsqrt", c.Scaled(variance, 1.0, c.Attr<double>("epsilon", 1e-5))));
  const std::string y =
      c.Binary("add", c.Binary("multiply", centred, by_channel(factor)), by_channel(c.Cast(c.Input(2), precise)));
  c.Bind(0, c.Cast(y, c.TypeOf(x)));
  const auto momentum = c.Attr<double>("momentum", 0.9);
  const auto running = [&](size_t input, const std::string& now) {
    const std::string before = c.Input(input);
    const std::string kept = c.Scaled(c.Cast(before, precise), momentum);
    return c.Cast(c.Binary("add", kept, c.Scaled(now, 1.0 - momentum)), c.TypeOf(before));
  };
  c.Bind(1, running(3, mean));
  c.Bind(2, running(4, variance));
}

void BatchNormalization(OnnxContext& c) {
  if (c.Attr<bool>("training_mode", false)) return NormalizeBatch(c);
  if (!c.Attr<bool>("spatial", true)) c.Unsupported("attribute spatial is 0");
  // Below opset 7, is_test 0 meant the statistics of this input; they and not the given ones are then results.
  if (c.opset() < 7 && !c.Attr<bool>("is_test", false)) c.Unsupported("attribute is_test is 0");
  c.EmitResult("batch_norm",
               {{"x", {c.Input(0)}},
                {"scale", {c.Input(1)}},
                {"bias", {c.Input(2)}},
                {"mean", {c.Input(3)}},
                {"variance", {c.Input(4)}}},
               {{"epsilon", c.Attr<double>("epsilon", 1e-5)}});
}

void GroupNormalization(OnnxContext& c) {
  const std::string x = c.Input(0);
  const auto groups = c.Attr<int64_t>("num_groups");
  if (groups < 1) c.Corrupt("attribute num_groups is ", groups);
  std::string scale = c.Input(1);
  std::string bias = c.Input(2);
  if (c.opset() < 21) {
    // One scale and bias per group, which all its channels get.
    if (c.Rank(x) < 2 || !c.Meta(x).dims[1].known()) c.Unsupported("the number of channels is not known");
    const int64_t channels = c.Meta(x).dims[1].value();
    if (channels % groups != 0) c.Corrupt(channels, " channels do not make ", groups, " groups");
    for (std::string* value : {&scale, &bias}) {
      const std::string wide =
          c.Emit("expand", {{"x", {c.Unsqueezed(*value, {1})}}}, {{"shape", IntArray({groups, channels / groups})}});
      *value = c.Reshaped(wide, {channels});
    }
  }
  c.EmitResult("group_norm", {{"x", {x}}, {"scale", {scale}}, {"bias", {bias}}},
               {{"epsilon", c.Attr<double>("epsilon", 1e-5)}, {"groups", groups}});
}

}  // namespace

std::vector<int64_t> PerAxis(OnnxContext& c, const char* name, size_t count, int64_t fallback) {
  auto values = c.Attr<std::vector<int64_t>>(name, std::vector<int64_t>(count, fallback));
  if (values.size() != count) c.Corrupt("attribute ", name, " has ", values.size(), " values, expected ", count);
  return values;
}

std::vector<int64_t> WithHeight(std::vector<int64_t> values, int64_t height) {
  if (values.size() == 1) values.insert(values.begin(), height);
  return values;
}

// For `axes` spatial axes, 1 to 3.
Window WindowOf(OnnxContext& c, size_t axes) {
  Window window;
  const auto auto_pad = c.Attr<std::string>("auto_pad", "NOTSET");
  if (auto_pad == "SAME_UPPER") {
    window.padding_algorithm = "SAME";
  } else if (auto_pad == "SAME_LOWER" || auto_pad == "VALID") {
    window.padding_algorithm = auto_pad;
  } else if (auto_pad != "NOTSET" && !auto_pad.empty()) {
    c.Corrupt("attribute auto_pad is ", Quote(auto_pad));
  }
  window.strides = WithHeight(PerAxis(c, "strides", axes, 1), 1);
  window.dilations = WithHeight(PerAxis(c, "dilations", axes, 1), 1);
  const std::vector<int64_t> pads = PerAxis(c, "pads", 2 * axes, 0);  // all begins, then all ends
  if (axes == 1) window.paddings = {0, 0};
  for (size_t i = 0; i < axes; ++i) {
    window.paddings.push_back(pads[i]);
    window.paddings.push_back(pads[axes + i]);
  }
  return window;
}

// The number of spatial axes, if it is one that there are operators for.
size_t SpatialAxes(OnnxContext& c, int rank, const char* what) {
  if (rank < 3 || rank > 5) c.Unsupported(what, " has ", rank, " dimensions, Wherry has this for 3 to 5");
  return static_cast<size_t>(rank) - 2;
}

std::string ChannelsFirst(OnnxContext& c, const std::string& x) {
  std::vector<int64_t> perm(static_cast<size_t>(c.Rank(x)));
  std::iota(perm.begin(), perm.end(), 0);
  if (perm.size() > 2) std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  return c.Emit("transpose", {{"x", {x}}}, {{"perm", perm}});
}

std::string ChannelsLast(OnnxContext& c, const std::string& x) {
  std::vector<int64_t> perm(static_cast<size_t>(c.Rank(x)));
  std::iota(perm.begin(), perm.end(), 0);
  if (perm.size() > 2) std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  return c.Emit("transpose", {{"x", {x}}}, {{"perm", perm}});
}

std::string EmitConv(OnnxContext& c, const std::string& op, OpInputs inputs, OpAttrs attrs) {
  std::string& x = inputs[0].second[0];
  std::string& filter = inputs[1].second[0];
  const size_t axes = ConvAxes(c, x, filter);
  Window window = WindowOf(c, axes);
  if (axes == 1) {
    x = c.Unsqueezed(x, {2});
    filter = c.Unsqueezed(filter, {2});
  }
  attrs.emplace_back("strides", std::move(window.strides));
  attrs.emplace_back("paddings", std::move(window.paddings));
  attrs.emplace_back("padding_algorithm", std::move(window.padding_algorithm));
  attrs.emplace_back("dilations", std::move(window.dilations));
  attrs.emplace_back("groups", c.Attr<int64_t>("group", 1));
  const std::string y = c.Emit(axes == 3 ? op + "3d" : op + "2d", inputs, attrs);
  return axes == 1 ? c.Squeezed(y, {2}) : y;
}

std::string EmitConv(OnnxContext& c, std::string x, std::string filter, const std::string& bias) {
  return EmitConv(c, "conv", {{"x", {std::move(x)}}, {"filter", {std::move(filter)}}, {"operands", {bias}}},
                  {{"epilogue", BiasEpilogue(bias)}});
}

REGISTER_CONVERTER(onnx, Conv, &Convert<Conv>);
REGISTER_CONVERTER(onnx, ConvTranspose, &Convert<ConvTranspose>);
REGISTER_CONVERTER(onnx, DeformConv, &Convert<DeformConv>);
REGISTER_CONVERTER(onnx, BatchNormalization, &Convert<BatchNormalization>);
REGISTER_CONVERTER(onnx, GroupNormalization, &Convert<GroupNormalization>);

}  // namespace wherry::onnx
