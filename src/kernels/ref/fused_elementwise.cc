#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/activation.h"
#include "kernels/ref/element.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

constexpr size_t kRegisters = ElementwiseProgram::kMaxInputs + ElementwiseProgram::kMaxInstructions;
using Registers = std::array<double, kRegisters>;

double Evaluate(const ElementwiseInstruction& instruction, const Registers& registers) {
  using Op = ElementwiseInstruction::Op;
  const double left = instruction.lhs < 0 ? 0.0 : registers[static_cast<size_t>(instruction.lhs)];
  const double right = instruction.rhs < 0 ? 0.0 : registers[static_cast<size_t>(instruction.rhs)];
  switch (instruction.op) {
    case Op::kAdd: return left + right;
    case Op::kSub: return left - right;
    case Op::kMul: return left * right;
    case Op::kDiv: return left / right;
    case Op::kMax: return IsNan(right) ? right : MaxElement(left, right);
    case Op::kMin: return IsNan(right) ? right : MinElement(left, right);
    case Op::kPow: return std::pow(left, right);
    case Op::kAct: return Activate(instruction.act, left, instruction.a, instruction.b);
    case Op::kConstant: return instruction.a;
  }
  Throw(ErrorCode::kInternal, "bug in Wherry: unknown instruction ", static_cast<int>(instruction.op));
}

template <typename T>
void FusedElementwise(const CpuContext& /*context*/, std::span<const DenseTensor* const> inputs,
                      const ElementwiseProgram& program, DenseTensor* out) {
  Validate(program);
  const Shape& shape = out->shape();
  std::array<Strides, ElementwiseProgram::kMaxInputs> strides{};
  for (size_t i = 0; i < inputs.size(); ++i) strides[i] = BroadcastStrides(inputs[i]->shape(), shape);
  T* to = out->mutable_data<T>();
  Odometer<ElementwiseProgram::kMaxInputs> at(shape, strides);
  Registers registers{};
  for (int64_t i = 0, count = shape.numel(); i < count; ++i, at.Next()) {
    for (size_t k = 0; k < inputs.size(); ++k) registers[k] = Load(inputs[k]->data<T>()[at.offset(k)]);
    size_t last = inputs.size() - 1;
    for (const ElementwiseInstruction& instruction : program.instructions)
      registers[++last] = Evaluate(instruction, registers);
    to[i] = Store<T>(registers[last]);
  }
}

}  // namespace

REGISTER_KERNEL(fused_elementwise, ref, kHost, kNCHW, FusedElementwise, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
