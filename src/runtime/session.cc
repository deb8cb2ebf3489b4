#include "runtime/session.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "base/cancellation.h"
#include "base/check.h"
#include "core/grown_size.h"
#include "kernel/invoke.h"
#include "op/control_flow.h"
#include "runtime/block_state.h"
#include "runtime/numeric_check.h"
#include "runtime/poison.h"
#include "runtime/sequence_ops.h"

namespace wherry {

namespace {

size_t Index(int slot) { return static_cast<size_t>(slot); }

double Now() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<TensorMeta> MetasOf(const ShapePlan& plan, const PlannedCall& call,
                                const std::vector<std::vector<int>>& groups) {
  std::vector<TensorMeta> metas;
  for (const std::vector<int>& slots : groups) {
    for (int slot : slots) metas.push_back(plan.tensors[call.Slot(slot)].meta());
  }
  return metas;
}

// Also those of strings that have memory of their own.
size_t HeldBytes(const DenseTensor& tensor) {
  size_t bytes = tensor.buffer()->size();
  if (!tensor.buffer()->holds_strings()) return bytes;
  const size_t inside = std::string().capacity();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const size_t capacity = tensor.data<std::string>()[i].capacity();
    if (capacity > inside) bytes += capacity;
  }
  return bytes;
}

std::vector<std::vector<int>> ArgSlots(const Instruction& instruction) {
  std::vector<std::vector<int>> groups;
  for (const InstructionArg& arg : instruction.args) groups.push_back(arg.slots);
  return groups;
}

}  // namespace

Cost EstimateCall(const ShapePlan& plan, const PlannedCall& call, const Kernel& kernel, int threads) {
  const Instruction& instruction = *call.instruction;
  std::deque<MetaTensor> metas;
  std::vector<BoundArg> args(instruction.args.size());
  std::vector<const MetaTensor*> results;
  for (size_t i = 0; i < args.size(); ++i) {
    for (const int slot : instruction.args[i].slots)
      args[i].tensors.push_back(&metas.emplace_back(plan.tensors[call.Slot(slot)].meta()));
    args[i].attribute = instruction.args[i].attribute;
  }
  for (const std::vector<int>& slots : instruction.outputs) {
    for (const int slot : slots) results.push_back(&metas.emplace_back(plan.tensors[call.Slot(slot)].meta()));
  }
  return EstimateCost(kernel, KernelProblem(*instruction.schema, args, results, instruction.constants, threads));
}

Session::Session(std::shared_ptr<const Executable> executable, std::shared_ptr<ThreadPool> pool, size_t memory_limit)
    : executable_(std::move(executable)), devices_(std::move(pool), memory_limit) {}
Session::~Session() = default;

void Session::set_numeric_check(bool on) { numeric_check_ = on ? std::make_unique<NumericCheck>() : nullptr; }

Session::BlockState* Session::StateOf(int block) {
  std::unique_ptr<BlockState>& state = states_[block];
  if (state == nullptr) state = std::make_unique<BlockState>();
  return state.get();
}

void Session::CheckInputs(const std::vector<const DenseTensor*>& inputs) const {
  const Program& program = executable_->program();
  WHERRY_ENFORCE(inputs.size() == program.main().inputs.size(), kInvalidArgument, "the model has ",
                 program.main().inputs.size(), " inputs, got ", inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const MetaTensor& declared = executable_->InputType(i);
    const std::string& name = program.main().inputs[i];
    WHERRY_ENFORCE(inputs[i] != nullptr && inputs[i]->has_data(), kInvalidArgument, "input '", name, "' has no data");
    const TensorMeta& given = inputs[i]->meta();
    WHERRY_ENFORCE(given.dtype == declared.dtype || declared.dtype == DataType::kUndefined, kInvalidArgument, "input '",
                   name, "' is ", ToString(given.dtype), ", expected ", ToString(declared.dtype));
    if (!declared.rank_known) continue;
    bool fits = given.shape.rank() == declared.rank();
    for (int d = 0; fits && d < given.shape.rank(); ++d) {
      const Dim& dim = declared.dims[Index(d)];
      fits = !dim.known() || dim.value() == given.shape[d];
    }
    WHERRY_ENFORCE(fits, kInvalidArgument, "input '", name, "' is ", given.DebugString(), ", expected ",
                   declared.DebugString());
  }
}

