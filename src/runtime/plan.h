// ShapePlan: one block worked out for one set of input types and shapes: the type of every value that can be known,
// where it lives in the arena, and every kernel call ready to go.
#pragma once

#include <memory>
#include <span>
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
  kArena,    // at an offset of the session's arena
  kOwn,      // a buffer of its own: outputs, watched values, what a kernel writes on a device
  kAlias,    // another slot's memory
  kRunTime,  // allocated when its op runs: its shape is not known before, or it is a copy between devices
};

struct PlannedCall {
  const Kernel* kernel = nullptr;
  KernelContext context;
  bool refresh = false;      // has attributes that are read from tensors
  bool at_run_time = false;  // inferred and selected when it runs (or control flow)
  bool nothing = false;      // no result has an element: the kernel is neither planned nor run
  explicit PlannedCall(DeviceContext* device) : context(device) {}
};

// Used by one session, one thread at a time. Tensors keep their address: kernel contexts point to them.
struct ShapePlan {
  std::vector<TensorMeta> input_metas;  // what it was made for
  std::vector<DenseTensor> tensors;     // by slot
  std::vector<Residence> residence;
  std::vector<Target> targets;       // whose memory the value lies in
  std::vector<size_t> arena_offset;  // kArena
  std::vector<int> alias_root;       // kAlias: the slot that owns the memory
  size_t arena_bytes = 0;
  size_t own_bytes = 0;  // of kOwn
  size_t scratch_bytes = 0;
  std::vector<PlannedCall> calls;  // one per instruction
  bool has_run_time_values = false;
};

// Infers, plans and packs. Errors name the op. `inputs` have one entry per input of the block; their small integer
// values are not looked at, since a plan is kept for other values of the same shape. Error(kResourceExhausted) when the
// activations need more than `memory_limit` (0: none) or than can be allocated.
std::unique_ptr<ShapePlan> MakePlan(const Executable& executable, const CompiledBlock& block,
                                    std::span<const TensorMeta> inputs, DeviceSet* devices, size_t memory_limit);
// Throws Error(kResourceExhausted) when `wanted` bytes are more than `memory_limit` (0: none).
void CheckMemoryLimit(size_t wanted, size_t memory_limit);

}  // namespace wherry
