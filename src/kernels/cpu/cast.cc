#include "kernels/cpu/vector/cast.h"

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

Support Supports(const KernelProblem& problem) {
  const bool has_loop = CastTileOf(problem.Input("x")->dtype, problem.Output().dtype) != nullptr;
  return has_loop ? Support::Yes() : Support::No("has no loop for these types");
}

void Run(KernelContext* context) {
  const DenseTensor* const x = context->Input(0);
  DenseTensor* const out = context->Output(0);
  RunTyped(CastTileOf(x->dtype(), out->dtype()), {&x, 1}, out, context->device_as<CpuContext>().pool());
}

}  // namespace

REGISTER_KERNEL_VARIANT(cast, cpu, vectors, kNative, kFloat, kAny).Supports(&Supports).Run(&Run).PixelStrides();
REGISTER_KERNEL_VARIANT(cast, cpu, vectors, kNative, kFP16, kAny).Supports(&Supports).Run(&Run).PixelStrides();
REGISTER_KERNEL_VARIANT(cast, cpu, vectors, kNative, kBF16, kAny).Supports(&Supports).Run(&Run).PixelStrides();
REGISTER_KERNEL_VARIANT(cast, cpu, vectors, kNative, kBool, kAny).Supports(&Supports).Run(&Run).PixelStrides();

}  // namespace wherry::cpu
