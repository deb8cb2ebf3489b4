// Elementwise arithmetic, comparisons and logic: the forms of opset 6 and older, which name the axis where the second
// operand begins, and those with any number of operands.
#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

// The second operand; for one of opset 6, with dimensions of 1 behind its own where `axis` wants them.
std::string SecondOperand(OnnxContext& c) {
  const std::string x = c.Input(0);
  std::string y = c.Input(1);
  if (c.opset() >= 7 || !c.Attr<bool>("broadcast", false) || !c.HasAttr("axis")) return y;
  const int rank = c.Rank(x);
  const int y_rank = c.Rank(y);
  const int64_t axis = c.Axis(c.Attr<int64_t>("axis"), rank);
  if (axis + y_rank > rank) c.Corrupt("an operand of rank ", y_rank, " at axis ", axis, " of one of rank ", rank);
  std::vector<int64_t> axes;
  for (int64_t i = y_rank; i < rank - axis; ++i) axes.push_back(i);
  return axes.empty() ? y : c.Unsqueezed(y, axes);
}

template <const char* kType>
void Binary(OnnxContext& c) {
  c.Bind(0, c.Binary(kType, c.Input(0), SecondOperand(c)));
}

constexpr char kAdd[] = "add";
constexpr char kSubtract[] = "subtract";
constexpr char kMultiply[] = "multiply";
constexpr char kDivide[] = "divide";
constexpr char kEqual[] = "equal";
constexpr char kLess[] = "less_than";
constexpr char kGreater[] = "greater_than";
constexpr char kAnd[] = "logical_and";
constexpr char kOr[] = "logical_or";
constexpr char kXor[] = "logical_xor";
constexpr char kMaximum[] = "maximum";
constexpr char kMinimum[] = "minimum";

// x^y has the type of x, whatever that of y.
void Pow(OnnxContext& c) {
  const std::string x = c.Input(0);
  const std::string y = SecondOperand(c);
  const DataType dtype = c.TypeOf(x);
  const auto power = c.ConvertContext::ConstantScalar(y);
  const MetaTensor& meta = c.Meta(y);
  if (power && power->to<double>() == 2.0 && IsFloating(dtype) && meta.rank_known && meta.rank() == 0) {
    return c.EmitResult("square", {{"x", {x}}});
  }
  if (IsFloating(dtype) || !IsFloating(c.TypeOf(y))) {
    return c.Bind(0, c.Binary("elementwise_pow", x, c.Cast(y, dtype)));
  }
  // An integer to a power that may be a fraction.
  c.Bind(0, c.Cast(c.Binary("elementwise_pow", c.Cast(x, c.TypeOf(y)), y), dtype));
}

template <const char* kType>
void Fold(OnnxContext& c) {
  std::string result = c.Input(0);
  for (size_t i = 1; i < c.InputCount(); ++i) result = c.Binary(kType, result, c.Input(i));
  c.Bind(0, result);
}

void Mean(OnnxContext& c) {
  std::string result = c.Input(0);
  for (size_t i = 1; i < c.InputCount(); ++i) result = c.Binary("add", result, c.Input(i));
  const auto count = static_cast<double>(c.InputCount());
  c.Bind(0, c.InputCount() == 1 ? result : c.Binary("divide", result, c.Like(result, count)));
}

void Mod(OnnxContext& c) {
  const bool fmod = c.Attr<bool>("fmod", false);
  c.Bind(0, c.Binary(fmod ? "fmod" : "remainder", c.Input(0), c.Input(1)));
}

bool IsUnsigned(DataType dtype) {
  return dtype == DataType::kUInt8 || dtype == DataType::kUInt16 || dtype == DataType::kUInt32 ||
         dtype == DataType::kUInt64;
}

void BitShift(OnnxContext& c) {
  const auto direction = c.Attr<std::string>("direction");
  if (direction != "LEFT" && direction != "RIGHT") c.Corrupt("attribute direction is ", Quote(direction));
  std::string by = c.Input(1);
  if (const DataType dtype = c.TypeOf(by); dtype != DataType::kUndefined && !IsUnsigned(dtype)) {
    // Less than zero is beyond the width, as what is too large.
    const std::string negative = c.Binary("less_than", by, c.Like(by, 0.0));
    const std::string width = c.Like(by, 8.0 * static_cast<double>(SizeOf(dtype)));
    by = c.Emit("where", {{"condition", {negative}}, {"x", {width}}, {"y", {by}}});
  }
  c.Bind(0, c.Binary(direction == "LEFT" ? "bitwise_left_shift" : "bitwise_right_shift", c.Input(0), by));
}

void IsInf(OnnxContext& c) {
  const std::string x = c.Input(0);
  const bool negative = c.Attr<bool>("detect_negative", true);
  const bool positive = c.Attr<bool>("detect_positive", true);
  const std::string infinite = c.Unary("isinf", x);
  if (negative && positive) return c.Bind(0, infinite);
  if (!negative && !positive) return c.Bind(0, c.Binary("logical_xor", infinite, infinite));
  const std::string sign = c.Binary(positive ? "greater_than" : "less_than", x, c.Like(x, 0.0));
  c.Bind(0, c.Binary("logical_and", infinite, sign));
}

}  // namespace

REGISTER_CONVERTER(onnx, Add, &Convert<Binary<kAdd>>);
REGISTER_CONVERTER(onnx, Sub, &Convert<Binary<kSubtract>>);
REGISTER_CONVERTER(onnx, Mul, &Convert<Binary<kMultiply>>);
REGISTER_CONVERTER(onnx, Div, &Convert<Binary<kDivide>>);
REGISTER_CONVERTER(onnx, Equal, &Convert<Binary<kEqual>>);
REGISTER_CONVERTER(onnx, Less, &Convert<Binary<kLess>>);
REGISTER_CONVERTER(onnx, Greater, &Convert<Binary<kGreater>>);
REGISTER_CONVERTER(onnx, And, &Convert<Binary<kAnd>>);
REGISTER_CONVERTER(onnx, Or, &Convert<Binary<kOr>>);
REGISTER_CONVERTER(onnx, Xor, &Convert<Binary<kXor>>);
REGISTER_CONVERTER(onnx, Pow, &Convert<Pow>);
REGISTER_CONVERTER(onnx, Max, &Convert<Fold<kMaximum>>);
REGISTER_CONVERTER(onnx, Min, &Convert<Fold<kMinimum>>);
REGISTER_CONVERTER(onnx, Sum, &Convert<Fold<kAdd>>);
REGISTER_CONVERTER(onnx, Mean, &Convert<Mean>);
REGISTER_CONVERTER(onnx, Mod, &Convert<Mod>);
REGISTER_CONVERTER(onnx, BitShift, &Convert<BitShift>);
REGISTER_CONVERTER(onnx, IsInf, &Convert<IsInf>);

}  // namespace wherry::onnx
