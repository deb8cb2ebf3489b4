// Running the blocks that operators own: on plans of their own, with results in the memory of the one who called.
#include <algorithm>
#include <cstring>

#include "base/cancellation.h"
#include "base/check.h"
#include "base/checked_math.h"
#include "op/control_flow.h"
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
  if (!IsHostMemory(inner->targets[root])) return;
  if (planned) {
    if (value.nbytes() == result->nbytes()) value.set_buffer(result->buffer(), result->offset());
  } else if (result->buffer().use_count() == 1 && IsHostMemory(result->target()) && result->offset() == 0 &&
             result->buffer()->size() >= value.nbytes()) {
    value.set_buffer(result->buffer());
    result->set_buffer(nullptr);
  }
}

// Lets go of what a run was given and of what it gave, outputs [first, last), also after an error: the next one must
// not write over it.
class Borrowed {
 public:
  Borrowed(ShapePlan* plan, size_t first, size_t last) : plan_(plan), first_(first), last_(last) {}
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    ForgetInputs(plan_);
    for (const int slot : plan_->given_away) {
      if (Gives(RootOf(*plan_, slot))) plan_->tensors[Index(slot)].set_buffer(nullptr);
    }
  }

 private:
  bool Gives(size_t root) const {
    for (size_t i = first_; i < last_; ++i) {
      if (RootOf(*plan_, plan_->output_slots[i]) == root) return true;
    }
    return false;
  }

  ShapePlan* plan_;
  size_t first_;
  size_t last_;
};

// One bool.
bool IsTrue(const DenseTensor& condition) {
  WHERRY_ENFORCE(condition.numel() == 1 && condition.dtype() == DataType::kBool, kInvalidArgument, "the condition is ",
                 condition.meta().DebugString(), ", expected one bool");
  return condition.data<bool>()[0];
}

int64_t TripCount(const DenseTensor& count) {
  WHERRY_ENFORCE(count.numel() == 1 && (count.dtype() == DataType::kInt64 || count.dtype() == DataType::kInt32),
                 kInvalidArgument, "the trip count is ", count.meta().DebugString(), ", expected one i64");
  return count.dtype() == DataType::kInt64 ? count.data<int64_t>()[0] : count.data<int32_t>()[0];
}

}  // namespace

// What a loop keeps: its carried values, memory for their next ones, and rows of the scans so far.
struct LoopState {
  struct Scan {
    DenseTensor row;  // the first one's type
    std::shared_ptr<Buffer> rows;
    size_t bytes = 0;  // in use
  };
  DenseTensor iteration;
  DenseTensor condition;
  std::vector<DenseTensor> carried;
  std::vector<DenseTensor> spare;
  std::vector<DenseTensor> kept;  // from the run before, for the second iteration: the first has the caller's values
  std::vector<Scan> scans;
  int64_t done = 0;
};

namespace {

// Lets go of carried values, some of which may be the caller's, also after an error.
class CarriedUntilEnd {
 public:
  explicit CarriedUntilEnd(LoopState* loop) : loop_(loop) {}
  CarriedUntilEnd(const CarriedUntilEnd&) = delete;
  CarriedUntilEnd& operator=(const CarriedUntilEnd&) = delete;
  ~CarriedUntilEnd() {
    for (DenseTensor& value : loop_->carried) value = DenseTensor();
  }

