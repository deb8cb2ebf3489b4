// Comparisons of whole tensors, and with a tolerance.
#include <charconv>
#include <cmath>

#include "base/strings.h"
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

// A tolerance: a tensor, or an attribute that is a number or, in older files, its text.
std::string Tolerance(OpContext& c, Param tensor, const char* name, double fallback, DataType dtype) {
  const std::string given = c.OptionalInput(tensor);
  if (!given.empty()) return c.Cast(c.Reshaped(given, {}), dtype);
  double value = fallback;
  if (const Attribute* attr = c.op().FindAttr(name); attr != nullptr && std::holds_alternative<std::string>(*attr)) {
    const auto text = c.Attr<std::string>(name);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) c.Corrupt("attribute ", name, " is ", Quote(text));
  } else {
    value = c.Attr<double>(name, fallback);
  }
  return c.ConstantScalar(Scalar(value), dtype);
}

// |x - y| <= atol + rtol * |y|, infinities equal to themselves. Computed in f64, as Paddle does.
std::string Close(OpContext& c) {
  const std::string x = c.Cast(c.Input({"Input", 0}), DataType::kFP64);
  const std::string y = c.Cast(c.Input({"Other", 1}), DataType::kFP64);
  const std::string rtol = Tolerance(c, {"Rtol", 2}, "rtol", 1e-5, DataType::kFP64);
  const std::string atol = Tolerance(c, {"Atol", 3}, "atol", 1e-8, DataType::kFP64);
  const std::string limit = c.Binary("add", atol, c.Binary("multiply", rtol, c.Unary("abs", y)));
  // Infinity is as near to infinity as the limit allows, which is infinity then: only the sign tells.
  const std::string near = c.Binary("less_equal", c.Unary("abs", c.Binary("subtract", x, y)), limit);
  const std::string finite = c.Binary("less_than", c.Unary("abs", y), c.Like(y, HUGE_VAL));
  std::string close = c.Binary("logical_or", c.Binary("equal", x, y), c.Binary("logical_and", near, finite));
  if (c.Attr<bool>("equal_nan", false)) {
    close = c.Binary("logical_or", close, c.Binary("logical_and", c.Unary("isnan", x), c.Unary("isnan", y)));
  }
  return close;
}

void IsClose(OpContext& c) { c.EmitResult("assign", {{"x", {Close(c)}}}); }
void AllClose(OpContext& c) {
  const std::string all = c.Unary("min", c.Cast(Close(c), DataType::kInt32));
  c.Result({"Out", 0}, c.Cast(c.DeclaredRank({"Out", 0}) == 1 ? c.Reshaped(all, {1}) : all, DataType::kBool));
}

void IsEmpty(OpContext& c) {
  const std::string numbers = c.Unary("prod", c.Unary("shape", c.Input({"X", 0})));
  const std::string empty = c.Binary("equal", numbers, c.Like(numbers, 0.0));
  c.Result({"Out", 0}, c.DeclaredRank({"Out", 0}) == 1 ? c.Reshaped(empty, {1}) : empty);
}

}  // namespace

REGISTER_CONVERTER(paddle, isclose, &Convert<IsClose>);
REGISTER_CONVERTER(pir, isclose, &Convert<IsClose, 4>);
REGISTER_CONVERTER(paddle, allclose, &Convert<AllClose>);
REGISTER_CONVERTER(pir, allclose, &Convert<AllClose, 4>);
REGISTER_CONVERTER(paddle, is_empty, &Convert<IsEmpty>);
REGISTER_CONVERTER(pir, is_empty, &Convert<IsEmpty, 1>);

}  // namespace wherry::paddle