ShapePlan* Session::FindPlan(BlockState* state, const CompiledBlock& block, std::span<const PlanInput> inputs) {
  const auto same = [inputs](const std::unique_ptr<ShapePlan>& plan) {
    return std::equal(inputs.begin(), inputs.end(), plan->inputs.begin(), plan->inputs.end());
  };
  const auto it = std::find_if(state->plans.begin(), state->plans.end(), same);
  if (it != state->plans.end()) {
    state->plans.splice(state->plans.begin(), state->plans, it);  // no allocation
    return state->plans.front().get();
  }
  const double start = RecordingTime();
  planning_ = true;
  state->plans.push_front(MakePlan(*executable_, block, inputs, &devices_));
  planning_ = false;
  const double end = RecordingTime();
  const double packing = state->plans.front()->packing_us;
  RecordWork("plan", start, end - packing);
  RecordWork("pack weights", end - packing, end);
  if (state->plans.size() > kMaxPlans) {
    if (state->bound == state->plans.back().get()) state->bound = nullptr;
    if (last_plan_ == state->plans.back().get()) last_plan_ = nullptr;
    state->plans.pop_back();
  }
  return state->plans.front().get();
}

void Session::BindMemory(BlockState* state, ShapePlan* plan) {
  if (state->bound != nullptr && state->bound != plan) ForgetRun(state->bound);
  most_scratch_ = std::max(most_scratch_, plan->scratch_bytes);
  try {
    BindArenas(state, *plan);
    if (state->bound == plan) {
      for (const std::vector<int>* slots : {&plan->given_away, &plan->input_views}) {
        for (const int slot : *slots) BindSlot(*state, plan, Index(slot));
      }
      return;
    }
    state->bound = nullptr;  // until all is bound
    for (const bool aliases : {false, true}) {
      for (size_t i = 0; i < plan->tensors.size(); ++i) {
        if ((plan->residence[i] == Residence::kAlias) == aliases) BindSlot(*state, plan, i);
      }
    }
    devices_.cpu().Scratch(plan->scratch_bytes);
    state->bound = plan;
  } catch (Error& error) {
    if (error.code() == ErrorCode::kResourceExhausted)
      error.AddContext("making room for " + DescribeActivations(*plan));
    throw;
  }
}

void Session::BindArenas(BlockState* state, const ShapePlan& plan) {
  for (const auto& [space, bytes] : plan.arena_bytes) state->arenas[space];
  for (auto& [space, arena] : state->arenas) {
    const auto needed = plan.arena_bytes.find(space);
    // A device holds all that it allocates, touched or not.
    const bool exactly = devices_.memory().limit() != 0 || !IsHostMemory(space);
    const size_t size = arena.SizeFor(needed == plan.arena_bytes.end() ? 0 : needed->second, exactly);
    if (arena.memory == nullptr || arena.memory->size() != size) Replace(state, space, size);
  }
}

void Session::Replace(BlockState* state, Target space, size_t size) {
  // Tensors of other plans would keep the old one alive.
  for (const std::unique_ptr<ShapePlan>& other : state->plans) {
    for (size_t i = 0; i < other->tensors.size(); ++i) {
      const size_t root = RootOf(*other, static_cast<int>(i));
      if (other->residence[root] == Residence::kArena && MemorySpace(other->targets[root]) == space)
        other->tensors[i].set_buffer(nullptr);
    }
  }
  state->bound = nullptr;
  std::shared_ptr<Buffer>& memory = state->arenas[space].memory;
  memory.reset();
  memory = devices_.Memory(space).Allocate(size);
}

