// Pools, unpool and local response normalisation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/paddle/converter.h"
#include "op/unknown_dim.h"

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

// The operators of lower-case parameters call it as PIR does.
const char* KernelName(OpContext& c) { return c.HasAttr("ksize") ? "ksize" : "kernel_size"; }

// Pools that give the places of maxima have none in PIR.
std::string PaddingAlgorithm(const OpContext& c) {
  const bool with_places = c.op().type.ends_with("_with_index");
  return with_places ? c.DescAttr<std::string>("padding_algorithm", "EXPLICIT")
                     : c.Attr<std::string>("padding_algorithm", "EXPLICIT");
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
                {"padding_algorithm", PaddingAlgorithm(c)}};
  Ints sizes = c.IntsOf({"KernelSizeTensor", 1}, {"KernelSizeTensorList"}, KernelName(c));
  if (c.Attr<bool>("adaptive", false)) sizes = WithoutUnknown(c, x, std::move(sizes));
  OpContext::Pass("kernel_size", sizes, &pool.inputs, &pool.attrs);
  return pool;
}

// Windows along an axis as Paddle places them where that differs from ours: with ceil_mode it keeps a window that
// begins beyond the image and its front padding, and a window of an average that counts padding ends as far behind the
// image as the front padding reaches before it.
struct PlacedAxis {
  int64_t size = 0;  // of the image
  int64_t kernel = 0;
  int64_t stride = 1;
  int64_t front = 0;
  int64_t back = 0;
  int64_t windows = 0;

  int64_t Begin(int64_t i) const { return i * stride - front; }
  // How many positions Paddle divides by.
  int64_t Counted(int64_t i, bool exclusive) const {
    const int64_t end = std::min(Begin(i) + kernel, size + front);
    return exclusive ? std::min(end, size) - std::max<int64_t>(Begin(i), 0) : end - Begin(i);
  }
};

// The axes of a pool whose windows lie otherwise than ours; nothing if they don't.
std::optional<std::vector<PlacedAxis>> PlacedOtherwise(OpContext& c, const std::string& x, size_t axes, bool average) {
  if (c.Attr<bool>("adaptive", false) || c.Attr<bool>("global_pooling", false)) return std::nullopt;
  const auto strides = c.Attr<std::vector<int64_t>>("strides", std::vector<int64_t>(axes, 1));
  const auto paddings = c.Attr<std::vector<int64_t>>("paddings", std::vector<int64_t>(axes, 0));
  const std::string algorithm = PaddingAlgorithm(c);
  const auto kernel = c.OptionalInts({"KernelSizeTensor", 1}, {"KernelSizeTensorList"}, KernelName(c));
  const bool ceil = c.Attr<bool>("ceil_mode", false);
  const bool inclusive = average && !c.Attr<bool>("exclusive", true);
  const MetaTensor& meta = c.Meta(x);
  const bool images = !meta.rank_known || meta.rank() == static_cast<int>(axes) + 2;
  const bool known = images && kernel && kernel->values && kernel->values->size() == axes && strides.size() == axes &&
                     (paddings.size() == axes || paddings.size() == 2 * axes);
  if (!known || algorithm == "VALID" || (!ceil && !inclusive)) return std::nullopt;
  std::vector<PlacedAxis> placed(axes);
  bool other = false;
  bool sized = true;
  for (size_t i = 0; i < axes; ++i) {
    PlacedAxis& axis = placed[i];
    axis.kernel = (*kernel->values)[i];
    axis.stride = strides[i];
    axis.front = paddings.size() == axes ? paddings[i] : paddings[2 * i];
    axis.back = paddings.size() == axes ? paddings[i] : paddings[2 * i + 1];
    constexpr int64_t kMost = int64_t{1} << 30;
    for (const int64_t number : {axis.kernel, axis.stride, axis.front + 1, axis.back + 1}) {
      if (number < 1 || number > kMost) return std::nullopt;  // for the operator to say
    }
    const Dim dim = meta.rank_known ? meta.dims[i + 2] : Dim(kUnknownDim);
    sized = sized && dim.known();
    axis.size = dim.known() ? dim.value() : 0;
    if (axis.size > kMost * kMost) return std::nullopt;
    if (algorithm == "SAME") {
      const int64_t windows = (axis.size + axis.stride - 1) / axis.stride;
      const int64_t padding = std::max<int64_t>((windows - 1) * axis.stride + axis.kernel - axis.size, 0);
      axis.front = padding / 2;
      axis.back = padding - padding / 2;
    }
    const int64_t room = axis.size + axis.front + axis.back - axis.kernel;
    axis.windows = (ceil ? room + axis.stride - 1 : room) / axis.stride + 1;
    const bool beyond =
        ceil && (dim.known() ? axis.Begin(axis.windows - 1) >= axis.size : axis.back > axis.kernel - axis.stride);
    other = other || beyond || (inclusive && axis.front != axis.back);
  }
  if (!other) return std::nullopt;
  if (!sized) {
    if (algorithm == "SAME") return std::nullopt;
    c.Unsupported("its windows lie outside of an image whose size is not known");
  }
  return placed;
}

