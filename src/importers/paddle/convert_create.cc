// New tensors: constants where everything is known, else operators.
#include <charconv>
#include <limits>

#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// A filled tensor of at most this many elements becomes a constant of the program, which conversions and folding see
// through.
constexpr int64_t kMostConstantElements = 64;

// The number of elements if the shape is small enough for a constant.
bool IsSmall(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  if (shape.size() > static_cast<size_t>(Shape::kMaxRank)) return false;
  for (const int64_t dim : shape) {
    if (dim < 0 || dim > kMostConstantElements) return false;
    count *= dim;
    if (count > kMostConstantElements) return false;
  }
  return true;
}

void Filled(OpContext& c, const Ints& shape, const Number& value, DataType dtype) {
  if (SizeOf(dtype) == 0) c.Unsupported("the element type ", ToString(dtype));
  if (shape.values && value.value && IsSmall(*shape.values)) {
    return c.Result({"Out", 0}, c.Constant(FilledTensor(Shape(*shape.values), *value.value, dtype), c.Stem()));
  }
  OpInputs inputs;
  OpAttrs attrs = {{"dtype", dtype}};
  OpContext::Pass("shape", shape, &inputs, &attrs);
  OpContext::Pass("value", value, &inputs, &attrs);
  c.EmitResult("full", inputs, attrs);
}

// The text form of a value, which has what the float attribute cannot hold. Integers go through a double too, as in
// Paddle: beyond 2^53 they lose their last digits.
std::optional<Scalar> ParseValue(const std::string& text) {
  double value = 0.0;  // "inf", "-inf", "nan" too
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Scalar(value);
}

std::optional<Scalar> TextValue(OpContext& c) {
  const auto text = c.Attr<std::string>("str_value", "");
  if (text.empty()) return std::nullopt;
  const auto value = ParseValue(text);
  if (!value) c.Corrupt("attribute str_value is ", Quote(text), ", expected a number");
  return value;
}

void FillConstant(OpContext& c) {
  const auto dtype = c.Attr<DataType>("dtype");
  Number value = c.NumberOf({"ValueTensor"}, "value", Scalar(0.0));
  if (const auto text = TextValue(c); text && !c.HasInput({"ValueTensor"})) value.value = text;
  Filled(c, c.IntsOf({"ShapeTensor"}, {"ShapeTensorList"}, "shape"), value, dtype);
}

void Full(OpContext& c) {
  Filled(c, c.IntsOf({nullptr}, {nullptr}, "shape"), c.NumberOf({nullptr}, "value"), c.Attr<DataType>("dtype"));
}

// What is in it does not matter; zeros are as good as any.
void Empty(OpContext& c) {
  Number zero;
  zero.value = Scalar(0.0);
  Filled(c, c.IntsOf({"ShapeTensor", 0}, {"ShapeTensorList"}, "shape"), zero, c.Attr<DataType>("dtype"));
}

// base to the powers of evenly spaced numbers.
void LogSpace(OpContext& c) {
  OpInputs inputs;
  OpAttrs attrs = {{"dtype", DataType::kFP64}};
  const auto pass = [&](const char* name, Param param) {
    Number number = c.NumberOf(param, "");
    if (!number.value)
      number.tensor = c.Cast(c.Reshaped(number.tensor, {}), name[0] == 'n' ? DataType::kInt64 : DataType::kFP64);
    OpContext::Pass(name, number, &inputs, &attrs);
  };
  pass("start", {"Start", 0});
  pass("stop", {"Stop", 1});
  pass("num", {"Num", 2});
  const std::string base = c.Cast(c.Reshaped(c.Input({"Base", 3}), {}), DataType::kFP64);
  const std::string powers = c.Binary("elementwise_pow", base, c.Emit("linspace", inputs, attrs));
  c.Result({"Out", 0}, c.Cast(powers, c.Attr<DataType>("dtype")));
}

// A tensor with one dimension of another's.
void FullBatchSizeLike(OpContext& c) {
  const std::string like = c.Input({"Input", 0});
  const auto shape = c.Attr<std::vector<int64_t>>("shape");
  const int64_t to = c.Axis(c.Attr<int64_t>("output_dim_idx", 0), static_cast<int>(shape.size()));
  std::vector<std::string> dims;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool taken = static_cast<int64_t>(i) == to;
    dims.push_back(taken ? c.Dimension(like, c.Axis(c.Attr<int64_t>("input_dim_idx", 0), c.Rank(like)))
                         : c.ConvertContext::ConstantInts(std::vector<int64_t>{shape[i]}));
  }
  const Scalar number = TextValue(c).value_or(c.Attr<Scalar>("value", Scalar(0.0)));
  const std::string value = c.ConstantScalar(number, c.Attr<DataType>("dtype"));
  c.Result({"Out", 0}, c.Expanded(value, c.Joined(dims)));
}

void FullWithTensor(OpContext& c) {
  Filled(c, c.IntsOf({nullptr, 1}, {nullptr}, "shape"), c.NumberOf({nullptr, 0}, ""), c.Attr<DataType>("dtype"));
}

