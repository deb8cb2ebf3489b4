// The elements of a tensor under another shape or type, or by strides of one's own. Nobody can tell that they are
// copies here: what Paddle exports does not write into a view.
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void Give(OpContext& c, const std::string& type, const OpInputs& inputs, const OpAttrs& attrs = {}) {
  c.Result({"out", 0}, c.Emit(type, inputs, attrs));
}

void ViewShape(OpContext& c) {
  Give(c, "reshape", {{"x", {c.Input({"input", 0})}}}, {{"shape", IntArray(c.Attr<std::vector<int64_t>>("dims"))}});
}

void ViewType(OpContext& c) {
  Give(c, "bitcast", {{"x", {c.Input({"input", 0})}}}, {{"dtype", c.Attr<DataType>("dtype")}});
}

// Rows begin_idx to end_idx.
void ViewSlice(OpContext& c) {
  Give(c, "slice", {{"x", {c.Input({"input", 0})}}},
       {{"axes", std::vector<int64_t>{0}},
        {"starts", IntArray({c.Attr<int64_t>("begin_idx")})},
        {"ends", IntArray({c.Attr<int64_t>("end_idx")})}});
}

// 0, step, 2 * step, ...: `count` numbers, i64.
std::string Steps(OpContext& c, int64_t count, int64_t step) {
  const std::string numbers = c.Emit("arange", {}, {{"start", Scalar(int64_t{0})}, {"end", Scalar(count)}});
  return step == 1 ? numbers : c.Binary("multiply", numbers, c.ConstantScalar(Scalar(step), DataType::kInt64));
}

// Element (i, j, ...) is number offset + i * stride[0] + j * stride[1] ... of the input's; the offset is in bytes.
void AsStrided(OpContext& c) {
  const std::string x = c.Input({"input", 0});
  const auto dims = c.Attr<std::vector<int64_t>>("dims");
  const auto strides = c.Attr<std::vector<int64_t>>("stride");
  const auto offset = c.Attr<int64_t>("offset", 0);
  const auto size = static_cast<int64_t>(SizeOf(c.TypeOf(x)));
  if (dims.size() != strides.size()) c.Corrupt("it has ", dims.size(), " dims and ", strides.size(), " strides");
  constexpr int64_t kMost = int64_t{1} << 31;
  if (size == 0 || offset < 0 || offset % size != 0 || offset / size > kMost) c.Corrupt("attribute offset is ", offset);
  std::string index = c.ConstantScalar(Scalar(offset / size), DataType::kInt64);
  int64_t count = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] > kMost || strides[i] < 0 || strides[i] > kMost) {
      c.Corrupt("dimension ", i, " has ", dims[i], " elements ", strides[i], " apart");
    }
    count *= dims[i];
    if (count > kMost) c.Unsupported("its result has more than ", kMost, " elements");
    index = c.Binary("add", c.Unsqueezed(index, {-1}), Steps(c, dims[i], strides[i]));
  }
  Give(c, "gather", {{"x", {c.Reshaped(x, {-1})}}, {"index", {index}}});
}

// Windows of `size` elements along an axis, `step` apart; what is in a window comes last.
void TensorUnfold(OpContext& c) {
  const std::string x = c.Input({"input", 0});
  const int rank = c.Rank(x);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis"), rank);
  const auto size = c.Attr<int64_t>("size");
  const auto step = c.Attr<int64_t>("step");
  constexpr int64_t kMost = int64_t{1} << 30;
  if (size < 0 || size > kMost || step < 1 || step > kMost) {
    c.Corrupt("its windows have ", size, " elements, ", step, " apart");
  }
  const std::string room = c.Scaled(c.Dimension(x, axis), 1.0, static_cast<double>(1 - size));
  const std::string starts =
      c.Emit("arange", {{"end", {room}}}, {{"start", Scalar(int64_t{0})}, {"step", Scalar(step)}});
  const std::string index = c.Binary("add", c.Unsqueezed(starts, {1}), Steps(c, size, 1));
  const std::string windows = c.Emit("gather", {{"x", {x}}, {"index", {index}}}, {{"axis", axis}});
  std::vector<int64_t> perm;
  for (int64_t i = 0; i <= rank; ++i) {
    if (i != axis + 1) perm.push_back(i);
  }
  perm.push_back(axis + 1);
  Give(c, "transpose", {{"x", {windows}}}, {{"perm", perm}});
}

}  // namespace

REGISTER_CONVERTER(paddle, view_shape, &Convert<ViewShape>);
REGISTER_CONVERTER(pir, view_shape, &Convert<ViewShape, 1>);
REGISTER_CONVERTER(paddle, view_dtype, &Convert<ViewType>);
REGISTER_CONVERTER(pir, view_dtype, &Convert<ViewType, 1>);
REGISTER_CONVERTER(paddle, view_slice, &Convert<ViewSlice>);
REGISTER_CONVERTER(pir, view_slice, &Convert<ViewSlice, 1>);
REGISTER_CONVERTER(paddle, as_strided, &Convert<AsStrided>);
REGISTER_CONVERTER(pir, as_strided, &Convert<AsStrided, 1>);
REGISTER_CONVERTER(paddle, tensor_unfold, &Convert<TensorUnfold>);
REGISTER_CONVERTER(pir, tensor_unfold, &Convert<TensorUnfold, 1>);

}  // namespace wherry::paddle