// Paddings that give as many windows without rounding up.
void UsePlaced(const std::vector<PlacedAxis>& axes, PoolArguments* pool) {
  std::vector<int64_t> paddings;
  for (const PlacedAxis& axis : axes) {
    paddings.push_back(axis.front);
    const int64_t covered = (axis.windows - 1) * axis.stride + axis.kernel;
    paddings.push_back(std::max<int64_t>(covered - axis.size - axis.front, 0));
  }
  for (auto& [name, value] : pool->attrs) {
    if (name == "paddings") value = paddings;
    if (name == "padding_algorithm") value = std::string("EXPLICIT");
    if (name == "ceil_mode") value = false;
  }
}

// For each window one over the number of positions that Paddle divides by, [1, 1, windows...].
std::string Divisors(OpContext& c, const std::vector<PlacedAxis>& axes, bool exclusive, DataType dtype) {
  std::vector<int64_t> shape = {1, 1};
  std::vector<Scalar> factors = {Scalar(1.0)};
  constexpr size_t kMost = size_t{1} << 20;
  for (const PlacedAxis& axis : axes) {
    shape.push_back(axis.windows);
    std::vector<Scalar> all;
    if (factors.size() * static_cast<size_t>(axis.windows) > kMost) c.Unsupported("it has too many windows");
    for (const Scalar& factor : factors) {
      for (int64_t i = 0; i < axis.windows; ++i) {
        all.emplace_back(factor.to<double>() / static_cast<double>(axis.Counted(i, exclusive)));
      }
    }
    factors = std::move(all);
  }
  return c.Constant(TensorOfScalars(Shape(shape), factors, dtype));
}

// The largest of nothing, which is -inf here, is Paddle's lowest number.
std::string AtLeastLowest(OpContext& c, const std::string& x) {
  if (c.TypeOf(x) != DataType::kFloat) return x;
  return c.Binary("maximum", x, c.Like(x, static_cast<double>(std::numeric_limits<float>::lowest())));
}

void Pool(OpContext& c, size_t axes) {
  const bool channels_last = c.ChannelsLast();
  const std::string x = c.ImageInput({"X", 0}, channels_last);
  const auto type = c.Attr<std::string>("pooling_type");
  const bool exclusive = c.Attr<bool>("exclusive", true);
  const char* const op = axes == 2 ? "pool2d" : "pool3d";
  if (c.Attr<bool>("global_pooling", false) && c.Attr<bool>("adaptive", false)) {
    // The window is the image's size, and that is the number of windows.
    return c.EmitResult("assign", {{"x", {c.Input({"X", 0})}}});
  }
  PoolArguments pool = Arguments(c, x, axes);
  const auto placed = PlacedOtherwise(c, x, axes, type == "avg");
  if (!placed) {
    pool.attrs.emplace_back("exclusive", exclusive);
    pool.attrs.emplace_back("pooling_type", type);
    return c.ImageResult({"Out", 0}, c.Emit(op, pool.inputs, pool.attrs), channels_last);
  }
  UsePlaced(*placed, &pool);
  pool.attrs.emplace_back("pooling_type", std::string(type == "avg" ? "sum" : type));
  std::string y = c.Emit(op, pool.inputs, pool.attrs);
  y = type == "avg" ? c.Binary("multiply", y, Divisors(c, *placed, exclusive, c.TypeOf(x))) : AtLeastLowest(c, y);
  c.ImageResult({"Out", 0}, y, channels_last);
}
void Pool2d(OpContext& c) { Pool(c, 2); }
void Pool3d(OpContext& c) { Pool(c, 3); }

