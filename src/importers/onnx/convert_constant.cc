// Values that a model has or makes, and operators that hand on what they get.
#include "base/strings.h"
#include "importer/constant_tensor.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

std::vector<Scalar> Scalars(const std::vector<double>& values) { return {values.begin(), values.end()}; }

void Constant(OnnxContext& c) {
  if (c.HasTensor("value")) return c.Bind(0, c.ConvertContext::Constant(c.Tensor("value"), c.Stem()));
  DenseTensor tensor;
  if (c.HasAttr("value_float")) {
    tensor = FilledTensor(Shape(), Scalar(c.Attr<double>("value_float")), DataType::kFloat);
  } else if (c.HasAttr("value_int")) {
    tensor = FilledTensor(Shape(), Scalar(c.Attr<int64_t>("value_int")), DataType::kInt64);
  } else if (c.HasAttr("value_floats")) {
    const auto values = c.Attr<std::vector<double>>("value_floats");
    tensor = TensorOfScalars(Shape{static_cast<int64_t>(values.size())}, Scalars(values), DataType::kFloat);
  } else if (c.HasAttr("value_ints")) {
    tensor = IntsTensor(c.Attr<std::vector<int64_t>>("value_ints"));
  } else if (c.HasAttr("value_string")) {
    tensor = DenseTensor(HostAllocator(), TensorMeta{DataType::kString, Shape()});
    *tensor.mutable_data<std::string>() = c.Attr<std::string>("value_string");
  } else if (c.HasAttr("value_strings")) {
    const auto values = c.Attr<std::vector<std::string>>("value_strings");
    tensor = DenseTensor(HostAllocator(), TensorMeta{DataType::kString, Shape{static_cast<int64_t>(values.size())}});
    std::copy(values.begin(), values.end(), tensor.mutable_data<std::string>());
  } else {
    if (c.HasAttr("sparse_value")) c.Unsupported("attribute sparse_value is given");
    c.Corrupt("it has no value");
  }
  c.Bind(0, c.ConvertContext::Constant(std::move(tensor), c.Stem()));
}

void ConstantOfShape(OnnxContext& c) {
  Scalar value(0.0F);
  DataType dtype = DataType::kFloat;
  if (c.HasTensor("value")) {
    const DenseTensor tensor = c.Tensor("value");
    if (tensor.numel() != 1) c.Corrupt("attribute value has ", tensor.numel(), " elements, expected one");
    dtype = tensor.dtype();
    const auto known = c.ConvertContext::ConstantScalar(c.ConvertContext::Constant(tensor));
    if (!known) c.Unsupported("attribute value is of type ", ToString(dtype));
    value = *known;
  }
  OpInputs inputs;
  OpAttrs attrs = {{"value", value}, {"dtype", dtype}};
  if (!c.HasInput(0)) c.Corrupt("input 0 is missing");
  OnnxContext::Pass("shape", *c.IntsAt(0), &inputs, &attrs);
  c.EmitResult("full", inputs, attrs);
}

void Range(OnnxContext& c) {
  OpInputs inputs;
  OpAttrs attrs = {{"dtype", c.TypeOf(c.Input(0))}};
  for (const size_t i : {1, 2}) c.Input(i);
  c.PassScalar("start", 0, &inputs, &attrs);
  c.PassScalar("end", 1, &inputs, &attrs);
  c.PassScalar("step", 2, &inputs, &attrs);
  c.EmitResult("arange", inputs, attrs);
}

// The value itself: nothing needs to run.
void Identity(OnnxContext& c) { c.Bind(0, c.Input(0)); }

void Dropout(OnnxContext& c) {
  if (c.HasInput(2)) {
    const auto training = c.ConstantInts(c.Input(2));
    if (!training || training->size() != 1) c.Unsupported("input training_mode is not constant");
    if ((*training)[0] != 0) c.Unsupported("input training_mode is true");
  }
  if (c.opset() < 7 && !c.Attr<bool>("is_test", false)) c.Unsupported("attribute is_test is 0");
  c.Bind(0, c.Input(0));
  if (!c.HasOutput(1)) return;
  // What is not dropped: everything.
  c.Bind(1, c.Emit("full_like", {{"x", {c.Input(0)}}}, {{"value", Scalar(true)}, {"dtype", DataType::kBool}}));
}

DataType TargetType(OnnxContext& c) {
  const auto number = c.Attr<int64_t>("to");
  const DataType dtype = DataTypeOf(number);
  if (dtype == DataType::kUndefined) c.Unsupported("attribute to is ", NameOfDataType(number));
  return dtype;
}

// Positive floats rounded down, or to the nearest, by what their bits say; half way goes up.
std::string PowersOfTwo(OnnxContext& c, const std::string& x, const std::string& mode) {
  if (mode != "down" && mode != "nearest") c.Corrupt("attribute round_mode is ", Quote(mode));
  constexpr int64_t kHalf = 0x00400000;
  constexpr int64_t kExponent = 0x7F800000;
  const auto constant = [&](int64_t value) { return c.ConstantScalar(Scalar(value), DataType::kInt32); };
  std::string bits = c.Emit("bitcast", {{"x", {c.Cast(x, DataType::kFloat)}}}, {{"dtype", DataType::kInt32}});
  // Half of an infinity's or the NaN's unit would turn one into the other.
  const std::string finite = c.Binary("less_than", bits, constant(kExponent));
  std::string rounded = mode == "nearest" ? c.Binary("add", bits, constant(kHalf)) : bits;
  rounded = c.Binary("bitwise_and", rounded, constant(kExponent));
  bits = c.Emit("where", {{"condition", {finite}}, {"x", {rounded}}, {"y", {bits}}});
  return c.Emit("bitcast", {{"x", {bits}}}, {{"dtype", DataType::kFloat}});
}

void CastTo(OnnxContext& c, DataType dtype) {
  std::string x = c.Input(0);
  if (c.TypeOf(x) == dtype) return c.Bind(0, x);
  const auto mode = c.Attr<std::string>("round_mode", "up");
  if (dtype == DataType::kFP8E8M0 && mode != "up") x = PowersOfTwo(c, x, mode);
  c.EmitResult("cast", {{"x", {x}}}, {{"dtype", dtype}, {"saturate", c.Attr<bool>("saturate", true)}});
}
void Cast(OnnxContext& c) { CastTo(c, TargetType(c)); }
void BitCast(OnnxContext& c) { c.EmitResult("bitcast", {{"x", {c.Input(0)}}}, {{"dtype", TargetType(c)}}); }
void CastLike(OnnxContext& c) { CastTo(c, c.TypeOf(c.Input(1))); }

}  // namespace

REGISTER_CONVERTER(onnx, Constant, &Convert<Constant>);
REGISTER_CONVERTER(onnx, ConstantOfShape, &Convert<ConstantOfShape>);
REGISTER_CONVERTER(onnx, Range, &Convert<Range>);
REGISTER_CONVERTER(onnx, Identity, &Convert<Identity>);
REGISTER_CONVERTER(onnx, Dropout, &Convert<Dropout>);
REGISTER_CONVERTER(onnx, Cast, &Convert<Cast>);
REGISTER_CONVERTER(onnx, BitCast, &Convert<BitCast>);
REGISTER_CONVERTER(onnx, CastLike, &Convert<CastLike>);

}  // namespace wherry::onnx
