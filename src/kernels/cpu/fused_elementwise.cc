// Chains of elementwise operators on f32 tensors, and batch normalisation, which is one.
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

struct ProgramPlan : KernelPlan {
  ProgramPlan(const ElementwiseProgram& source, const TensorMeta& out, std::span<const TensorMeta> inputs)
      : program(source), loops(LoopsOver(out, inputs)) {}
  CompiledElementwise program;
  BroadcastLoops loops;
};

std::shared_ptr<const KernelPlan> PlanFusedElementwise(const KernelProblem& problem) {
  std::vector<TensorMeta> inputs;
  for (const MetaTensor* input : problem.InputList("inputs")) inputs.push_back(input->tensor_meta());
  return std::make_shared<ProgramPlan>(problem.Attr<ElementwiseProgram>("program"), problem.Output().tensor_meta(),
                                       inputs);
}

void RunProgram(const ProgramPlan& plan, std::span<const DenseTensor* const> tensors, KernelContext* context) {
  std::array<const float*, BroadcastLoops::kMaxInputs> data{};
  for (size_t i = 0; i < tensors.size(); ++i) data[i] = tensors[i]->data<float>();
  RunElementwise(plan.program, plan.loops, {data.data(), tensors.size()}, context->Output(0)->mutable_data<float>(),
                 context->device_as<CpuContext>().pool());
}

void RunFusedElementwise(KernelContext* context) {
  RunProgram(context->plan<ProgramPlan>(), context->InputAt(0), context);
}

// (x - mean) / sqrt(variance + epsilon) * scale + bias over tensors of one value per channel, which lie along axis 1.
std::shared_ptr<const KernelPlan> PlanBatchNorm(const KernelProblem& problem) {
  using Instruction = ElementwiseInstruction;
  using Op = Instruction::Op;
  const TensorMeta x = problem.Input("x")->tensor_meta();
  ElementwiseProgram program;
  std::vector<TensorMeta> inputs = {x};
  Shape per_channel{x.shape[1]};
  for (int axis = 2; axis < x.shape.rank(); ++axis) per_channel.push_back(1);
  for (const char* name : {"mean", "variance", "scale", "bias"}) {
    if (problem.Input(name) != nullptr) inputs.push_back({DataType::kFloat, per_channel});
  }
  program.inputs = static_cast<int>(inputs.size());
  const auto append = [&program](Op op, int lhs, int rhs, ActKind act = ActKind::kIdentity, float a = 0.0F) {
    program.instructions.push_back({op, act, a, 0.0F, lhs, rhs});
    return program.inputs + static_cast<int>(program.instructions.size()) - 1;
  };
  int parameter = 3;
  const int epsilon = append(Op::kConstant, -1, -1, ActKind::kIdentity, problem.Attr<float>("epsilon"));
  const int variance = append(Op::kAdd, 2, epsilon);
  int factor = append(Op::kAct, variance, -1, ActKind::kSqrt);
  if (problem.Input("scale") != nullptr) {
    factor = append(Op::kDiv, parameter++, factor);
  } else {
    factor = append(Op::kAct, factor, -1, ActKind::kReciprocal);
  }
  const int centered = append(Op::kSub, 0, 1);
  const int scaled = append(Op::kMul, centered, factor);
  if (problem.Input("bias") != nullptr) append(Op::kAdd, scaled, parameter);
  return std::make_shared<ProgramPlan>(program, problem.Output().tensor_meta(), inputs);
}

void RunBatchNorm(KernelContext* context) {
  std::array<const DenseTensor*, 5> tensors{};
  size_t count = 0;
  for (size_t i = 0; i < context->input_count(); ++i) {
    if (context->Input(i) != nullptr) tensors[count++] = context->Input(i);
  }
  RunProgram(context->plan<ProgramPlan>(), {tensors.data(), count}, context);
}

}  // namespace

REGISTER_KERNEL_VARIANT(fused_elementwise, cpu, tiles, kNative, kFloat, kNCHW)
    .Plan(&PlanFusedElementwise)
    .Run(&RunFusedElementwise);
REGISTER_KERNEL_VARIANT(fused_elementwise, cpu, tiles, kNative, kFloat, kNHWC)
    .Plan(&PlanFusedElementwise)
    .Run(&RunFusedElementwise)
    .PixelStrides();
REGISTER_KERNEL_VARIANT(batch_norm, cpu, tiles, kNative, kFloat, kNCHW).Plan(&PlanBatchNorm).Run(&RunBatchNorm);
REGISTER_KERNEL_VARIANT(batch_norm, cpu, tiles, kNative, kFloat, kNHWC)
    .Plan(&PlanBatchNorm)
    .Run(&RunBatchNorm)
    .PixelStrides();

}  // namespace wherry::cpu