void FullIntArray(OpContext& c) {
  const auto values = c.Attr<std::vector<int64_t>>("value");
  const DataType dtype = c.Attr<DataType>("dtype", DataType::kInt64);
  const Shape shape{static_cast<int64_t>(values.size())};
  c.Result({nullptr, 0},
           c.Constant(TensorOfScalars(shape, std::vector<Scalar>(values.begin(), values.end()), dtype), c.Stem()));
}

void FullLike(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({"X", 0})}}};
  OpAttrs attrs;
  OpContext::Pass("value", c.NumberOf({nullptr, 1}, "value", Scalar(0.0)), &inputs, &attrs);
  const DataType dtype = c.Attr<DataType>("dtype", DataType::kUndefined);
  if (dtype != DataType::kUndefined) attrs.emplace_back("dtype", dtype);
  c.EmitResult("full_like", inputs, attrs);
}

// A constant with its values in attributes: in one list of numbers with types, or in one list per type.
void AssignValue(OpContext& c) {
  c.Refuse({"ValuesTensor"});
  const auto dtype = c.Attr<DataType>("dtype");
  const std::vector<Scalar> values = c.ListedValues();
  const auto shape = c.Attr<std::vector<int64_t>>("shape");
  for (const int64_t dim : shape) {
    if (dim < 0) c.Corrupt("its shape has a negative dimension");
  }
  c.Result({"Out", 0}, c.Constant(TensorOfScalars(Shape(shape), values, dtype), c.Stem()));
}

// PIR's fill: x with all elements set.
void FillWith(OpContext& c) {
  OpInputs inputs = {{"x", {c.Input({nullptr, 0})}}};
  OpAttrs attrs;
  OpContext::Pass("value", c.NumberOf({nullptr, 1}, ""), &inputs, &attrs);
  c.EmitResult("full_like", inputs, attrs);
}

// ProgramDesc's: as assign_value, in one list of floats.
void Fill(OpContext& c) {
  const auto numbers = c.Attr<std::vector<double>>("value");
  const auto shape = c.Attr<std::vector<int64_t>>("shape");
  for (const int64_t dim : shape) {
    if (dim < 0) c.Corrupt("its shape has a negative dimension");
  }
  const std::vector<Scalar> values(numbers.begin(), numbers.end());
  c.Result({"Out", 0}, c.Constant(TensorOfScalars(Shape(shape), values, c.Attr<DataType>("dtype")), c.Stem()));
}

void Range(OpContext& c) {
  const DataType dtype = c.pir() ? c.Attr<DataType>("dtype") : c.TypeOf(c.Input({"Start"}));
  OpInputs inputs;
  OpAttrs attrs = {{"dtype", dtype}};
  OpContext::Pass("start", c.NumberOf({"Start", 0}, ""), &inputs, &attrs);
  OpContext::Pass("end", c.NumberOf({"End", 1}, ""), &inputs, &attrs);
  OpContext::Pass("step", c.NumberOf({"Step", 2}, "", Scalar(1)), &inputs, &attrs);
  c.EmitResult("arange", inputs, attrs);
}

}  // namespace

REGISTER_CONVERTER(paddle, empty, &Convert<Empty>);
REGISTER_CONVERTER(pir, empty, &Convert<Empty, 1>);
REGISTER_CONVERTER(paddle, logspace, &Convert<LogSpace>);
REGISTER_CONVERTER(pir, logspace, &Convert<LogSpace, 4>);
REGISTER_CONVERTER(paddle, fill_constant_batch_size_like, &Convert<FullBatchSizeLike>);
REGISTER_CONVERTER(pir, full_batch_size_like, &Convert<FullBatchSizeLike, 1>);
REGISTER_CONVERTER(paddle, fill_constant, &Convert<FillConstant>);
REGISTER_CONVERTER(pir, full, &Convert<Full, 0>);
REGISTER_CONVERTER(pir, full_with_tensor, &Convert<FullWithTensor, 2>);
REGISTER_CONVERTER(pir, full_int_array, &Convert<FullIntArray, 0>);
REGISTER_CONVERTER(paddle, fill_any_like, &Convert<FullLike>);
REGISTER_CONVERTER(paddle, fill_zeros_like, &Convert<FullLike>);
REGISTER_CONVERTER(pir, full_like, &Convert<FullLike, 2>);
REGISTER_CONVERTER(paddle, assign_value, &Convert<AssignValue>);
REGISTER_CONVERTER(pir, assign_value_, &Convert<AssignValue, 1>);
REGISTER_CONVERTER(pir, assign_value, &Convert<AssignValue, 0>);
REGISTER_CONVERTER(paddle, fill, &Convert<Fill>);
REGISTER_CONVERTER(pir, fill, &Convert<FillWith, 2>);
REGISTER_CONVERTER(paddle, fill_any, &Convert<FullLike>);
REGISTER_CONVERTER(paddle, range, &Convert<Range>);
REGISTER_CONVERTER(pir, arange, &Convert<Range, 3>);

}  // namespace wherry::paddle