// What an alias shares must have been bound.
void Session::BindSlot(const BlockState& state, ShapePlan* plan, size_t slot) {
  DenseTensor& tensor = plan->tensors[slot];
  switch (plan->residence[slot]) {
    case Residence::kArena: {
      const auto arena = state.arenas.find(MemorySpace(plan->targets[slot]));
      if (arena != state.arenas.end()) tensor.set_buffer(arena->second.memory, plan->offset[slot]);
      break;
    }
    case Residence::kOwn:
      if (!tensor.has_data()) tensor.set_buffer(devices_.Memory(plan->targets[slot]).Allocate(tensor.nbytes()));
      break;
    case Residence::kAlias: {
      const DenseTensor& root = plan->tensors[Index(plan->alias_root[slot])];
      tensor.set_buffer(root.buffer(), root.offset() + plan->offset[slot]);
      break;
    }
    case Residence::kInput:
    case Residence::kWeight:
    case Residence::kRunTime: break;
  }
}

void Session::Prepare(const std::vector<TensorMeta>& inputs) {
  BlockState* state = StateOf(0);
  plan_inputs_.clear();
  for (const TensorMeta& input : inputs) plan_inputs_.push_back({input, std::nullopt});
  struct Restore {
    bool* flag;
    bool value;
    ~Restore() { *flag = value; }
  } restore{&profiling_, std::exchange(profiling_, true)};
  steps_.clear();
  run_start_ = Now();
  ShapePlan* plan = FindPlan(state, executable_->main(), plan_inputs_);
  const double start = RecordingTime();
  BindMemory(state, plan);
  RecordWork("bind memory", start, RecordingTime());
}

const ShapePlan* Session::plan(int block) const {
  const auto state = states_.find(block);
  return state == states_.end() ? nullptr : state->second->bound;
}

// An output's memory is the caller's tensor where only the caller's slot holds it: it is lent to the plan for the run.
// What is allocated when its op runs is lent it as well: control flow gives its results there if they fit.
void Session::LendOutputs(ShapePlan* plan, const std::vector<std::shared_ptr<DenseTensor>>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t root = RootOf(*plan, plan->output_slots[i]);
    const Residence residence = plan->residence[root];
    DenseTensor& tensor = plan->tensors[root];
    if ((residence != Residence::kOwn && residence != Residence::kRunTime) || tensor.has_data()) continue;
    if (!IsHostMemory(plan->targets[root])) continue;
    const std::shared_ptr<DenseTensor>& output = outputs[i];
    if (output == nullptr || output.use_count() != 1 || !output->has_data() || !IsHostMemory(output->target()) ||
        output->buffer().use_count() != 1 || output->offset() != 0) {
      continue;
    }
    if (residence == Residence::kRunTime) {
      tensor.set_buffer(output->buffer());
      output->set_buffer(nullptr);  // so that its only owner is the plan
    } else if (output->buffer()->size() >= tensor.nbytes()) {
      tensor.set_buffer(output->buffer());
    } else {
      const size_t held = output->buffer()->size();
      output->set_buffer(nullptr);  // first, so that the old and the new memory are not both held
      const bool exactly = devices_.memory().limit() != 0;
      tensor.set_buffer(devices_.memory().Allocate(exactly ? tensor.nbytes() : GrownSize(held, tensor.nbytes())));
    }
  }
}

void Session::CopyToHost(const DenseTensor& from, DenseTensor* to) {
  CopyHostTensor(IsHostMemory(from.target())
                     ? from
                     : TransformTensor(from, DataType::kUndefined, DataLayout::kNCHW, &devices_.cpu()),
                 to);
}

void Session::CopyValue(const DenseTensor& from, DenseTensor* to) {
  if (from.dtype() == DataType::kSequence) {
    *to = from;  // never written over
    return;
  }
  TensorMeta meta = from.meta();
  meta.layout = DataLayout::kNCHW;
  meta.pixel_stride = 0;
  to->Allocate(devices_.memory(), meta);
  CopyToHost(from, to);
}

void Session::CollectOutputs(ShapePlan* plan, std::vector<std::shared_ptr<DenseTensor>>* outputs) {
  const std::vector<int>& slots = plan->output_slots;
  for (size_t i = 0; i < slots.size(); ++i) {
    const size_t root = RootOf(*plan, slots[i]);
    const DenseTensor& value = plan->tensors[Index(slots[i])];
    std::shared_ptr<DenseTensor>& output = (*outputs)[i];
    if (output == nullptr || output.use_count() > 1) output = std::make_shared<DenseTensor>();
    const bool given_before = std::any_of(slots.begin(), slots.begin() + static_cast<int64_t>(i),
                                          [&](int other) { return RootOf(*plan, other) == root; });
    const bool own = plan->residence[root] == Residence::kOwn || plan->residence[root] == Residence::kRunTime;
    const bool plain = value.layout() == DataLayout::kNCHW || value.shape().rank() < 3;
    if (own && plain && !given_before && IsHostMemory(value.target())) {
      *output = value;
    } else {
      // An input, a weight, a value given twice, or one on a device or in another layout.
      CopyValue(value, output.get());
    }
  }
}

