// Binary operators of ProgramDesc, whose second operand may be aligned to the first one's axis `axis` instead of to its
// end.
#include <algorithm>

#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// The operand of lower rank with dimensions of 1 behind its own, so that NumPy's broadcasting does what `axis` says.
std::string Aligned(OpContext& c, const std::string& low, int low_rank, int high_rank, int64_t axis) {
  if (low_rank == 0) return low;
  const int64_t behind = high_rank - axis - low_rank;
  if (axis < 0 || behind < 0) {
    c.Unsupported("attribute axis is ", axis, " with operands of rank ", high_rank, " and ", low_rank);
  }
  if (behind == 0) return low;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < behind; ++i) axes.push_back(low_rank + i);
  return c.Emit("unsqueeze", {{"x", {low}}}, {{"axis", IntArray(axes)}});
}

void ConvertBinary(OpContext& c, const char* type) {
  std::string x = c.Input({"X"});
  std::string y = c.Input({"Y"});
  const int64_t axis = c.Attr<int64_t>("axis", -1);
  if (axis != -1) {
    const int x_rank = c.Rank(x);
    const int y_rank = c.Rank(y);
    if (axis < -1 || axis >= std::max({x_rank, y_rank, 1})) {
      c.Corrupt("attribute axis is ", axis, " with operands of rank ", x_rank, " and ", y_rank);
    }
    if (x_rank > y_rank) {
      y = Aligned(c, y, y_rank, x_rank, axis);
    } else if (x_rank < y_rank) {
      x = Aligned(c, x, x_rank, y_rank, axis);
    }
  }
  c.EmitResult(type, {{"x", {x}}, {"y", {y}}});
}

void Add(OpContext& c) { ConvertBinary(c, "add"); }
void Subtract(OpContext& c) { ConvertBinary(c, "subtract"); }
void Multiply(OpContext& c) { ConvertBinary(c, "multiply"); }
void Divide(OpContext& c) { ConvertBinary(c, "divide"); }
void Maximum(OpContext& c) { ConvertBinary(c, "maximum"); }
void Minimum(OpContext& c) { ConvertBinary(c, "minimum"); }
void Power(OpContext& c) { ConvertBinary(c, "elementwise_pow"); }
void FloorDivide(OpContext& c) { ConvertBinary(c, "floor_divide"); }
void Remainder(OpContext& c) { ConvertBinary(c, "remainder"); }
void Fmax(OpContext& c) { ConvertBinary(c, "fmax"); }
void Fmin(OpContext& c) { ConvertBinary(c, "fmin"); }
void Heaviside(OpContext& c) { ConvertBinary(c, "heaviside"); }
void Equal(OpContext& c) { ConvertBinary(c, "equal"); }
void NotEqual(OpContext& c) { ConvertBinary(c, "not_equal"); }
void LessThan(OpContext& c) { ConvertBinary(c, "less_than"); }
void LessEqual(OpContext& c) { ConvertBinary(c, "less_equal"); }
void GreaterThan(OpContext& c) { ConvertBinary(c, "greater_than"); }
void GreaterEqual(OpContext& c) { ConvertBinary(c, "greater_equal"); }
void LogicalAnd(OpContext& c) { ConvertBinary(c, "logical_and"); }
void LogicalOr(OpContext& c) { ConvertBinary(c, "logical_or"); }
void LogicalXor(OpContext& c) { ConvertBinary(c, "logical_xor"); }

// A function of one tensor, as fused operators name it.
std::string Function(OpContext& c, const std::string& name, const std::string& x) {
  if (name == "scale") return c.Scaled(x, c.Attr<double>("scale", 0.0));
  for (const char* known : {"relu", "sigmoid", "tanh", "gelu"}) {
    if (name == known) return c.Unary(name, x);
  }
  c.Unsupported("the function ", name);
}

// f(g(x, y)) for the functions "f", "g"; f(x, g(y)) where the first one has two operands.
void FusedActivation(OpContext& c) {
  const auto functions = c.Attr<std::vector<std::string>>("functor_list");
  if (functions.size() != 2) c.Corrupt("attribute functor_list has ", functions.size(), " entries, expected 2");
  const bool binary_first = functions[0].rfind("elementwise_", 0) == 0;
  const std::string& binary = functions[binary_first ? 0 : 1];
  const std::string& unary = functions[binary_first ? 1 : 0];
  const char* type = binary == "elementwise_add" ? "add" : binary == "elementwise_mul" ? "multiply" : nullptr;
  if (type == nullptr) c.Unsupported("the function ", binary);
  if (c.Attr<int64_t>("axis", -1) != -1) c.Unsupported("attribute axis is ", c.Attr<int64_t>("axis"));
  const std::string x = c.Input({"X", 0});
  const std::string y = c.Input({"Y", 1});
  if (binary_first) {
    const std::string between = Function(c, unary, y);
    c.Result({"IntermediateOut", 1}, between);
    return c.EmitResult(type, {{"x", {x}}, {"y", {between}}});
  }
  const std::string between = c.Binary(type, x, y);
  c.Result({"IntermediateOut", 1}, between);
  c.Result({"Out", 0}, Function(c, unary, between));
}

