// Pools, MaxUnpool and local response normalisation. What has one spatial axis becomes an image of height 1.
#include "importers/onnx/convert_pool.h"

#include "base/strings.h"
#include "importers/onnx/convert_conv.h"

namespace wherry::onnx {

namespace {

// x with an axis of 1 in front of a single spatial one, and the window, for our pools.
struct PoolArguments {
  size_t axes;
  std::vector<int64_t> kernel;  // as the operator has it
  OpInputs inputs;
  OpAttrs attrs;
};
PoolArguments PoolOf(OnnxContext& c, const std::string& x) {
  PoolArguments pool;
  pool.axes = SpatialAxes(c, c.Rank(x), "the input");
  const Window window = WindowOf(c, pool.axes);
  if (!c.HasAttr("kernel_shape")) c.Corrupt("attribute kernel_shape is missing");
  pool.kernel = PerAxis(c, "kernel_shape", pool.axes, 1);
  pool.inputs = {{"x", {pool.axes == 1 ? c.Unsqueezed(x, {2}) : x}}};
  pool.attrs = {{"kernel_size", IntArray(WithHeight(pool.kernel, 1))},
                {"strides", window.strides},
                {"paddings", window.paddings},
                {"padding_algorithm", window.padding_algorithm},
                {"dilations", window.dilations},
                {"ceil_mode", c.Attr<bool>("ceil_mode", false)}};
  return pool;
}

void MaxPool(OnnxContext& c) {
  if (!c.HasOutput(1)) return c.Bind(0, EmitPool(c, c.Input(0), "max"));
  PoolArguments pool = PoolOf(c, c.Input(0));
  const bool column_major = c.Attr<bool>("storage_order", false);
  pool.attrs.emplace_back("index", std::string(column_major ? "column_major" : "tensor"));
  const std::vector<std::string> results = c.EmitMany("max_pool_with_index", pool.inputs, pool.attrs, 2);
  for (size_t i = 0; i < 2; ++i) c.Bind(i, pool.axes == 1 ? c.Squeezed(results[i], {2}) : results[i]);
}
void AveragePool(OnnxContext& c) {
  c.Bind(0, EmitPool(c, c.Input(0), "avg", !c.Attr<bool>("count_include_pad", false)));
}

// Indices count through the result without output_shape, which only adds zeros at the ends.
void MaxUnpool(OnnxContext& c) {
  const std::string x = c.Input(0);
  const int rank = c.Rank(x);
  if (rank < 3) c.Corrupt("the input has ", rank, " dimensions, expected at least 3");
  const size_t axes = static_cast<size_t>(rank) - 2;
  if (!c.HasAttr("kernel_shape")) c.Corrupt("attribute kernel_shape is missing");
  const std::vector<int64_t> kernel = PerAxis(c, "kernel_shape", axes, 1);
  const std::vector<int64_t> strides = PerAxis(c, "strides", axes, 1);
  const std::vector<int64_t> pads = PerAxis(c, "pads", 2 * axes, 0);
  // (x - 1) * stride + kernel - pads
  std::vector<int64_t> more;
  for (size_t i = 0; i < axes; ++i) more.push_back(kernel[i] - strides[i] - pads[i] - pads[axes + i]);
  std::vector<std::string> dims;
  for (int axis = 2; axis < rank; ++axis) dims.push_back(c.Dimension(x, axis));
  const std::string size = c.Binary("add",
                                    c.Binary("multiply", c.Emit("concat", {{"x", dims}}, {{"axis", int64_t{0}}}),
                                             c.ConvertContext::ConstantInts(strides)),
                                    c.ConvertContext::ConstantInts(more));
  const std::string y = c.Emit("unpool", {{"x", {x}}, {"indices", {c.Input(1)}}, {"output_size", {size}}},
                               {{"index", std::string("tensor")}});
  if (!c.HasInput(2)) return c.Bind(0, y);
  // No elements before each axis, what is missing after it.
  const std::string missing = c.Binary("subtract", c.Input(2), c.Unary("shape", y));
  const std::string none = c.ConvertContext::ConstantInts(std::vector<int64_t>(static_cast<size_t>(rank), 0));
  const std::string paddings = c.Emit("concat", {{"x", {none, missing}}}, {{"axis", int64_t{0}}});
  c.EmitResult("pad", {{"x", {y}}, {"paddings", {paddings}}});
}

std::string Power(OnnxContext& c, const std::string& x, double exponent) {
  return exponent == 1.0 ? x : c.Binary("elementwise_pow", x, c.Like(x, exponent));
}

// The sum of |x|^p over each window, to the power 1/p.
void LpPool(OnnxContext& c) {
  const std::string x = c.Input(0);
  const auto p = c.Attr<int64_t>("p", 2);
  if (p < 1) c.Corrupt("attribute p is ", p);
  const std::string sums = EmitPool(c, Power(c, c.Unary("abs", x), static_cast<double>(p)), "sum");
  c.Bind(0, Power(c, sums, 1.0 / static_cast<double>(p)));
}

// x / (bias + alpha / size * sum)^beta with the sum of x^2 over the `size` channels around each: an average over
// windows of an image whose rows are the channels.
void Lrn(OnnxContext& c) {
  const std::string x = c.Input(0);
  if (c.Rank(x) < 3) c.Unsupported("the input has ", c.Rank(x), " dimensions");
  const auto size = c.Attr<int64_t>("size");
  if (size < 1) c.Corrupt("attribute size is ", size);
  const std::string rows = c.Emit("flatten", {{"x", {c.Unsqueezed(c.Unary("square", x), {1})}}},
                                  {{"start_axis", int64_t{3}}, {"stop_axis", int64_t{-1}}});
  const std::string average = c.Emit("pool2d", {{"x", {rows}}},
                                     {{"kernel_size", IntArray({size, 1})},
                                      {"paddings", std::vector<int64_t>{(size - 1) / 2, size / 2, 0, 0}},
                                      {"exclusive", false},
                                      {"pooling_type", std::string("avg")}});
  const std::string back =
      c.Emit("reshape", {{"x", {average}}, {"shape", {c.Unary("shape", x)}}}, {{"allow_zero", true}});
  const std::string base = c.Scaled(back, c.Attr<double>("alpha", 1e-4), c.Attr<double>("bias", 1.0));
  c.Bind(0, c.Binary("divide", x, c.Binary("elementwise_pow", base, c.Like(x, c.Attr<double>("beta", 0.75)))));
}

void GlobalAveragePool(OnnxContext& c) { c.Bind(0, EmitGlobalPool(c, c.Input(0), "avg")); }
void GlobalMaxPool(OnnxContext& c) { c.Bind(0, EmitGlobalPool(c, c.Input(0), "max")); }
// The sum of |x|^p over the image, to the power 1/p.
void GlobalLpPool(OnnxContext& c) {
  const std::string x = c.Input(0);
  const auto p = c.Attr<int64_t>("p", 2);
  if (p < 1) c.Corrupt("attribute p is ", p);
  std::vector<int64_t> axes;
  for (int64_t axis = 2, rank = c.Rank(x); axis < rank; ++axis) axes.push_back(axis);
  const std::string sums = c.Emit("sum", {{"x", {Power(c, c.Unary("abs", x), static_cast<double>(p))}}},
                                  {{"axis", IntArray(axes)}, {"keepdim", true}});
  c.Bind(0, Power(c, sums, 1.0 / static_cast<double>(p)));
}

}  // namespace

std::string EmitPool(OnnxContext& c, const std::string& x, const char* pooling_type, bool exclusive) {
  PoolArguments pool = PoolOf(c, x);
  pool.attrs.emplace_back("exclusive", exclusive);
  pool.attrs.emplace_back("pooling_type", std::string(pooling_type));
  const std::string y = c.Emit(pool.axes == 3 ? "pool3d" : "pool2d", pool.inputs, pool.attrs);
  return pool.axes == 1 ? c.Squeezed(y, {2}) : y;
}

std::string EmitGlobalPool(OnnxContext& c, const std::string& x, const char* pooling_type) {
  const int rank = c.Rank(x);
  if (rank < 3) c.Corrupt("the input has ", rank, " dimensions, expected at least 3");
  if (rank == 4) {
    return c.Emit(
        "pool2d", {{"x", {x}}},
        {{"kernel_size", IntArray({1, 1})}, {"global_pooling", true}, {"pooling_type", std::string(pooling_type)}});
  }
  std::vector<int64_t> axes;
  for (int64_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
  return c.Emit(pooling_type == std::string("avg") ? "mean" : "max", {{"x", {x}}},
                {{"axis", IntArray(axes)}, {"keepdim", true}});
}

REGISTER_CONVERTER(onnx, MaxPool, &Convert<MaxPool>);
REGISTER_CONVERTER(onnx, AveragePool, &Convert<AveragePool>);
REGISTER_CONVERTER(onnx, LpPool, &Convert<LpPool>);
REGISTER_CONVERTER(onnx, MaxUnpool, &Convert<MaxUnpool>);
REGISTER_CONVERTER(onnx, LRN, &Convert<Lrn>);
REGISTER_CONVERTER(onnx, GlobalAveragePool, &Convert<GlobalAveragePool>);
REGISTER_CONVERTER(onnx, GlobalMaxPool, &Convert<GlobalMaxPool>);
REGISTER_CONVERTER(onnx, GlobalLpPool, &Convert<GlobalLpPool>);

}  // namespace wherry::onnx
