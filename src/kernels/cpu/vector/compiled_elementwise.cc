// How registers of a program become buffers.
#include <algorithm>

#include "base/check.h"
#include "kernels/cpu/vector/elementwise.h"

namespace wherry::cpu {
namespace {

ElementwiseOp OpOf(const ElementwiseInstruction& instruction) {
  using From = ElementwiseInstruction::Op;
  switch (instruction.op) {
    case From::kAdd: return ElementwiseOp::kAdd;
    case From::kSub: return ElementwiseOp::kSub;
    case From::kMul: return ElementwiseOp::kMul;
    case From::kDiv: return ElementwiseOp::kDiv;
    case From::kMax: return ElementwiseOp::kMax;
    case From::kMin: return ElementwiseOp::kMin;
    case From::kPow: return ElementwiseOp::kPow;
    case From::kAct: return ToElementwiseOp(instruction.act);
    case From::kConstant: return ElementwiseOp::kConstant;
  }
  Throw(ErrorCode::kInternal, "unknown elementwise instruction ", static_cast<int>(instruction.op));
}

bool ReadsLeft(ElementwiseOp op) { return op != ElementwiseOp::kConstant; }
bool ReadsRight(ElementwiseOp op) { return op < ElementwiseOp::kConstant; }

}  // namespace

CompiledElementwise::CompiledElementwise(ElementwiseOp op, float a, float b) {
  inputs_ = ReadsRight(op) ? 2 : 1;
  step_count_ = 1;
  steps_[0] = {static_cast<uint8_t>(op), 0, static_cast<int8_t>(ReadsRight(op) ? 1 : kNone), kOutput, a, b};
}

CompiledElementwise::CompiledElementwise(const ElementwiseProgram& program) {
  Validate(program);
  inputs_ = program.inputs;
  step_count_ = static_cast<int>(program.instructions.size());
  constexpr int kRegisters = ElementwiseProgram::kMaxInputs + ElementwiseProgram::kMaxInstructions;
  // The last instruction that reads each register.
  std::array<int, kRegisters> last_use;
  last_use.fill(-1);
  const auto use = [&](int reg, int at) { last_use[static_cast<size_t>(reg)] = at; };
  for (int i = 0; i < step_count_; ++i) {
    const ElementwiseInstruction& instruction = program.instructions[static_cast<size_t>(i)];
    if (ReadsLeft(OpOf(instruction))) use(instruction.lhs, i);
    if (ReadsRight(OpOf(instruction))) use(instruction.rhs, i);
  }
  // Buffers are taken lowest first and given back after the last use; an instruction may write over what it reads last.
  std::array<int8_t, kRegisters> place;
  place.fill(kNone);
  for (int i = 0; i < inputs_; ++i) place[static_cast<size_t>(i)] = static_cast<int8_t>(i);
  std::array<bool, ElementwiseProgram::kMaxInstructions> taken{};
  const auto release = [&](int reg, int at) {
    const int8_t where = place[static_cast<size_t>(reg)];
    if (where >= ElementwiseProgram::kMaxInputs && last_use[static_cast<size_t>(reg)] == at) {
      taken[static_cast<size_t>(where - ElementwiseProgram::kMaxInputs)] = false;
    }
  };
  for (int i = 0; i < step_count_; ++i) {
    const ElementwiseInstruction& instruction = program.instructions[static_cast<size_t>(i)];
    const ElementwiseOp op = OpOf(instruction);
    Step step;
    step.op = static_cast<uint8_t>(op);
    step.a = instruction.a;
    step.b = instruction.b;
    if (ReadsLeft(op)) {
      step.x = place[static_cast<size_t>(instruction.lhs)];
      release(instruction.lhs, i);
    }
    if (ReadsRight(op)) {
      step.y = place[static_cast<size_t>(instruction.rhs)];
      release(instruction.rhs, i);
    }
    if (i + 1 == step_count_) {
      step.to = kOutput;
    } else {
      const auto free = std::find(taken.begin(), taken.end(), false);
      const int buffer = static_cast<int>(free - taken.begin());
      *free = true;
      buffers_ = std::max(buffers_, buffer + 1);
      step.to = static_cast<int8_t>(ElementwiseProgram::kMaxInputs + buffer);
      place[static_cast<size_t>(inputs_) + static_cast<size_t>(i)] = step.to;
    }
    steps_[static_cast<size_t>(i)] = step;
  }
}

}  // namespace wherry::cpu
