// Session: runs an Executable: its own activations, plans for the shapes it met, devices and threads. One thread at a
// time.
#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel/cost.h"
#include "runtime/plan.h"

namespace wherry {

struct CallArg;
class NumericCheck;

// Something that took time in a run: an instruction, or the session's own work around them.
struct StepRecord {
  const Instruction* instruction = nullptr;
  const char* work = "";           // without an instruction: "plan", "pack weights", "bind memory", ...
  const Kernel* kernel = nullptr;  // null: control flow or a copy
  std::vector<TensorMeta> inputs;
  std::vector<TensorMeta> outputs;
  Cost cost;            // estimated
  double start_us = 0;  // since the run, or Prepare, began
  double duration_us = 0;
  int depth = 0;  // statements of control flow that it runs in
};
// What a planned call is, without times, for so many threads.
StepRecord RecordOf(const ShapePlan& plan, const PlannedCall& call, int threads);
// What a planned call would cost with this kernel.
Cost EstimateCall(const ShapePlan& plan, const PlannedCall& call, const Kernel& kernel, int threads);

class Session {
 public:
  // A plan takes some KB per op; more shapes than this in turn are planned again.
  static constexpr size_t kMaxPlans = 16;
  // After so many runs memory is given back that none of them used half of.
  static constexpr int kRunsToShrink = 64;

  // `memory_limit`: the most memory, of host and devices together, for activations, results and scratch, those of the
  // blocks of control flow and results that somebody holds included; 0: none. A run that needs more is
  // Error(kResourceExhausted) that names what there was no room for, once what runs of other shapes left is given back.
  Session(std::shared_ptr<const Executable> executable, std::shared_ptr<ThreadPool> pool, size_t memory_limit = 0);
  ~Session();

  // Plans (and packs) for these input types without running, so that the first run is like any other. Its steps are
  // recorded.
  void Prepare(const std::vector<TensorMeta>& inputs);
  // What Prepare or the last run went by, of a block of control flow its last run; null when there is none.
  const ShapePlan* plan(int block = 0) const;
  // Runs. `inputs` are host tensors, one per input, of the declared type and rank (else Error(kInvalidArgument) naming
  // the input); their data must stay until Run returns. `outputs` get one tensor each, host memory, plain layout. A
  // tensor that is passed in and solely owned by the caller's slot is written over when it fits; one that others hold
  // is left alone and replaced. Allocates nothing when the shapes were planned and the outputs fit. After an Error all
  // `outputs` are null and the session runs on as if nothing had been.
  void Run(const std::vector<const DenseTensor*>& inputs, std::vector<std::shared_ptr<DenseTensor>>* outputs);
  // May be called from another thread: the run in progress ends with Error(kCancelled) before its next op, or before
  // the next chunk of an op whose kernel shares its work out (base/cancellation.h).
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  // The value of a watched slot or any value that still has memory of its own after the last run; null when there is
  // none.
  std::shared_ptr<DenseTensor> Value(const std::string& name) const;

  void Trim();
  // Memory that the session holds, on the host and on devices, and the results that it gave and somebody holds.
  size_t activation_bytes() const;
  void set_profiling(bool on) { profiling_ = on; }
  // For finding faults (runtime/numeric_check.h), and to see each value as it is made, in plain host memory. A sequence
  // is not shown.
  void set_numeric_check(bool on);
  using Observer = std::function<void(const Instruction&, const std::string& value, const DenseTensor&)>;
  void set_observer(Observer observer) { observer_ = std::move(observer); }
  // Sees each call, also in blocks of control flow, before it runs: its arguments are in the plan's tensors.
  using CallObserver = std::function<void(const ShapePlan&, const PlannedCall&)>;
  void set_call_observer(CallObserver observer) { call_observer_ = std::move(observer); }
  // For tests: between calls, fills memory that holds no value (runtime/poison.h), also in the blocks of control flow.
  void set_poison(bool on) { poison_ = on; }
  // Of the last run with profiling, by start. Together they are the run, but for some nanoseconds between them.
  const std::vector<StepRecord>& steps() const { return steps_; }
  const Executable& executable() const { return *executable_; }

 private:
  struct BlockState;  // plans and arena of one block

  void TryRun(const std::vector<const DenseTensor*>& inputs, std::vector<std::shared_ptr<DenseTensor>>* outputs);
  ShapePlan* FindPlan(BlockState* state, const CompiledBlock& block, std::span<const PlanInput> inputs);
  // Errors name the largest value.
  void BindMemory(BlockState* state, ShapePlan* plan);
  void BindArenas(BlockState* state, const ShapePlan& plan);
  void Replace(BlockState* state, Target space, size_t size);
  void BindSlot(const BlockState& state, ShapePlan* plan, size_t slot);
  void LendOutputs(ShapePlan* plan, const std::vector<std::shared_ptr<DenseTensor>>& outputs);
  void CollectOutputs(ShapePlan* plan, std::vector<std::shared_ptr<DenseTensor>>* outputs);
  void RunCalls(ShapePlan* plan);
  double RecordingTime() const;
  void RecordWork(const char* work, double start, double end);
  void FinishSteps(const ShapePlan& plan);
  void LookAt(const ShapePlan& plan, const PlannedCall& call);
  void RunAtRunTime(PlannedCall* call, ShapePlan* plan);
  DenseTensor Kept(DenseTensor result, const std::vector<CallArg>& args, DataLayout layout);
  void RunIf(PlannedCall* call, ShapePlan* plan);
  void RunLoop(PlannedCall* call, ShapePlan* plan);
  // One run of a loop's block, from the carried values of `loop` to the next. Whether there is to be another.
  bool RunIteration(PlannedCall* call, ShapePlan* plan, LoopState* loop);
  void GiveScan(const PlannedCall& call, size_t scan, LoopState* loop, ShapePlan* plan);
  // After the run of a block: its output becomes `result`, in memory that was planned for it, or in its own.
  void GiveResult(const ShapePlan& inner, size_t output, bool planned, DenseTensor* result);
  // The elements of a tensor on any device, to a host tensor of the same shape that has memory.
  void CopyToHost(const DenseTensor& from, DenseTensor* to);
  // A plain host tensor of its own memory, reused where it fits, with the elements of `from`.
  void CopyValue(const DenseTensor& from, DenseTensor* to);
  void CheckInputs(const std::vector<const DenseTensor*>& inputs) const;
  BlockState* StateOf(int block);

  std::shared_ptr<const Executable> executable_;
  DeviceSet devices_;
  std::map<int, std::unique_ptr<BlockState>> states_;
  std::vector<PlanInput> plan_inputs_;
  ShapePlan* last_plan_ = nullptr;
  bool planning_ = false;    // what fails then needs more than there can be
  int runs_ = 0;             // since the scratch memory was looked at
  size_t most_scratch_ = 0;  // that they needed
  std::atomic<bool> cancelled_{false};
  bool profiling_ = false;
  bool poison_ = false;
  std::unique_ptr<NumericCheck> numeric_check_;  // null: off
  Observer observer_;
  CallObserver call_observer_;
  std::vector<StepRecord> steps_;
  std::vector<const PlannedCall*> step_calls_;  // of steps at depth 0, whose types are filled in after the run
  double run_start_ = 0;
  int depth_ = 0;
};

}  // namespace wherry