 private:
  LoopState* loop_;
};

// Adds the bytes of an iteration's value to those of the others.
void Append(const DenseTensor& value, int64_t done, CountingAllocator* memory, LoopState::Scan* scan) {
  WHERRY_ENFORCE(IsHostMemory(value.target()) && SizeOf(value.dtype()) > 0, kUnsupported, "a scanned value is ",
                 value.meta().DebugString());
  TensorMeta plain = value.meta();
  plain.layout = DataLayout::kNCHW;
  plain.pixel_stride = 0;
  if (done == 0) scan->row = DenseTensor(plain);
  WHERRY_ENFORCE(scan->row.meta() == plain, kInvalidArgument, "a scanned value is ", plain.DebugString(),
                 " in iteration ", done, ", it was ", scan->row.meta().DebugString());
  const size_t row = plain.nbytes();
  const size_t needed = CheckedAdd(scan->bytes, row, "memory for scanned values");
  if (scan->rows == nullptr || scan->rows->size() < needed) {
    const size_t size = std::max(needed, CheckedAdd(scan->bytes, scan->bytes, "memory for scanned values"));
    std::shared_ptr<Buffer> larger = memory->Allocate(size);
    if (scan->bytes > 0) std::memcpy(larger->data(), scan->rows->data(), scan->bytes);
    scan->rows = std::move(larger);
  }
  DenseTensor to(plain, scan->rows, scan->bytes);
  CopyHostTensor(value, &to);
  scan->bytes = needed;
}

}  // namespace

void Session::RunLoop(PlannedCall* call, ShapePlan* plan) {
  const Instruction& instruction = *call->instruction;
  const auto tensor = [&](int slot) -> DenseTensor& { return plan->tensors[call->Slot(slot)]; };
  if (call->loop == nullptr) call->loop = std::make_shared<LoopState>();
  LoopState& loop = *call->loop;
  const std::vector<int>& carried = instruction.args[2].slots;
  const CarriedUntilEnd until_end(&loop);
  loop.done = 0;
  loop.carried.resize(carried.size());
  loop.spare.resize(carried.size());
  loop.kept.resize(carried.size());
  loop.scans.resize(instruction.outputs.at(1).size());
  for (size_t i = 0; i < carried.size(); ++i) loop.carried[i] = tensor(carried[i]);
  for (LoopState::Scan& scan : loop.scans) scan.bytes = 0;
  loop.iteration.Allocate(devices_.memory(), TensorMeta{DataType::kInt64, Shape(), DataLayout::kNCHW, 0});
  bool going = true;
  if (instruction.args[1].slots.empty()) {
    loop.condition.Allocate(devices_.memory(), TensorMeta{DataType::kBool, Shape(), DataLayout::kNCHW, 0});
    loop.condition.mutable_data<bool>()[0] = true;
  } else {
    CopyValue(tensor(instruction.args[1].slots[0]), &loop.condition);
    going = IsTrue(loop.condition);
  }
  const bool counted = !instruction.args[0].slots.empty();
  const int64_t trips = counted ? TripCount(tensor(instruction.args[0].slots[0])) : 0;
  for (; going && (!counted || loop.done < trips); ++loop.done) {
    // A body may have no instruction that would see it.
    ThrowIfCancelled(&cancelled_);
    going = RunIteration(call, plan, &loop);
  }
  const std::vector<int>& finals = instruction.outputs.at(0);
  for (size_t i = 0; i < finals.size(); ++i) {
    DenseTensor& result = tensor(finals[i]);
    if (plan->residence[call->Slot(finals[i])] != Residence::kRunTime) {
      WHERRY_CHECK(loop.carried[i].shape() == result.shape(), "a carried value is ",
                   loop.carried[i].meta().DebugString(), ", planned as ", result.meta().DebugString());
      CopyToHost(loop.carried[i], &result);
      if (loop.done > 0) loop.kept[i] = std::move(loop.carried[i]);
    } else if (loop.done > 0) {
      result = std::move(loop.carried[i]);
    } else {
      CopyValue(loop.carried[i], &result);
    }
  }
  for (size_t i = 0; i < loop.scans.size(); ++i) GiveScan(*call, i, &loop, plan);
}