void Session::Run(const std::vector<const DenseTensor*>& inputs, std::vector<std::shared_ptr<DenseTensor>>* outputs) {
  cancelled_.store(false, std::memory_order_relaxed);
  planning_ = false;
  if (++runs_ >= kRunsToShrink) {
    if (devices_.cpu().scratch_size() / 2 > most_scratch_) devices_.cpu().ReleaseScratch();
    most_scratch_ = 0;
    runs_ = 0;
  }
  const bool holds_memory = devices_.memory().held() > 0;
  // After an error their memory may have been lent and written over in part: neither the old results nor new ones.
  const auto clear = [outputs] { std::fill(outputs->begin(), outputs->end(), nullptr); };
  try {
    return TryRun(inputs, outputs);
  } catch (const Error& error) {
    clear();
    const bool at_limit = error.code() == ErrorCode::kResourceExhausted && devices_.memory().limit() != 0;
    if (!at_limit || !holds_memory || planning_) throw;
  } catch (...) {
    clear();
    throw;
  }
  // What runs of other shapes left may have taken the room.
  Trim();
  try {
    TryRun(inputs, outputs);
  } catch (...) {
    clear();
    throw;
  }
}

void Session::TryRun(const std::vector<const DenseTensor*>& inputs,
                     std::vector<std::shared_ptr<DenseTensor>>* outputs) {
  steps_.clear();
  step_calls_.clear();
  depth_ = 0;
  run_start_ = profiling_ ? Now() : 0;
  CheckInputs(inputs);
  if (numeric_check_ != nullptr) numeric_check_->Start();
  plan_inputs_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) plan_inputs_[i].meta = inputs[i]->meta();
  RecordWork("check inputs", 0, RecordingTime());
  BlockState* state = StateOf(0);
  const double searching = RecordingTime();
  const size_t steps = steps_.size();
  ShapePlan* plan = FindPlan(state, executable_->main(), plan_inputs_);
  if (steps_.size() == steps) RecordWork("find plan", searching, RecordingTime());
  const double binding = RecordingTime();
  outputs->resize(plan->output_slots.size());
  // Inputs are the caller's again in the end, and so are the outputs: also after an error, or the next run would write
  // to memory that the caller has.
  const auto give_back = [&] {
    ForgetInputs(plan);
    GiveAway(plan);
  };
  try {
    for (size_t i = 0; i < inputs.size(); ++i) {
      plan->tensors[Index(plan->input_slots[i])].set_buffer(inputs[i]->buffer(), inputs[i]->offset());
    }
    LendOutputs(plan, *outputs);
    BindMemory(state, plan);
    if (profiling_) steps_.reserve(steps_.size() + plan->calls.size() + 4);
    RecordWork("bind memory", binding, RecordingTime());
    RunCalls(plan);
    last_plan_ = plan;
    const double collecting = RecordingTime();
    CollectOutputs(plan, outputs);
    RecordWork("collect outputs", collecting, RecordingTime());
    if (profiling_) FinishSteps(*plan);
  } catch (...) {
    last_plan_ = nullptr;
    give_back();
    throw;
  }
  give_back();
}