// add_n: the sum of any number of tensors.
void AddN(OpContext& c) {
  const std::vector<std::string> terms = c.InputList({"X", 0});
  if (terms.empty()) c.Corrupt("it has no input");
  std::string sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) sum = c.Binary("add", sum, terms[i]);
  if (terms.size() == 1) sum = c.Unary("assign", sum);
  c.Result({"Out", 0}, sum);
}

void Pow(OpContext& c) {
  const std::string x = c.Input({"X", 0});
  const Number factor = c.NumberOf({"FactorTensor"}, c.pir() ? "y" : "factor", Scalar(1.0));
  c.EmitResult("elementwise_pow", {{"x", {x}}, {"y", {c.TensorOf(factor, c.TypeOf(x))}}});
}

void Increment(OpContext& c) {
  c.EmitResult("scale", {{"x", {c.Input({"X", 0})}}},
               {{"bias", c.Attr<Scalar>(c.pir() ? "value" : "step", Scalar(1.0))}});
}

// Of integers it is f64.
void Atan2(OpContext& c) {
  const auto input = [&](Param param) {
    const std::string x = c.Input(param);
    return IsFloating(c.TypeOf(x)) || c.TypeOf(x) == DataType::kUndefined ? x : c.Cast(x, DataType::kFP64);
  };
  c.EmitResult("atan2", {{"x", {input({"X1", 0})}}, {"y", {input({"X2", 1})}}});
}

}  // namespace

REGISTER_CONVERTER(paddle, atan2, &Convert<Atan2>);
REGISTER_CONVERTER(pir, atan2, &Convert<Atan2, 2>);
REGISTER_CONVERTER(paddle, elementwise_add, &Convert<Add>);
REGISTER_CONVERTER(paddle, elementwise_sub, &Convert<Subtract>);
REGISTER_CONVERTER(paddle, minus, &Convert<Subtract>);
REGISTER_CONVERTER(paddle, elementwise_mul, &Convert<Multiply>);
REGISTER_CONVERTER(paddle, elementwise_div, &Convert<Divide>);
REGISTER_CONVERTER(paddle, elementwise_max, &Convert<Maximum>);
REGISTER_CONVERTER(paddle, elementwise_min, &Convert<Minimum>);
REGISTER_CONVERTER(paddle, elementwise_pow, &Convert<Power>);
REGISTER_CONVERTER(paddle, elementwise_floordiv, &Convert<FloorDivide>);
REGISTER_CONVERTER(paddle, elementwise_mod, &Convert<Remainder>);
REGISTER_CONVERTER(paddle, elementwise_fmax, &Convert<Fmax>);
REGISTER_CONVERTER(paddle, elementwise_fmin, &Convert<Fmin>);
REGISTER_CONVERTER(paddle, elementwise_heaviside, &Convert<Heaviside>);
REGISTER_CONVERTER(paddle, equal, &Convert<Equal>);
REGISTER_CONVERTER(paddle, not_equal, &Convert<NotEqual>);
REGISTER_CONVERTER(paddle, less_than, &Convert<LessThan>);
REGISTER_CONVERTER(paddle, less_equal, &Convert<LessEqual>);
REGISTER_CONVERTER(paddle, greater_than, &Convert<GreaterThan>);
REGISTER_CONVERTER(paddle, greater_equal, &Convert<GreaterEqual>);
REGISTER_CONVERTER(paddle, logical_and, &Convert<LogicalAnd>);
REGISTER_CONVERTER(paddle, logical_or, &Convert<LogicalOr>);
REGISTER_CONVERTER(paddle, logical_xor, &Convert<LogicalXor>);
REGISTER_CONVERTER(paddle, fused_elemwise_activation, &Convert<FusedActivation>);
REGISTER_CONVERTER(pir, fused_elemwise_activation, &Convert<FusedActivation, 2, 2>);
REGISTER_CONVERTER(paddle, sum, &Convert<AddN>);
REGISTER_CONVERTER(pir, add_n, &Convert<AddN, 1>);
REGISTER_CONVERTER(paddle, pow, &Convert<Pow>);
REGISTER_CONVERTER(pir, pow, &Convert<Pow, 1>);
REGISTER_CONVERTER(paddle, increment, &Convert<Increment>);
REGISTER_CONVERTER(pir, increment_, &Convert<Increment, 1>);
REGISTER_CONVERTER(pir, increment, &Convert<Increment, 1>);

}  // namespace wherry::paddle