bool Session::RunIteration(PlannedCall* call, ShapePlan* plan, LoopState* loop) {
  const Instruction& instruction = *call->instruction;
  const std::vector<int>& captures = instruction.args[3].slots;
  const size_t first_capture = kLoopLeadingInputs + loop->carried.size();
  const auto input = [&](size_t i) -> const DenseTensor& {
    if (i == 0) return loop->iteration;
    if (i == 1) return loop->condition;
    return i < first_capture ? loop->carried[i - kLoopLeadingInputs]
                             : plan->tensors[call->Slot(captures[i - first_capture])];
  };
  for (size_t i = 0; i < call->block_inputs.size(); ++i) call->block_inputs[i].meta = input(i).meta();
  const int block = instruction.blocks.at(0);
  BlockState* state = StateOf(block);
  ShapePlan* inner = FindPlan(state, executable_->block(block), call->block_inputs);
  // The condition and what is scanned are copied.
  const Borrowed borrowed(inner, kLoopLeadingOutputs, kLoopLeadingOutputs + loop->carried.size());
  loop->iteration.mutable_data<int64_t>()[0] = loop->done;
  for (size_t i = 0; i < inner->input_slots.size(); ++i) {
    inner->tensors[Index(inner->input_slots[i])].set_buffer(input(i).buffer(), input(i).offset());
  }
  for (size_t i = 0; i < loop->spare.size(); ++i) LendResult(&loop->spare[i], false, inner, kLoopLeadingOutputs + i);
  BindMemory(state, inner);
  RunCalls(inner);
  for (size_t i = 0; i < loop->scans.size(); ++i) {
    const size_t output = kLoopLeadingOutputs + loop->carried.size() + i;
    Append(inner->tensors[Index(inner->output_slots[output])], loop->done, &devices_.memory(), &loop->scans[i]);
  }
  // What was given in and is not the caller's becomes memory for the next but one.
  for (size_t i = 0; i < loop->carried.size(); ++i) {
    GiveResult(*inner, kLoopLeadingOutputs + i, false, &loop->spare[i]);
  }
  for (size_t i = 0; i < loop->carried.size(); ++i) {
    std::swap(loop->carried[i], loop->spare[i]);
    if (loop->done == 0) loop->spare[i] = std::move(loop->kept[i]);
  }
  const DenseTensor& condition = inner->tensors[Index(inner->output_slots[0])];
  const bool going = IsTrue(condition);
  if (loop->condition.shape() != condition.shape()) loop->condition.Allocate(devices_.memory(), condition.meta());
  loop->condition.mutable_data<bool>()[0] = going;
  return going;
}

void Session::GiveScan(const PlannedCall& call, size_t scan, LoopState* loop, ShapePlan* plan) {
  const size_t slot = call.Slot(call.instruction->outputs.at(1)[scan]);
  LoopState::Scan& rows = loop->scans[scan];
  TensorMeta meta;
  if (loop->done > 0) {
    meta = rows.row.meta();
  } else if (scan < call.scan_rows.size()) {
    // What is not known of a row that there is not: nothing.
    const MetaTensor& row = call.scan_rows[scan];
    meta.dtype = row.dtype;
    for (const Dim& dim : row.dims) meta.shape.push_back(dim.known() ? dim.value() : 0);
  }
  Shape shape({loop->done});
  for (const int64_t dim : meta.shape) shape.push_back(dim);
  meta.shape = shape;
  DenseTensor& result = plan->tensors[slot];
  if (rows.rows == nullptr) rows.rows = devices_.memory().Allocate(0);
  if (plan->residence[slot] != Residence::kRunTime) {
    WHERRY_CHECK(result.shape() == shape, "scanned values are ", meta.DebugString(), ", planned as ",
                 result.meta().DebugString());
    if (rows.bytes > 0) std::memcpy(result.mutable_raw_data(), rows.rows->data(), rows.bytes);
  } else {
    result = DenseTensor(meta, std::move(rows.rows));
  }
}

void Session::RunIf(PlannedCall* call, ShapePlan* plan) {
  const Instruction& instruction = *call->instruction;
  const bool condition = IsTrue(plan->tensors[call->Slot(instruction.args[0].slots.at(0))]);
  const int index = instruction.blocks.at(condition ? 0 : 1);
  const std::vector<int>& captures = instruction.args[1].slots;
  for (size_t i = 0; i < captures.size(); ++i) {
    call->block_inputs[i].meta = plan->tensors[call->Slot(captures[i])].meta();
  }
  BlockState* state = StateOf(index);
  ShapePlan* inner = FindPlan(state, executable_->block(index), call->block_inputs);
  const Borrowed borrowed(inner, 0, inner->output_slots.size());
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