void Session::RunCalls(ShapePlan* plan) {
  if (poison_) PoisonResults(plan);
  const ScopedCancellation scoped(&cancelled_);
  for (PlannedCall& call : plan->calls) {
    ThrowIfCancelled(&cancelled_);
    if (call_observer_) call_observer_(*plan, call);
    const double begin = RecordingTime();
    try {
      if (call.at_run_time) {
        RunAtRunTime(&call, plan);
      } else if (!call.nothing) {
        if (call.refresh) call.context.RefreshTensorAttributes();
        (*call.kernel)(&call.context);
      }
      if (numeric_check_ != nullptr || observer_) LookAt(*plan, call);
    } catch (Error& error) {
      error.AddContext(StrCat("running op ", call.instruction->schema->name, " '", call.instruction->name(), "'"));
      if (error.code() == ErrorCode::kResourceExhausted) error.AddContext("making " + DescribeResults(call));
      throw;
    }
    if (poison_) PoisonAfter(static_cast<int>(&call - plan->calls.data()), plan, devices_.cpu());
    if (profiling_) {
      if (call.kernel != nullptr && !IsHostMemory(call.kernel->key.target()))
        devices_.Get(call.kernel->key.target()).Synchronize();
      const double end = RecordingTime();
      // What runs in a block may have other types in the next iteration; the rest waits, so as not to be in the way.
      StepRecord& step =
          steps_.emplace_back(depth_ > 0 ? RecordOf(*plan, call, devices_.cpu().threads()) : StepRecord());
      step.start_us = begin;
      step.duration_us = end - begin;
      step.depth = depth_;
      step_calls_.push_back(depth_ > 0 ? nullptr : &call);
    }
  }
}

void Session::LookAt(const ShapePlan& plan, const PlannedCall& call) {
  if (call.kernel != nullptr) devices_.Get(call.kernel->key.target()).Synchronize();
  if (numeric_check_ != nullptr) numeric_check_->Look(plan, call);
  if (!observer_) return;
  const Instruction& instruction = *call.instruction;
  for (size_t i = 0; i < instruction.outputs.size(); ++i) {
    const std::vector<std::string>& names = instruction.desc->Output(instruction.schema->outputs[i].name);
    for (size_t j = 0; j < names.size(); ++j) {
      const DenseTensor& value = plan.tensors[call.Slot(instruction.outputs[i][j])];
      if (!value.has_data() || value.dtype() == DataType::kSequence) continue;
      if (IsHostMemory(value.target()) && value.meta().is_plain()) {
        observer_(instruction, names[j], value);
      } else {
        DenseTensor plain;
        CopyValue(value, &plain);
        observer_(instruction, names[j], plain);
      }
    }
  }
}

// A result that outlives the arguments: it may be one of them, where nothing was to be done (a copy to the same memory
// space). `layout`: the one that its readers were planned for, or kUndefined.
DenseTensor Session::Kept(DenseTensor result, const std::vector<CallArg>& args, DataLayout layout) {
  const bool laid_out = layout == DataLayout::kUndefined || layout == result.layout() || result.shape().rank() < 3;
  if (!laid_out) return TransformTensor(result, DataType::kUndefined, layout, &devices_.Get(result.target()));
  for (const CallArg& arg : args) {
    for (const DenseTensor* tensor : arg.tensors) {
      if (tensor->buffer() != result.buffer() || result.nbytes() == 0) continue;
      DenseTensor copy(devices_.Memory(result.target()), result.meta());
      devices_.Get(result.target()).Copy(result, &copy);
      return copy;
    }
  }
  return result;
}

double Session::RecordingTime() const { return profiling_ ? Now() - run_start_ : 0; }

void Session::RecordWork(const char* work, double start, double end) {
  if (!profiling_) return;
  StepRecord& step = steps_.emplace_back();
  step.work = work;
  step.start_us = start;
  step.duration_us = end - start;
  step.depth = depth_;
  step_calls_.push_back(nullptr);
}

void Session::FinishSteps(const ShapePlan& plan) {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (step_calls_[i] == nullptr) continue;
    StepRecord step = RecordOf(plan, *step_calls_[i], devices_.cpu().threads());
    step.start_us = steps_[i].start_us;
    step.duration_us = steps_[i].duration_us;
    steps_[i] = std::move(step);
  }
  std::stable_sort(steps_.begin(), steps_.end(), [](const StepRecord& a, const StepRecord& b) {
    return a.start_us != b.start_us ? a.start_us < b.start_us : a.depth < b.depth;
  });
}

