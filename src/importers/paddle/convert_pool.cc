// Pools, unpool and local response normalisation.
#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// x, the window and what else pools of `axes` spatial axes have in common.
struct PoolArguments {
  OpInputs inputs;
  OpAttrs attrs;
};

// The sizes of an adaptive pool's result, of which -1 is the input's: exporters write that for a size that they were
// not given (None) where the input's is not known.
Ints WithoutUnknown(OpContext& c, const std::string& x, Ints sizes) {
  if (!sizes.values || std::count(sizes.values->begin(), sizes.values->end(), -1) == 0) return sizes;
  std::vector<std::string> parts;
  for (size_t i = 0; i < sizes.values->size(); ++i) {
    const int64_t size = (*sizes.values)[i];
    parts.push_back(size == -1 ? c.Dimension(x, static_cast<int64_t>(i) + 2)
                               : c.ConvertContext::ConstantInts(std::vector<int64_t>{size}));
  }
  Ints own;
  own.tensor = c.Joined(parts);
  own.values = c.ConvertContext::ConstantInts(own.tensor);
  return own;
}

PoolArguments Arguments(OpContext& c, const std::string& x, size_t axes) {
  PoolArguments pool;
  pool.inputs = {{"x", {x}}};
  pool.attrs = {{"strides", c.Attr<std::vector<int64_t>>("strides", std::vector<int64_t>(axes, 1))},
                {"paddings", c.Attr<std::vector<int64_t>>("paddings", std::vector<int64_t>(axes, 0))},
                {"ceil_mode", c.Attr<bool>("ceil_mode", false)},
                {"global_pooling", c.Attr<bool>("global_pooling", false)},
                {"adaptive", c.Attr<bool>("adaptive", false)},
                {"dilations", std::vector<int64_t>(axes, 1)},
                {"padding_algorithm", c.Attr<std::string>("padding_algorithm", "EXPLICIT")}};
  // The operators of lower-case parameters call it as PIR does.
  const char* size = c.HasAttr("ksize") ? "ksize" : "kernel_size";
  Ints sizes = c.IntsOf({"KernelSizeTensor", 1}, {"KernelSizeTensorList"}, size);
  if (c.Attr<bool>("adaptive", false)) sizes = WithoutUnknown(c, x, std::move(sizes));
  OpContext::Pass("kernel_size", sizes, &pool.inputs, &pool.attrs);
  return pool;
}

void Pool(OpContext& c, size_t axes) {
  const bool channels_last = c.ChannelsLast();
  PoolArguments pool = Arguments(c, c.ImageInput({"X", 0}, channels_last), axes);
  pool.attrs.emplace_back("exclusive", c.Attr<bool>("exclusive", true));
  pool.attrs.emplace_back("pooling_type", c.Attr<std::string>("pooling_type", "max"));
  c.ImageResult({"Out", 0}, c.Emit(axes == 2 ? "pool2d" : "pool3d", pool.inputs, pool.attrs), channels_last);
}
void Pool2d(OpContext& c) { Pool(c, 2); }
void Pool3d(OpContext& c) { Pool(c, 3); }

// The sum of x^norm_type (not of |x|) over each window, to the power 1 / norm_type.
void LpPool2d(OpContext& c) {
  const bool channels_last = c.ChannelsLast();
  const std::string x = c.ImageInput({"x", 0}, channels_last);
  const auto norm = c.Attr<double>("norm_type", 2.0);
  if (norm == 0.0) c.Corrupt("attribute norm_type is 0");
  PoolArguments pool = Arguments(c, c.Binary("elementwise_pow", x, c.Like(x, norm)), 2);
  pool.attrs.emplace_back("pooling_type", std::string("sum"));
  const std::string sums = c.Emit("pool2d", pool.inputs, pool.attrs);
  c.ImageResult({"out", 0}, c.Binary("elementwise_pow", sums, c.Like(x, 1.0 / norm)), channels_last);
}

void MaxPoolWithIndex(OpContext& c, size_t axes) {
  PoolArguments pool = Arguments(c, c.Input({"X", 0}), axes);
  pool.attrs.emplace_back("dtype", DataType::kInt32);
  const std::vector<std::string> results = c.EmitMany("max_pool_with_index", pool.inputs, pool.attrs, 2);
  c.Result({"Out", 0}, results[0]);
  c.Result({"Mask", 1}, results[1]);
}
void MaxPool2dWithIndex(OpContext& c) { MaxPoolWithIndex(c, 2); }
void MaxPool3dWithIndex(OpContext& c) { MaxPoolWithIndex(c, 3); }

