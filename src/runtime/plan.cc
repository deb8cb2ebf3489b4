#include "runtime/plan.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/stopwatch.h"
#include "base/strings.h"
#include "kernel/empty_extents.h"
#include "kernel/kernel_registry.h"
#include "op/memory_piece.h"
#include "runtime/plan_inference.h"

namespace wherry {

namespace {

class Planner {
 public:
  Planner(const Executable& executable, DeviceSet* devices)
      : executable_(executable),
        devices_(devices),
        plan_(std::make_unique<ShapePlan>()),
        inference_(executable, devices, plan_.get()) {}

  std::unique_ptr<ShapePlan> Run(const CompiledBlock& block, std::span<const PlanInput> inputs) {
    plan_->inputs.assign(inputs.begin(), inputs.end());
    std::vector<MetaTensor> metas;
    for (const PlanInput& input : inputs) {
      MetaTensor& meta = metas.emplace_back(input.meta);
      meta.values = input.values;
    }
    inference_.Run(block, metas);
    PlaceValues(block);
    CheckMemory();
    for (PlannedCall& call : plan_->calls) {
      if (!call.at_run_time) FillContext(&call);
    }
    const Stopwatch packing;
    PackWeights();
    plan_->packing_us = packing.Milliseconds() * 1e3;
    return std::move(plan_);
  }

 private:
  static size_t Index(int slot) { return static_cast<size_t>(slot); }

  // Whether a slot may lie in the memory of the one that it is to share.
  bool SharesMemory(const CompiledBlock& block, int slot) const {
    const int source = inference_.alias(slot);
    if (source < 0) return false;
    const auto shareable = [this](int value) {
      const Residence residence = plan_->residence[Index(value)];
      return residence == Residence::kArena || residence == Residence::kOwn;
    };
    if (!shareable(slot) || !shareable(source)) return false;
    if (plan_->targets[Index(source)] != plan_->targets[Index(slot)]) return false;
    // Who watches a value wants it as it was.
    if (inference_.overwrites(slot) && !block.watched.empty()) return false;
    const size_t offset = inference_.alias_offset(slot);
    const size_t bytes = plan_->tensors[Index(slot)].nbytes();
    const size_t whole = plan_->tensors[Index(source)].nbytes();
    if (offset == 0 && bytes == whole) return true;
    return IsHostMemory(plan_->targets[Index(slot)]) && bytes > 0 && offset <= whole && bytes <= whole - offset;
  }

  // The slot whose memory a slot lies in, and where. `seen` values have memory to themselves: who holds one holds no
  // more. A slot that shares comes after the ones it shares with.
  void FindHomes(const CompiledBlock& block, const std::vector<bool>& seen) {
    const auto slots = static_cast<int>(plan_->tensors.size());
    homes_.assign(Index(slots), {-1, 0, false});
    std::vector<int> path;
    for (int first = 0; first < slots; ++first) {
      int slot = first;
      for (; homes_[Index(slot)].slot < 0; slot = inference_.alias(slot)) {
        path.push_back(slot);
        if (!SharesMemory(block, slot)) {
          homes_[Index(slot)] = {slot, 0, false};
          path.pop_back();
          break;
        }
      }
      for (; !path.empty(); path.pop_back()) {
        const Home& next = homes_[Index(inference_.alias(path.back()))];
        Home& home = homes_[Index(path.back())];
        home = {next.slot, next.offset + inference_.alias_offset(path.back()), true};
        const bool whole = plan_->tensors[Index(home.slot)].nbytes() == plan_->tensors[Index(path.back())].nbytes();
        if (seen[Index(path.back())] && !whole) home = {path.back(), 0, false};
      }
    }
  }

  void PlaceValues(const CompiledBlock& block) {
    const auto slots = static_cast<int>(plan_->tensors.size());
    // What the user sees keeps memory of its own; one such value per shared piece of memory, further ones are copied at
    // the end.
    std::vector<int> seen = plan_->output_slots;
    for (const int slot : block.watched) seen.push_back((*plan_->maps[0])[Index(slot)]);
    std::vector<bool> is_seen(Index(slots), false);
    for (const int slot : seen) is_seen[Index(slot)] = true;
    FindHomes(block, is_seen);
    for (const int slot : seen) {
      if (plan_->residence[Index(slot)] == Residence::kArena)
        plan_->residence[Index(homes_[Index(slot)].slot)] = Residence::kOwn;
    }
    std::vector<Lifetime> lifetimes(Index(slots));
    std::vector<int> first(Index(slots), -1);
    for (int step = 0; step < static_cast<int>(plan_->calls.size()); ++step) {
      const PlannedCall& call = plan_->calls[Index(step)];
      const Instruction& instruction = *call.instruction;
      const auto touch = [&](int slot) {
        const size_t r = Index(homes_[call.Slot(slot)].slot);
        if (first[r] < 0) first[r] = step;
        lifetimes[r].first = first[r];
        lifetimes[r].last = step;
      };
      for (const InstructionArg& arg : instruction.args) std::for_each(arg.slots.begin(), arg.slots.end(), touch);
      for (const std::vector<int>& results : instruction.outputs) std::for_each(results.begin(), results.end(), touch);
    }
    std::vector<Lifetime> in_arena;
    std::vector<int> owners;
    for (int slot = 0; slot < slots; ++slot) {
      Residence& residence = plan_->residence[Index(slot)];
      const Home& home = homes_[Index(slot)];
      if (home.shares) {
        residence = Residence::kAlias;
        plan_->alias_root[Index(slot)] = home.slot;
        plan_->offset[Index(slot)] = home.offset;
      } else if (residence == Residence::kArena) {
        lifetimes[Index(slot)].bytes = plan_->tensors[Index(slot)].nbytes();
        in_arena.push_back(lifetimes[Index(slot)]);
        owners.push_back(slot);
      } else if (residence == Residence::kOwn) {
        plan_->own_bytes = CheckedAdd(plan_->own_bytes, plan_->tensors[Index(slot)].nbytes(), "memory for results");
      }
    }
    const ArenaPlan arena = PlanArena(in_arena);
    plan_->arena_bytes = arena.size;
    for (size_t i = 0; i < owners.size(); ++i) {
      plan_->offset[Index(owners[i])] = arena.offsets[i];
      plan_->last_use[Index(owners[i])] = in_arena[i].last;
    }
    FindGivenAway();
  }