StepRecord RecordOf(const ShapePlan& plan, const PlannedCall& call, int threads) {
  StepRecord step;
  step.instruction = call.instruction;
  step.kernel = call.kernel;
  step.inputs = MetasOf(plan, call, ArgSlots(*call.instruction));
  step.outputs = MetasOf(plan, call, call.instruction->outputs);
  // Nothing for what has no kernel, a result whose shape is not known, or results that lie where they are.
  if (call.kernel != nullptr && !call.nothing) step.cost = EstimateCall(plan, call, *call.kernel, threads);
  return step;
}

void Session::RunAtRunTime(PlannedCall* call, ShapePlan* plan) {
  const Instruction& instruction = *call->instruction;
  if (instruction.schema->Has(kTraitControlFlow)) {
    ++depth_;
    IsLoop(*instruction.schema) ? RunLoop(call, plan) : RunIf(call, plan);
    --depth_;
    return;
  }
  const size_t first_result = call->Slot(instruction.outputs.at(0).at(0));
  if (instruction.kernel == nullptr && call->planned && plan->residence[first_result] != Residence::kRunTime) {
    // A copy to where it is planned.
    const DenseTensor& from = plan->tensors[call->Slot(instruction.args[0].slots.at(0))];
    DenseTensor& to = plan->tensors[first_result];
    devices_.Get(IsHostMemory(from.target()) ? to.target() : from.target()).Copy(from, &to);
    return;
  }
  std::vector<CallArg> args(instruction.args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    for (int slot : instruction.args[i].slots) args[i].tensors.push_back(&plan->tensors[call->Slot(slot)]);
    if (args[i].tensors.empty() && instruction.args[i].attribute != nullptr)
      args[i].attribute = *instruction.args[i].attribute;
  }
  if (instruction.schema->Has(kTraitSequence)) {
    plan->tensors[call->Slot(instruction.outputs.at(0).at(0))] =
        RunSequenceOp(*instruction.schema, args, &devices_.cpu());
    return;
  }
  InvokeOptions options;
  for (const std::vector<int>& slots : instruction.outputs) options.output_counts.push_back(slots.size());
  options.kernel = instruction.kernel;
  options.or_another = true;
  options.constants = instruction.constants;
  options.pack = [this](const Kernel& kernel, const DenseTensor& weight, const std::string& format) {
    const PackDemand demand{&kernel, &weight, format};
    return executable_->packs().Get({&demand, 1}, devices_.cpu().pool()).at(0);
  };
  const Target target = instruction.kernel == nullptr ? plan->targets[call->Slot(instruction.outputs.at(0).at(0))]
                                                      : instruction.kernel->key.target();
  auto results = InvokeOp(*instruction.schema, args, &devices_.Get(target), options);
  for (size_t i = 0; i < results.size(); ++i) {
    for (size_t j = 0; j < instruction.outputs[i].size(); ++j) {
      DenseTensor& result = results[i][j];
      // A device's kernel, one that makes strings, or one that finds out the size may have taken the memory from
      // anywhere.
      const bool counted = !instruction.schema->Has(kTraitDynamicOutput) && IsHostMemory(result.target()) &&
                           !result.buffer()->holds_strings();
      const Buffer* const made = result.buffer().get();
      DenseTensor& value = plan->tensors[call->Slot(instruction.outputs[i][j])];
      value = Kept(std::move(result), args, call->planned ? value.layout() : DataLayout::kUndefined);
      if (!counted && value.buffer().get() == made)
        value.set_buffer(devices_.memory().Adopt(value.buffer(), HeldBytes(value)), value.offset());
    }
  }
}

std::shared_ptr<DenseTensor> Session::Value(const std::string& name) const {
  if (last_plan_ == nullptr) return nullptr;
  const CompiledBlock& block = executable_->main();
  for (size_t i = 0; i < block.slots.size(); ++i) {
    if (block.slots[i].name != name) continue;
    const size_t slot = Index((*last_plan_->maps[0])[i]);
    if (!last_plan_->tensors[slot].has_data() || last_plan_->residence[slot] == Residence::kArena) return nullptr;
    return std::make_shared<DenseTensor>(last_plan_->tensors[slot]);
  }
  return nullptr;
}

void Session::Trim() {
  states_.clear();
  last_plan_ = nullptr;
  devices_.cpu().ReleaseScratch();
}

size_t Session::activation_bytes() const { return devices_.memory().held(); }

}  // namespace wherry
