// Typed attributes of fused operators: the epilogue of conv, matmul and fc, and the program of fused_elementwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wherry {

// Activations with up to two parameters. The comment is the formula for input x, parameters a and b.
enum class ActKind : uint8_t {
  kIdentity,     // x
  kRelu,         // max(x, 0)
  kClip,         // min(max(x, a), b)             (relu6: a = 0, b = 6)
  kLeakyRelu,    // x >= 0 ? x : a * x
  kElu,          // x >= 0 ? x : a * (exp(x) - 1)
  kSigmoid,      // 1 / (1 + exp(-x))
  kTanh,         // tanh(x)
  kHardSigmoid,  // min(max(a * x + b, 0), 1)
  kHardSwish,    // x * min(max(x + 3, 0), 6) / 6
  kSwish,        // x * sigmoid(a * x)            (silu: a = 1)
  kGelu,         // x / 2 * (1 + erf(x / sqrt(2)))
  kGeluTanh,     // the tanh approximation of gelu
  kExp,          // exp(x)
  kSqrt,         // sqrt(x)
  kAbs,          // |x|
  kSoftplus,     // log(1 + exp(a * x)) / a, x where a * x > b
  kMish,         // x * tanh(softplus(x))
  kErf,          // erf(x)
  kSquare,       // x * x
  kReciprocal,   // 1 / x
  kNeg,          // -x
  kLog,          // log(x)
  kRsqrt,        // 1 / sqrt(x)
  kFloor,        // the greatest integer <= x
  kCeil,         // the least integer >= x
  kRound,        // the nearest integer, half to even
  kSign,         // -1, 0 or 1
  kLinear,       // a * x + b
};
inline constexpr int kActKinds = static_cast<int>(ActKind::kLinear) + 1;
const char* ToString(ActKind kind) noexcept;  // the names of the ops: "relu", "hardswish"
ActKind ParseActKind(std::string_view name);  // Error(kInvalidArgument) that lists the names

// One step applied to the accumulator v before it is stored. Channels are axis 1 of a convolution's output, the last
// axis of matmul's and fc's. Operands come from the op's `operands` inputs.
struct EpilogueStep {
  enum class Kind : uint8_t {
    kScale,  // v *= operand[channel]
    kBias,   // v += operand[channel]
    kAdd,    // v += operand, of the output's shape
    kAct,    // v = act(v, a, b)
  };
  Kind kind = Kind::kAct;
  ActKind act = ActKind::kIdentity;
  float a = 0.0F;
  float b = 0.0F;
  int operand = -1;  // index into the op's `operands`; -1 for kAct

  friend bool operator==(const EpilogueStep& x, const EpilogueStep& y) {
    return x.kind == y.kind && x.act == y.act && x.a == y.a && x.b == y.b && x.operand == y.operand;
  }
};

// At most kMaxSteps steps, applied in order.
struct Epilogue {
  static constexpr int kMaxSteps = 6;
  std::vector<EpilogueStep> steps;
  friend bool operator==(const Epilogue& x, const Epilogue& y) { return x.steps == y.steps; }
};
// "bias(0), add(1), clip(0.0, 6.0)" and back, exactly but for the payload of NaNs; "" is the empty epilogue. An
// activation is followed by as many parameters as its formula has. Parse throws Error(kInvalidArgument) with the place.
std::string ToString(const Epilogue& epilogue);
Epilogue ParseEpilogue(std::string_view text);
// Throws Error(kInvalidArgument) when there are more than kMaxSteps steps, or a step's operand is not one of `operands`
// (for an activation: is not -1).
void Validate(const Epilogue& epilogue, int operands);

// A chain of elementwise operators evaluated tile by tile. Register r < inputs holds input r (broadcast to the output's
// shape); instruction i writes register inputs + i; the last instruction's register is the output.
struct ElementwiseInstruction {
  enum class Op : uint8_t { kAdd, kSub, kMul, kDiv, kMax, kMin, kPow, kAct, kConstant };
  Op op = Op::kAdd;
  ActKind act = ActKind::kIdentity;  // kAct
  float a = 0.0F;                    // act's parameters; kConstant's value
  float b = 0.0F;
  int lhs = -1;  // registers
  int rhs = -1;

  friend bool operator==(const ElementwiseInstruction& x, const ElementwiseInstruction& y) {
    return x.op == y.op && x.act == y.act && x.a == y.a && x.b == y.b && x.lhs == y.lhs && x.rhs == y.rhs;
  }
};
struct ElementwiseProgram {
  static constexpr int kMaxInputs = 8;
  static constexpr int kMaxInstructions = 16;
  int inputs = 0;
  std::vector<ElementwiseInstruction> instructions;
  friend bool operator==(const ElementwiseProgram& x, const ElementwiseProgram& y) {
    return x.inputs == y.inputs && x.instructions == y.instructions;
  }
};
// "2: add(0, 1); relu(2); mul(3, 0); constant(0.5); clip(4, 0.0, 6.0)" and back: the number of inputs, then the
// instructions; an activation takes its register, then its parameters. Parse checks the form only, see Validate.
std::string ToString(const ElementwiseProgram& program);
ElementwiseProgram ParseElementwiseProgram(std::string_view text);
// Throws Error(kInvalidArgument) when a register is read before it is written, a limit is exceeded or there is no
// instruction.
void Validate(const ElementwiseProgram& program);

}  // namespace wherry
