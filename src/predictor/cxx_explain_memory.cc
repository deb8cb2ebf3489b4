#include "predictor/cxx_explain_memory.h"

namespace wherry {

namespace {

// What the plan's calls say about a slot that they write.
struct WrittenSlot {
  std::string name;
  std::string op;
};

}  // namespace

MemoryExplanation ExplainMemory(const ShapePlan& plan) {
  MemoryExplanation memory;
  std::vector<WrittenSlot> written(plan.tensors.size());
  std::vector<Lifetime> lifetimes(plan.tensors.size(), {0, -1, -1});  // by root
  for (size_t step = 0; step < plan.calls.size(); ++step) {
    const PlannedCall& call = plan.calls[step];
    const Instruction& instruction = *call.instruction;
    memory.statements.push_back(instruction.name());
    const auto touch = [&](size_t slot) {
      Lifetime& life = lifetimes[RootOf(plan, static_cast<int>(slot))];
      if (life.first < 0) life.first = static_cast<int>(step);
      life.last = static_cast<int>(step);
    };
    for (const InstructionArg& arg : instruction.args) {
      for (const int slot : arg.slots) touch(call.Slot(slot));
    }
    for (size_t i = 0; i < instruction.outputs.size(); ++i) {
      const std::vector<std::string>& names = instruction.desc->Output(instruction.schema->outputs[i].name);
      for (size_t j = 0; j < instruction.outputs[i].size(); ++j) {
        const size_t slot = call.Slot(instruction.outputs[i][j]);
        touch(slot);
        written[slot] = {j < names.size() ? names[j] : "", instruction.name()};
      }
    }
  }
  std::vector<int> value_of(plan.tensors.size(), -1);
  std::vector<Lifetime> in_arena;
  for (size_t slot = 0; slot < plan.tensors.size(); ++slot) {
    const DenseTensor& tensor = plan.tensors[slot];
    if (written[slot].op.empty() || plan.residence[slot] == Residence::kRunTime) continue;
    TensorMeta dense = tensor.meta();
    dense.pixel_stride = 0;
    memory.activation_bytes += static_cast<int64_t>(dense.nbytes());
    if (plan.residence[slot] == Residence::kOwn) memory.output_bytes += static_cast<int64_t>(tensor.nbytes());
    if (plan.residence[slot] != Residence::kArena || !IsHostMemory(plan.targets[slot])) continue;
    lifetimes[slot].bytes = tensor.nbytes();
    in_arena.push_back(lifetimes[slot]);
    value_of[slot] = static_cast<int>(memory.values.size());
    MemoryValue value;
    value.name = written[slot].name;
    value.type = tensor.meta().DebugString();
    value.op = written[slot].op;
    value.offset = static_cast<int64_t>(plan.offset[slot]);
    value.bytes = static_cast<int64_t>(tensor.nbytes());
    value.first = lifetimes[slot].first;
    value.last = lifetimes[slot].last;
    memory.values.push_back(std::move(value));
  }
  for (size_t slot = 0; slot < plan.tensors.size(); ++slot) {
    const size_t root = RootOf(plan, static_cast<int>(slot));
    if (root != slot && value_of[root] >= 0 && !written[slot].op.empty())
      memory.values[static_cast<size_t>(value_of[root])].shared_by.push_back(written[slot].name);
  }
  const auto arena = plan.arena_bytes.find(Target::kHost);
  memory.arena_bytes = arena == plan.arena_bytes.end() ? 0 : static_cast<int64_t>(arena->second);
  memory.least_bytes = static_cast<int64_t>(PeakBytes(in_arena));
  memory.scratch_bytes = static_cast<int64_t>(plan.scratch_bytes);
  return memory;
}

}  // namespace wherry
