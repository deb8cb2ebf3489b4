// Running a block that an operator owns: on a plan of its own, with results in the memory of the one who called.
#include <algorithm>

#include "base/check.h"
#include "runtime/block_state.h"

namespace wherry {

namespace {

size_t Index(int slot) { return static_cast<size_t>(slot); }

// Whether an output of the plan shares the memory of an earlier one.
bool GivenBefore(const ShapePlan& plan, size_t output) {
  const size_t root = RootOf(plan, plan.output_slots[output]);
  for (size_t i = 0; i < output; ++i) {
    if (RootOf(plan, plan.output_slots[i]) == root) return true;
  }
  return false;
}

// Lends `result`'s memory to an output of a plan that is about to run: what is planned for the result, or else memory
// that it has and nobody else holds. `planned`: the result's type is known.
void LendResult(DenseTensor* result, bool planned, ShapePlan* inner, size_t output) {
  const size_t root = RootOf(*inner, inner->output_slots[output]);
  DenseTensor& value = inner->tensors[root];
  if (inner->residence[root] != Residence::kOwn || value.has_data() || !result->has_data()) return;
  if (planned) {
    if (value.nbytes() == result->nbytes()) value.set_buffer(result->buffer(), result->offset());
  } else if (result->buffer().use_count() == 1 && IsHostMemory(result->target()) && result->offset() == 0 &&
             result->buffer()->size() >= value.nbytes()) {
    value.set_buffer(result->buffer());
    result->set_buffer(nullptr);
  }
}

// Lets go of what a run was given and of what it gave, also after an error: the next one must not write over it.
class Borrowed {
 public:
  explicit Borrowed(ShapePlan* plan) : plan_(plan) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    for (const int slot : plan_->input_slots) plan_->tensors[Index(slot)].set_buffer(nullptr);
    GiveAway(plan_);
  }

 private:
  ShapePlan* plan_;
};

}  // namespace

void Session::RunIf(PlannedCall* call, ShapePlan* plan) {
  const Instruction& instruction = *call->instruction;
  const DenseTensor& condition = plan->tensors[call->Slot(instruction.args[0].slots.at(0))];
  WHERRY_ENFORCE(condition.numel() == 1 && condition.dtype() == DataType::kBool, kInvalidArgument, "the condition is ",
                 condition.meta().DebugString(), ", expected one bool");
  const int index = instruction.blocks.at(condition.data<bool>()[0] ? 0 : 1);
  const std::vector<int>& captures = instruction.args[1].slots;
  for (size_t i = 0; i < captures.size(); ++i) {
    call->block_inputs[i].meta = plan->tensors[call->Slot(captures[i])].meta();
  }
  BlockState* state = StateOf(index);
  ShapePlan* inner = FindPlan(state, executable_->block(index), call->block_inputs);
  const Borrowed borrowed(inner);
  for (size_t i = 0; i < captures.size(); ++i) {
    const DenseTensor& capture = plan->tensors[call->Slot(captures[i])];
    inner->tensors[Index(inner->input_slots[i])].set_buffer(capture.buffer(), capture.offset());
  }
  const std::vector<int>& results = instruction.outputs.at(0);
  for (size_t i = 0; i < results.size(); ++i) {
    const size_t slot = call->Slot(results[i]);
    LendResult(&plan->tensors[slot], plan->residence[slot] != Residence::kRunTime, inner, i);
  }
  BindMemory(state, inner);
  RunCalls(inner);
  for (size_t i = 0; i < results.size(); ++i) {
    const size_t slot = call->Slot(results[i]);
    GiveResult(*inner, i, plan->residence[slot] != Residence::kRunTime, &plan->tensors[slot]);
  }
}

void Session::GiveResult(const ShapePlan& inner, size_t output, bool planned, DenseTensor* result) {
  const DenseTensor& value = inner.tensors[Index(inner.output_slots[output])];
  const Residence residence = inner.residence[RootOf(inner, inner.output_slots[output])];
  const bool own = residence == Residence::kOwn || residence == Residence::kRunTime;
  if (planned) {
    if (value.buffer() == result->buffer() && value.offset() == result->offset()) return;
    CopyToHost(value, result);
  } else if (own && !GivenBefore(inner, output)) {
    *result = value;
  } else {
    // Of a capture or weight, which live in other memory, and perhaps not as long as the result.
    CopyValue(value, result);
  }
}

}  // namespace wherry
