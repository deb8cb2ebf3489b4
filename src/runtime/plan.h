// ShapePlan: one block worked out for one set of input types and shapes: the type of every value that can be known,
// where it lives in the arena, and every kernel call ready to go.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/arena_planner.h"
#include "kernel/kernel_context.h"
#include "runtime/device_set.h"
#include "runtime/executable.h"

namespace wherry {

// How a value's memory is provided.
enum class Residence : uint8_t {
  kInput,  // the caller's tensor
  kWeight,
  kArena,    // at an offset of the session's arena in the memory of its target
  kOwn,      // a buffer of its own: outputs, watched values
  kAlias,    // another slot's memory
  kRunTime,  // allocated when its op runs: its shape is not known before, its arguments are converted, or it is a copy
};

// What a plan is made for: an input's type, and its values where every run with this plan has the same ones (a child
// block's input that follows from shapes).
struct PlanInput {
  TensorMeta meta;
  std::optional<std::vector<Dim>> values;
  friend bool operator==(const PlanInput& a, const PlanInput& b) { return a.meta == b.meta && a.values == b.values; }
};

// By the slot of a block: the plan's slot that holds the value.
using SlotMap = std::vector<int>;

struct LoopState;

struct PlannedCall {
  const Instruction* instruction = nullptr;
  const SlotMap* slots = nullptr;  // of the block that the instruction stands in
  const Kernel* kernel = nullptr;
  KernelContext context;
  bool refresh = false;      // has attributes that are read from tensors
  bool at_run_time = false;  // inferred and selected when it runs (or control flow)
  bool planned = false;      // runs at run time, and its results' types are known all the same
  bool nothing = false;      // no result has an element, or each lies where it is: the kernel is not run
  // Control flow: what its blocks' plans are looked up by. Values are set for good, types where they are known only
  // then, before each run.
  std::vector<PlanInput> block_inputs;
  // A loop: what is known of an iteration's values for the scans, and what it keeps from run to run.
  std::vector<MetaTensor> scan_rows;
  std::shared_ptr<LoopState> loop;

  PlannedCall(const Instruction* what, const SlotMap* map, DeviceContext* device)
      : instruction(what), slots(map), context(device) {}
  size_t Slot(int slot) const { return static_cast<size_t>((*slots)[static_cast<size_t>(slot)]); }
};

// Used by one session, one thread at a time. Tensors keep their address: kernel contexts point to them. Blocks of an
// `if` whose condition is known are part of the plan: their values have slots of it, their instructions are calls of
// it. So it has more slots than its block, and `maps` says which is which.
struct ShapePlan {
  std::vector<PlanInput> inputs;  // what it was made for
  std::vector<int> input_slots;
  std::vector<int> output_slots;
  std::vector<std::unique_ptr<const SlotMap>> maps;  // the plan's own block comes first
  std::vector<DenseTensor> tensors;                  // by slot
  std::vector<Residence> residence;
  std::vector<Target> targets;  // whose memory the value lies in
  std::vector<size_t> offset;   // kArena: in the arena; kAlias: in the owner's memory
  std::vector<int> last_use;    // kArena: the call after which the memory may hold another value
  std::vector<int> alias_root;  // kAlias: the slot that owns the memory
  // The outputs' own memory, which is the caller's after each run: the slots that own it, then their aliases.
  std::vector<int> given_away;
  std::vector<int> input_views;          // kAlias in an input's memory, which is another's in each run
  std::map<Target, size_t> arena_bytes;  // by memory space
  size_t own_bytes = 0;                  // of kOwn
  size_t scratch_bytes = 0;
  double packing_us = 0;  // of the time that making the plan took
  std::vector<PlannedCall> calls;
};

// The slot that owns the memory of a slot.
inline size_t RootOf(const ShapePlan& plan, int slot) {
  const auto index = static_cast<size_t>(slot);
  return plan.residence[index] == Residence::kAlias ? static_cast<size_t>(plan.alias_root[index]) : index;
}

// What stands for all targets that share one memory.
inline Target MemorySpace(Target target) { return IsHostMemory(target) ? Target::kHost : target; }
// Arenas and values of their own together. Error(kOutOfRange) beyond 64 bits.
size_t ActivationBytes(const ShapePlan& plan);

// For errors: how many bytes the activations need, and the largest of them by its name and type.
std::string DescribeActivations(const ShapePlan& plan);
// For errors: the results of a call by their names.
std::string DescribeResults(const PlannedCall& call);

// Infers, plans and packs. Errors name the op. `inputs` have one entry per input of the block.
// Error(kResourceExhausted) when the activations alone need more than the limit of the devices' memory, or than can be
// allocated.
std::unique_ptr<ShapePlan> MakePlan(const Executable& executable, const CompiledBlock& block,
                                    std::span<const PlanInput> inputs, DeviceSet* devices);

}  // namespace wherry
