#include "runtime/poison.h"

#include <cstring>

namespace wherry {

namespace {

void Poison(DenseTensor* tensor) {
  if (!tensor->has_data() || !IsHostMemory(tensor->target()) || tensor->buffer()->holds_strings()) return;
  std::memset(tensor->mutable_raw_data(), IsFloating(tensor->dtype()) ? 0xFF : 0xCD, tensor->nbytes());
}

}  // namespace

void PoisonResults(ShapePlan* plan) {
  for (size_t slot = 0; slot < plan->tensors.size(); ++slot) {
    const Residence residence = plan->residence[slot];
    if (residence == Residence::kArena || residence == Residence::kOwn) Poison(&plan->tensors[slot]);
  }
}

void PoisonAfter(int step, ShapePlan* plan, const CpuContext& context) {
  if (plan->scratch_bytes > 0) std::memset(context.Scratch(plan->scratch_bytes), 0xFF, plan->scratch_bytes);
  for (size_t slot = 0; slot < plan->tensors.size(); ++slot) {
    if (plan->residence[slot] == Residence::kArena && plan->last_use[slot] == step) Poison(&plan->tensors[slot]);
  }
}

}  // namespace wherry
