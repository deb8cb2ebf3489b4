#include "op/epilogue.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/check.h"
#include "base/strings.h"
#include "core/number_text.h"
#include "core/text_cursor.h"

namespace wherry {
namespace {

struct ActInfo {
  const char* name;
  int parameters;
};

// In the order of ActKind.
constexpr ActInfo kActs[] = {
    {"identity", 0}, {"relu", 0},        {"clip", 2},      {"leaky_relu", 1}, {"elu", 1},   {"sigmoid", 0},
    {"tanh", 0},     {"hardsigmoid", 2}, {"hardswish", 0}, {"swish", 1},      {"gelu", 0},  {"gelu_tanh", 0},
    {"exp", 0},      {"sqrt", 0},        {"abs", 0},       {"softplus", 2},   {"mish", 0},  {"erf", 0},
    {"square", 0},   {"reciprocal", 0},  {"neg", 0},       {"log", 0},        {"rsqrt", 0}, {"floor", 0},
    {"ceil", 0},     {"round", 0},       {"sign", 0},      {"linear", 2},
};
static_assert(std::size(kActs) == kActKinds);

std::optional<ActKind> FindAct(std::string_view name) {
  for (size_t i = 0; i < std::size(kActs); ++i) {
    if (kActs[i].name == name) return static_cast<ActKind>(i);
  }
  return std::nullopt;
}

// In the order of ElementwiseInstruction::Op, up to kPow.
constexpr const char* kBinaryNames[] = {"add", "sub", "mul", "div", "max", "min", "pow"};
static_assert(std::size(kBinaryNames) == static_cast<size_t>(ElementwiseInstruction::Op::kAct));

bool IsKnown(ActKind kind) { return static_cast<size_t>(kind) < std::size(kActs); }

// The parameters that the formula has, and more only if others are set too, so that nothing is lost.
std::string ParametersText(ActKind kind, float a, float b, const char* before) {
  const auto set = [](float value) { return std::bit_cast<uint32_t>(value) != 0; };
  const int count = std::max(IsKnown(kind) ? kActs[static_cast<size_t>(kind)].parameters : 0, set(b)   ? 2
                                                                                              : set(a) ? 1
                                                                                                       : 0);
  std::string text;
  if (count > 0) text += before + NumberText(a);
  if (count > 1) text += ", " + NumberText(b);
  return text;
}

// The parameters after `kind`'s name, as far as the closing parenthesis. `more` is whether something precedes them.
template <typename Step>
void ParseParameters(TextCursor* cursor, ActKind kind, bool more, Step* step) {
  float* const values[] = {&step->a, &step->b};
  int count = 0;
  while (cursor->Peek() != ')') {
    if (count == 2) cursor->Fail("')'");
    if (more || count > 0) cursor->Expect(',');
    *values[count++] = cursor->Number<float>("a number");
  }
  if (count < kActs[static_cast<size_t>(kind)].parameters) {
    cursor->Fail(StrCat(kActs[static_cast<size_t>(kind)].parameters, " parameters of ", ToString(kind)));
  }
  cursor->Expect(')');
}

std::string StepText(const EpilogueStep& step) {
  switch (step.kind) {
    case EpilogueStep::Kind::kScale: return StrCat("scale(", step.operand, ")");
    case EpilogueStep::Kind::kBias: return StrCat("bias(", step.operand, ")");
    case EpilogueStep::Kind::kAdd: return StrCat("add(", step.operand, ")");
    case EpilogueStep::Kind::kAct: break;
  }
  const std::string parameters = ParametersText(step.act, step.a, step.b, "");
  return ToString(step.act) + (parameters.empty() ? "" : "(" + parameters + ")");
}

EpilogueStep ParseStep(TextCursor* cursor) {
  EpilogueStep step;
  const std::string_view name = cursor->Word("scale, bias, add or an activation");
  const auto operand = [&](EpilogueStep::Kind kind) {
    step.kind = kind;
    cursor->Expect('(');
    step.operand = cursor->Number<int>("the number of an operand");
    cursor->Expect(')');
    return step;
  };
  if (name == "scale") return operand(EpilogueStep::Kind::kScale);
  if (name == "bias") return operand(EpilogueStep::Kind::kBias);
  if (name == "add") return operand(EpilogueStep::Kind::kAdd);
  step.act = ParseActKind(name);
  if (kActs[static_cast<size_t>(step.act)].parameters > 0 && cursor->Peek() != '(') cursor->Fail("'('");
  if (cursor->Accept('(')) ParseParameters(cursor, step.act, false, &step);
  return step;
}

std::string InstructionText(const ElementwiseInstruction& instruction) {
  using Op = ElementwiseInstruction::Op;
  if (instruction.op == Op::kConstant) return StrCat("constant(", NumberText(instruction.a), ")");
  if (instruction.op == Op::kAct) {
    return StrCat(ToString(instruction.act), "(", instruction.lhs,
                  ParametersText(instruction.act, instruction.a, instruction.b, ", "), ")");
  }
  const char* name = instruction.op < Op::kAct ? kBinaryNames[static_cast<size_t>(instruction.op)] : "invalid";
  return StrCat(name, "(", instruction.lhs, ", ", instruction.rhs, ")");
}

ElementwiseInstruction ParseInstruction(TextCursor* cursor) {
  using Op = ElementwiseInstruction::Op;
  ElementwiseInstruction instruction;
  const std::string_view name = cursor->Word("an instruction");
  cursor->Expect('(');
  if (name == "constant") {
    instruction.op = Op::kConstant;
    instruction.a = cursor->Number<float>("a number");
    cursor->Expect(')');
    return instruction;
  }
  const auto* binary = std::find(std::begin(kBinaryNames), std::end(kBinaryNames), name);
  instruction.op = binary != std::end(kBinaryNames) ? static_cast<Op>(binary - kBinaryNames) : Op::kAct;
  if (instruction.op == Op::kAct) instruction.act = ParseActKind(name);
  instruction.lhs = cursor->Number<int>("a register");
  if (instruction.op == Op::kAct) {
    ParseParameters(cursor, instruction.act, true, &instruction);
    return instruction;
  }
  cursor->Expect(',');
  instruction.rhs = cursor->Number<int>("a register");
  cursor->Expect(')');
  return instruction;
}

}  // namespace

const char* ToString(ActKind kind) noexcept {
  return IsKnown(kind) ? kActs[static_cast<size_t>(kind)].name : "invalid";
}

ActKind ParseActKind(std::string_view name) {
  if (const std::optional<ActKind> kind = FindAct(name)) return *kind;
  std::string known;
  for (const ActInfo& act : kActs) known += StrCat(known.empty() ? "" : ", ", act.name);
  Throw(ErrorCode::kInvalidArgument, "unknown activation ", Quote(name), "; there are: ", known);
}

std::string ToString(const Epilogue& epilogue) {
  std::string text;
  for (const EpilogueStep& step : epilogue.steps) text += (text.empty() ? "" : ", ") + StepText(step);
  return text;
}

Epilogue ParseEpilogue(std::string_view text) {
  TextCursor cursor(text, "epilogue");
  Epilogue epilogue;
  if (cursor.AtEnd()) return epilogue;
  do {
    if (epilogue.steps.size() == Epilogue::kMaxSteps) cursor.Fail(StrCat("at most ", Epilogue::kMaxSteps, " steps"));
    epilogue.steps.push_back(ParseStep(&cursor));
  } while (cursor.Accept(','));
  cursor.ExpectEnd();
  return epilogue;
}

void Validate(const Epilogue& epilogue, int operands) {
  WHERRY_ENFORCE(epilogue.steps.size() <= Epilogue::kMaxSteps, kInvalidArgument, "an epilogue of ",
                 epilogue.steps.size(), " steps; the most is ", Epilogue::kMaxSteps);
  for (const EpilogueStep& step : epilogue.steps) {
    if (step.kind == EpilogueStep::Kind::kAct) {
      WHERRY_ENFORCE(IsKnown(step.act) && step.operand == -1, kInvalidArgument, "epilogue step ", StepText(step),
                     " with operand ", step.operand);
      continue;
    }
    WHERRY_ENFORCE(step.kind <= EpilogueStep::Kind::kAct && step.operand >= 0 && step.operand < operands,
                   kInvalidArgument, "epilogue step ", StepText(step), ", but the op has ", operands, " operands");
  }
}

std::string ToString(const ElementwiseProgram& program) {
  std::string text = StrCat(program.inputs, ":");
  const char* separator = " ";
  for (const ElementwiseInstruction& instruction : program.instructions) {
    text += separator + InstructionText(instruction);
    separator = "; ";
  }
  return text;
}

ElementwiseProgram ParseElementwiseProgram(std::string_view text) {
  TextCursor cursor(text, "elementwise program");
  ElementwiseProgram program;
  program.inputs = cursor.Number<int>("the number of inputs");
  cursor.Expect(':');
  if (cursor.AtEnd()) return program;
  do {
    if (program.instructions.size() == ElementwiseProgram::kMaxInstructions) {
      cursor.Fail(StrCat("at most ", ElementwiseProgram::kMaxInstructions, " instructions"));
    }
    program.instructions.push_back(ParseInstruction(&cursor));
  } while (cursor.Accept(';'));
  cursor.ExpectEnd();
  return program;
}

void Validate(const ElementwiseProgram& program) {
  using Op = ElementwiseInstruction::Op;
  WHERRY_ENFORCE(program.inputs >= 0 && program.inputs <= ElementwiseProgram::kMaxInputs, kInvalidArgument,
                 "an elementwise program of ", program.inputs, " inputs; the most is ", ElementwiseProgram::kMaxInputs);
  const size_t count = program.instructions.size();
  WHERRY_ENFORCE(count >= 1 && count <= ElementwiseProgram::kMaxInstructions, kInvalidArgument,
                 "an elementwise program of ", count, " instructions; there must be 1 to ",
                 ElementwiseProgram::kMaxInstructions);
  int written = program.inputs;
  for (const ElementwiseInstruction& instruction : program.instructions) {
    const auto readable = [&](int reg) { return reg >= 0 && reg < written; };
    WHERRY_ENFORCE(instruction.op <= Op::kConstant && IsKnown(instruction.act), kInvalidArgument,
                   "an instruction that there is not");
    const bool unary = instruction.op == Op::kAct;
    const bool good =
        instruction.op == Op::kConstant || (readable(instruction.lhs) && (unary || readable(instruction.rhs)));
    WHERRY_ENFORCE(good, kInvalidArgument, "instruction ", InstructionText(instruction),
                   " of an elementwise program reads a register that is not written yet (", written, " are)");
    ++written;
  }
}

}  // namespace wherry