  void FindGivenAway() {
    std::vector<bool> given(plan_->tensors.size());
    for (int slot : plan_->output_slots) {
      const size_t root = RootOf(*plan_, slot);
      const Residence residence = plan_->residence[root];
      if ((residence != Residence::kOwn && residence != Residence::kRunTime) || given[root]) continue;
      given[root] = true;
      plan_->given_away.push_back(static_cast<int>(root));
    }
    for (int slot = 0; slot < static_cast<int>(given.size()); ++slot) {
      const size_t root = RootOf(*plan_, slot);
      if (root != Index(slot) && given[root]) plan_->given_away.push_back(slot);
    }
  }

  // A kernel's plan takes time and memory that grow with the shape: there is none for what cannot be held anyway. The
  // memory that is tried is never touched, so trying it costs nothing.
  void CheckMemory() {
    const size_t bytes = CheckedAdd(plan_->arena_bytes, plan_->own_bytes, "memory for activations");
    const size_t limit = devices_->memory().limit();
    WHERRY_ENFORCE(limit == 0 || bytes <= limit, kResourceExhausted, "this shape needs ", DescribeActivations(*plan_),
                   ", the limit is ", limit);
    constexpr size_t kNeverRefused = 64 << 20;
    try {
      if (bytes > kNeverRefused) HostAllocator().Allocate(bytes);
    } catch (Error& error) {
      error.AddContext("making room for " + DescribeActivations(*plan_));
      throw;
    }
  }

  // Shapes without an element may have any extents elsewhere, [0, 2^40]: a kernel that walks over those would not end.
  bool NothingToCompute(const PlannedCall& call) const {
    const auto& outputs = call.instruction->outputs;
    return std::all_of(outputs.begin(), outputs.end(), [&](const std::vector<int>& slots) {
      return std::all_of(slots.begin(), slots.end(),
                         [&](int slot) { return plan_->tensors[call.Slot(slot)].numel() == 0; });
    });
  }

  // Whether what the call gives lies where it is to be: its results are views of its argument, or its arguments were
  // written into its result.
  bool InPlace(const PlannedCall& call) const {
    const OpSchema& schema = *call.instruction->schema;
    const std::vector<int>& results = call.instruction->outputs.at(0);
    const auto lies_in = [&](int slot, int whole) {
      const auto at = static_cast<int>(call.Slot(slot));
      return homes_[Index(at)].shares && inference_.alias(at) == static_cast<int>(call.Slot(whole));
    };
    if (TakesPieces(schema)) {
      const std::vector<int>& parts = call.instruction->args[0].slots;
      const std::set<int> distinct(parts.begin(), parts.end());
      return distinct.size() == parts.size() &&
             std::all_of(parts.begin(), parts.end(), [&](int part) { return lies_in(part, results[0]); });
    }
    if (!GivesPieces(schema) && !schema.Has(kTraitView)) return false;
    const int x = call.instruction->args[0].slots.at(0);
    return std::all_of(results.begin(), results.end(), [&](int result) { return lies_in(result, x); });
  }