// The sum of x^norm_type (not of |x|) over each window, to the power 1 / norm_type.
void LpPool2d(OpContext& c) {
  const bool channels_last = c.ChannelsLast();
  const std::string x = c.ImageInput({"x", 0}, channels_last);
  const auto norm = c.Attr<double>("norm_type", 2.0);
  if (norm == 0.0) c.Corrupt("attribute norm_type is 0");
  if (std::isinf(norm) && norm > 0.0) {
    PoolArguments pool = Arguments(c, x, 2);
    pool.attrs.emplace_back("pooling_type", std::string("max"));
    return c.ImageResult({"out", 0}, c.Emit("pool2d", pool.inputs, pool.attrs), channels_last);
  }
  PoolArguments pool = Arguments(c, c.Binary("elementwise_pow", x, c.Like(x, norm)), 2);
  pool.attrs.emplace_back("pooling_type", std::string("sum"));
  const std::string sums = c.Emit("pool2d", pool.inputs, pool.attrs);
  c.ImageResult({"out", 0}, c.Binary("elementwise_pow", sums, c.Like(x, 1.0 / norm)), channels_last);
}

void MaxPoolWithIndex(OpContext& c, size_t axes) {
  const std::string x = c.Input({"X", 0});
  PoolArguments pool = Arguments(c, x, axes);
  const auto placed = PlacedOtherwise(c, x, axes, /*average=*/false);
  if (placed) UsePlaced(*placed, &pool);
  pool.attrs.emplace_back("dtype", DataType::kInt32);
  const std::vector<std::string> results = c.EmitMany("max_pool_with_index", pool.inputs, pool.attrs, 2);
  c.Result({"Out", 0}, placed ? AtLeastLowest(c, results[0]) : results[0]);
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
REGISTER_CONVERTER(pir, pool2d, &Convert<Pool2d, 2>);
REGISTER_CONVERTER(paddle, pool3d, &Convert<Pool3d>);
REGISTER_CONVERTER(pir, pool3d, &Convert<Pool3d, 1>);
REGISTER_CONVERTER(paddle, lp_pool2d, &Convert<LpPool2d>);
REGISTER_CONVERTER(pir, lp_pool2d, &Convert<LpPool2d, 1>);
REGISTER_CONVERTER(paddle, max_pool2d_with_index, &Convert<MaxPool2dWithIndex>);
REGISTER_CONVERTER(pir, max_pool2d_with_index, &Convert<MaxPool2dWithIndex, 1, 2>);
REGISTER_CONVERTER(paddle, max_pool3d_with_index, &Convert<MaxPool3dWithIndex>);
REGISTER_CONVERTER(pir, max_pool3d_with_index, &Convert<MaxPool3dWithIndex, 1, 2>);
REGISTER_CONVERTER(paddle, fractional_max_pool2d, &Convert<FractionalMaxPool>);
REGISTER_CONVERTER(pir, fractional_max_pool2d, &Convert<FractionalMaxPool, 1, 2>);
REGISTER_CONVERTER(paddle, fractional_max_pool3d, &Convert<FractionalMaxPool>);
REGISTER_CONVERTER(pir, fractional_max_pool3d, &Convert<FractionalMaxPool, 1, 2>);
REGISTER_CONVERTER(paddle, unpool, &Convert<Unpool>);
REGISTER_CONVERTER(pir, unpool, &Convert<Unpool, 3>);
REGISTER_CONVERTER(paddle, unpool3d, &Convert<Unpool>);
REGISTER_CONVERTER(pir, unpool3d, &Convert<Unpool, 2>);
REGISTER_CONVERTER(paddle, lrn, &Convert<Lrn>);
REGISTER_CONVERTER(pir, lrn, &Convert<Lrn, 1, 2>);

}  // namespace wherry::paddle