void FractionalMaxPool(OpContext& c) {
  const auto u = c.Attr<double>("random_u", 0.0);
  if (!(u > 0.0)) c.Unsupported("it draws its windows at random");
  const auto results = c.EmitMany("fractional_max_pool", {{"x", {c.Input({"x", 0})}}},
                                  {{"output_size", c.Attr<std::vector<int64_t>>("output_size")},
                                   {"kernel_size", c.Attr<std::vector<int64_t>>("kernel_size")},
                                   {"u", u}},
                                  2);
  c.Result({"out", 0}, results[0]);
  c.Result({"mask", 1}, results[1]);
}

void Unpool(OpContext& c) {
  if (c.ChannelsLast()) c.Unsupported("attribute data_format puts channels last");
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}, {"indices", {c.Input({"Indices", 1})}}};
  OpAttrs attrs;
  OpContext::Pass("output_size", c.IntsOf({"OutputSizeTensor", 2}, {nullptr}, "output_size"), &inputs, &attrs);
  c.EmitResult("unpool", inputs, attrs);
}

// x / (k + alpha * sum)^beta with the sum of x^2 over the n channels around each: a window over the rows of an image
// whose rows are the channels.
void Lrn(OpContext& c) {
  const bool channels_last = c.ChannelsLast();
  const std::string x = c.ImageInput({"X", 0}, channels_last);
  if (c.Rank(x) != 4) c.Unsupported("the input has ", c.Rank(x), " dimensions");
  const auto n = c.Attr<int64_t>("n", 5);
  if (n < 1) c.Corrupt("attribute n is ", n);
  const std::string image = c.Emit("unsqueeze", {{"x", {c.Unary("square", x)}}}, {{"axis", IntArray({1})}});
  const std::string rows =
      c.Emit("flatten", {{"x", {image}}}, {{"start_axis", int64_t{3}}, {"stop_axis", int64_t{-1}}});
  const std::string sums = c.Emit("pool2d", {{"x", {rows}}},
                                  {{"kernel_size", IntArray({n, 1})},
                                   {"paddings", std::vector<int64_t>{(n - 1) / 2, n / 2, 0, 0}},
                                   {"pooling_type", std::string("sum")}});
  const std::string back = c.Emit("reshape", {{"x", {sums}}, {"shape", {c.Unary("shape", x)}}}, {{"allow_zero", true}});
  const std::string base = c.Scaled(back, c.Attr<double>("alpha", 1e-4), c.Attr<double>("k", 2.0));
  const std::string power = c.Binary("elementwise_pow", base, c.Like(x, c.Attr<double>("beta", 0.75)));
  c.ImageResult({"Out", 0}, c.Binary("divide", x, power), channels_last);
}

}  // namespace

REGISTER_CONVERTER(paddle, pool2d, &Convert<Pool2d>);
REGISTER_CONVERTER(pir, pool2d, &Convert<Pool2d>);
REGISTER_CONVERTER(paddle, pool3d, &Convert<Pool3d>);
REGISTER_CONVERTER(pir, pool3d, &Convert<Pool3d>);
REGISTER_CONVERTER(paddle, lp_pool2d, &Convert<LpPool2d>);
REGISTER_CONVERTER(pir, lp_pool2d, &Convert<LpPool2d>);
REGISTER_CONVERTER(paddle, max_pool2d_with_index, &Convert<MaxPool2dWithIndex>);
REGISTER_CONVERTER(pir, max_pool2d_with_index, &Convert<MaxPool2dWithIndex>);
REGISTER_CONVERTER(paddle, max_pool3d_with_index, &Convert<MaxPool3dWithIndex>);
REGISTER_CONVERTER(pir, max_pool3d_with_index, &Convert<MaxPool3dWithIndex>);
REGISTER_CONVERTER(paddle, fractional_max_pool2d, &Convert<FractionalMaxPool>);
REGISTER_CONVERTER(pir, fractional_max_pool2d, &Convert<FractionalMaxPool>);
REGISTER_CONVERTER(paddle, fractional_max_pool3d, &Convert<FractionalMaxPool>);
REGISTER_CONVERTER(pir, fractional_max_pool3d, &Convert<FractionalMaxPool>);
REGISTER_CONVERTER(paddle, unpool, &Convert<Unpool>);
REGISTER_CONVERTER(pir, unpool, &Convert<Unpool>);
REGISTER_CONVERTER(paddle, unpool3d, &Convert<Unpool>);
REGISTER_CONVERTER(pir, unpool3d, &Convert<Unpool>);
REGISTER_CONVERTER(paddle, lrn, &Convert<Lrn>);
REGISTER_CONVERTER(pir, lrn, &Convert<Lrn>);

}  // namespace wherry::paddle