  void FillContext(PlannedCall* call) {
    const Instruction& instruction = *call->instruction;
    call->nothing = NothingToCompute(*call) || InPlace(*call);
    if (call->nothing) return;
    for (const InstructionArg& arg : instruction.args) {
      for (int slot : arg.slots) CheckEmptyExtents(plan_->tensors[call->Slot(slot)].meta());
    }
    const OpSchema& schema = *instruction.schema;
    KernelContext& context = call->context;
    for (int8_t param : schema.kernel_params) {
      const InstructionArg& arg = instruction.args[static_cast<size_t>(param)];
      if (schema.args[static_cast<size_t>(param)].is_tensor()) {
        std::vector<const DenseTensor*> tensors;
        for (int slot : arg.slots) tensors.push_back(&plan_->tensors[call->Slot(slot)]);
        context.EmplaceBackInputs(tensors);
      } else if (!arg.slots.empty()) {
        context.EmplaceBackAttr(&plan_->tensors[call->Slot(arg.slots[0])],
                                schema.args[static_cast<size_t>(param)].type);
        call->refresh = true;
      } else {
        WHERRY_CHECK(arg.attribute != nullptr, schema.name, ": attribute ",
                     schema.args[static_cast<size_t>(param)].name, " is not bound");
        context.EmplaceBackAttr(*arg.attribute);
      }
    }
    for (const std::vector<int>& slots : instruction.outputs) {
      std::vector<DenseTensor*> tensors;
      for (int slot : slots) tensors.push_back(&plan_->tensors[call->Slot(slot)]);
      context.EmplaceBackOutputs(tensors);
    }
    if (call->kernel->plan == nullptr && call->kernel->supports == nullptr) return;
    const std::vector<BoundArg> bound = inference_.Bind(*call);
    std::vector<const MetaTensor*> results;
    for (const std::vector<int>& slots : instruction.outputs) {
      for (int slot : slots) results.push_back(&inference_.meta(static_cast<int>(call->Slot(slot))));
    }
    const KernelProblem problem(schema, bound, results, instruction.constants, devices_->cpu().threads());
    if (!call->kernel->Supports(problem).ok) {
      // It accepted the symbolic shapes; for these another variant of the same key has to do.
      call->kernel = &KernelFactory::Instance().SelectKernelOrThrowError(schema.kernel, call->kernel->key, &problem);
    }
    if (call->kernel->plan == nullptr) return;
    std::shared_ptr<const KernelPlan> kernel_plan = call->kernel->plan(problem);
    plan_->scratch_bytes = std::max(plan_->scratch_bytes, kernel_plan->scratch_bytes);
    planned_.push_back({call, std::move(kernel_plan)});
  }

  // What the kernels' plans ask for. Most of the time to load a model goes here, so the threads share it.
  void PackWeights() {
    std::vector<PackDemand> demands;
    for (const Planned& planned : planned_) {
      const Kernel& kernel = *planned.call->kernel;
      for (const PackRequest& request : planned.plan->packs) {
        const DenseTensor* weight = planned.call->context.Input(static_cast<size_t>(request.input));
        WHERRY_CHECK(weight != nullptr && weight->has_data(), "kernel ", kernel.id(),
                     " wants to pack an argument that is no weight");
        demands.push_back({&kernel, weight, request.format});
      }
    }
    const auto packed = executable_.packs().Get(demands, devices_->cpu().pool());
    auto next = packed.begin();
    for (Planned& planned : planned_) {
      const auto end = next + static_cast<int64_t>(planned.plan->packs.size());
      planned.call->context.SetPlan(std::move(planned.plan), {next, end});
      next = end;
    }
  }

  struct Home {
    int slot;
    size_t offset;
    bool shares;  // it is another slot's memory
  };

  struct Planned {
    PlannedCall* call;
    std::shared_ptr<const KernelPlan> plan;
  };

  const Executable& executable_;
  DeviceSet* devices_;
  std::unique_ptr<ShapePlan> plan_;
  PlanInference inference_;
  std::vector<Home> homes_;  // by slot
  std::vector<Planned> planned_;
};

}  // namespace

std::unique_ptr<ShapePlan> MakePlan(const Executable& executable, const CompiledBlock& block,
                                    std::span<const PlanInput> inputs, DeviceSet* devices) {
  return Planner(executable, devices).Run(block, inputs);
}

std::string DescribeActivations(const ShapePlan& plan) {
  std::string text = StrCat(plan.arena_bytes + plan.own_bytes, " bytes for activations");
  size_t most = 0;
  std::string largest;
  for (const PlannedCall& call : plan.calls) {
    const Instruction& instruction = *call.instruction;
    for (size_t i = 0; i < instruction.outputs.size(); ++i) {
      const std::vector<std::string>& names = instruction.desc->Output(instruction.schema->outputs[i].name);
      for (size_t j = 0; j < instruction.outputs[i].size(); ++j) {
        const size_t slot = call.Slot(instruction.outputs[i][j]);
        if (plan.residence[slot] != Residence::kArena && plan.residence[slot] != Residence::kOwn) continue;
        const DenseTensor& tensor = plan.tensors[slot];
        if (tensor.nbytes() <= most) continue;
        most = tensor.nbytes();
        largest = StrCat(Quote(names.at(j)), ", ", tensor.meta().DebugString());
      }
    }
  }
  return most == 0 ? text : StrCat(text, ", ", most, " of them for ", largest);
}

std::string DescribeResults(const PlannedCall& call) {
  std::vector<std::string> quoted;
  for (const auto& [param, names] : call.instruction->desc->outputs()) {
    for (const std::string& name : names) quoted.push_back(Quote(name));
  }
  return Join(quoted, ", ");
}

}  // namespace wherry
