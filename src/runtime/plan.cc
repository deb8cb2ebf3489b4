#include "runtime/plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/checked_math.h"
#include "kernel/empty_extents.h"
#include "kernel/kernel_registry.h"
#include "runtime/binding.h"

namespace wherry {

namespace {

class Planner {
 public:
  Planner(const Executable& executable, const CompiledBlock& block, DeviceSet* devices, size_t memory_limit)
      : executable_(executable),
        block_(block),
        devices_(devices),
        memory_limit_(memory_limit),
        plan_(std::make_unique<ShapePlan>()) {}

  std::unique_ptr<ShapePlan> Run(std::span<const TensorMeta> inputs) {
    const size_t slots = block_.slots.size();
    metas_.resize(slots);
    plan_->targets.assign(slots, Target::kHost);
    plan_->input_metas.assign(inputs.begin(), inputs.end());
    plan_->tensors.resize(slots);
    plan_->residence.assign(slots, Residence::kRunTime);
    plan_->arena_offset.assign(slots, 0);
    plan_->alias_root.assign(slots, -1);
    for (size_t i = 0; i < slots; ++i) {
      if (const DenseTensor* weight = block_.slots[i].weight) {
        plan_->tensors[i] = *weight;
        plan_->residence[i] = Residence::kWeight;
        metas_[i] = MetaTensor(weight->meta());
        AttachValues(*weight, &metas_[i]);
      }
    }
    for (size_t i = 0; i < block_.inputs.size(); ++i) {
      const int slot = block_.inputs[i];
      metas_[Index(slot)] = MetaTensor(inputs[i]);
      plan_->tensors[Index(slot)] = DenseTensor(inputs[i]);
      plan_->residence[Index(slot)] = Residence::kInput;
    }
    plan_->calls.reserve(block_.instructions.size());
    for (const Instruction& instruction : block_.instructions) {
      try {
        InferInstruction(instruction);
      } catch (Error& error) {
        error.AddContext(StrCat("planning op ", instruction.schema->name, " '", instruction.name(), "'"));
        throw;
      }
    }
    PlaceValues();
    CheckMemory();
    for (size_t i = 0; i < block_.instructions.size(); ++i) {
      if (!plan_->calls[i].at_run_time) FillContext(block_.instructions[i], &plan_->calls[i]);
    }
    return std::move(plan_);
  }

 private:
  static size_t Index(int slot) { return static_cast<size_t>(slot); }

  void Bind(const Instruction& instruction, std::vector<BoundArg>* bound) {
    bound->resize(instruction.args.size());
    for (size_t i = 0; i < instruction.args.size(); ++i) {
      for (int slot : instruction.args[i].slots) (*bound)[i].tensors.push_back(&metas_[Index(slot)]);
      (*bound)[i].attribute = instruction.args[i].attribute;
    }
  }

  // The layout of a result, given its kernel's: an image lies as the kernel says; a kernel for any layout keeps its
  // argument's, but for the op whose result's layout InferMeta knows.
  DataLayout ResultLayout(const Instruction& instruction, const MetaTensor& result) const {
    if (result.rank() < 3) return DataLayout::kNCHW;
    const DataLayout kernel = instruction.kernel == nullptr ? DataLayout::kAny : instruction.kernel->key.layout();
    if (kernel == DataLayout::kNCHW || kernel == DataLayout::kNHWC) return kernel;
    const bool elementwise = instruction.schema->Has(kTraitUnary) || instruction.schema->Has(kTraitBinary);
    if (!elementwise) return result.layout;
    for (const InstructionArg& arg : instruction.args) {
      for (int slot : arg.slots) {
        if (metas_[Index(slot)].rank() == result.rank()) return metas_[Index(slot)].layout;
      }
    }
    return result.layout;
  }

  void InferInstruction(const Instruction& instruction) {
    const OpSchema& schema = *instruction.schema;
    const bool io_copy = instruction.kernel == nullptr && std::string_view(schema.name) == "io_copy";
    Target target = instruction.kernel == nullptr ? Target::kHost : instruction.kernel->key.target();
    PlannedCall& call = plan_->calls.emplace_back(&devices_->Get(target).implementation());
    call.kernel = instruction.kernel;
    bool known = !schema.Has(kTraitControlFlow) && !schema.Has(kTraitDynamicOutput) &&
                 (instruction.kernel != nullptr || io_copy);
    if (known) {
      std::vector<BoundArg> bound;
      Bind(instruction, &bound);
      std::vector<size_t> counts;
      for (const std::vector<int>& slots : instruction.outputs) counts.push_back(slots.size());
      const auto results = InferMeta(schema, bound, counts);
      for (size_t i = 0; i < results.size(); ++i) {
        for (size_t j = 0; j < instruction.outputs[i].size(); ++j) {
          MetaTensor meta = results[i][j];
          known = known && meta.known();
          meta.layout = io_copy ? bound[0].tensors[0]->layout : ResultLayout(instruction, meta);
          metas_[Index(instruction.outputs[i][j])] = std::move(meta);
        }
      }
    }
    if (io_copy) target = std::get<Target>(*instruction.args[Index(schema.FindArg("target"))].attribute);
    call.at_run_time = !known || io_copy;
    for (const std::vector<int>& slots : instruction.outputs) {
      for (int slot : slots) {
        plan_->targets[Index(slot)] = target;
        if (known) {
          plan_->tensors[Index(slot)] = DenseTensor(metas_[Index(slot)].tensor_meta());
          if (!io_copy) plan_->residence[Index(slot)] = IsHostMemory(target) ? Residence::kArena : Residence::kOwn;
        } else {
          metas_[Index(slot)] = MetaTensor::UnknownRank(metas_[Index(slot)].dtype);
          plan_->has_run_time_values = true;
        }
      }
    }
  }

  // The slot whose memory `slot` shares, following aliases that hold for these shapes.
  int Root(int slot) const {
    while (true) {
      const int source = block_.slots[Index(slot)].alias;
      if (source < 0 || plan_->residence[Index(slot)] == Residence::kRunTime) return slot;
      const Residence there = plan_->residence[Index(source)];
      if (there != Residence::kArena && there != Residence::kOwn) return slot;
      if (plan_->targets[Index(source)] != plan_->targets[Index(slot)]) return slot;
      if (plan_->tensors[Index(source)].nbytes() != plan_->tensors[Index(slot)].nbytes()) return slot;
      slot = source;
    }
  }

  void PlaceValues() {
    const auto slots = static_cast<int>(block_.slots.size());
    std::vector<int> root(Index(slots));
    for (int slot = 0; slot < slots; ++slot) root[Index(slot)] = Root(slot);
    // What the user sees keeps memory of its own; one such value per shared piece of memory, further ones are copied at
    // the end.
    std::vector<int> seen = block_.outputs;
    seen.insert(seen.end(), block_.watched.begin(), block_.watched.end());
    for (int slot : seen) {
      if (plan_->residence[Index(slot)] == Residence::kArena)
        plan_->residence[Index(root[Index(slot)])] = Residence::kOwn;
    }
    std::vector<Lifetime> lifetimes(Index(slots));
    std::vector<int> first(Index(slots), -1);
    for (int step = 0; step < static_cast<int>(block_.instructions.size()); ++step) {
      const Instruction& instruction = block_.instructions[Index(step)];
      const auto touch = [&](int slot) {
        const size_t r = Index(root[Index(slot)]);
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
      if (root[Index(slot)] != slot && (residence == Residence::kArena || residence == Residence::kOwn)) {
        residence = Residence::kAlias;
        plan_->alias_root[Index(slot)] = root[Index(slot)];
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
    for (size_t i = 0; i < owners.size(); ++i) plan_->arena_offset[Index(owners[i])] = arena.offsets[i];
  }

  // A kernel's plan takes time and memory that grow with the shape: there is none for what cannot be held anyway. The
  // memory that is tried is never touched, so trying it costs nothing.
  void CheckMemory() {
    const size_t bytes = CheckedAdd(plan_->arena_bytes, plan_->own_bytes, "memory for activations");
    CheckMemoryLimit(bytes, memory_limit_);
    constexpr size_t kNeverRefused = 64 << 20;
    if (bytes > kNeverRefused) HostAllocator().Allocate(bytes);
  }

  // Shapes without an element may have any extents elsewhere, [0, 2^40]: a kernel that walks over those would not end.
  bool NothingToCompute(const Instruction& instruction) const {
    return std::all_of(instruction.outputs.begin(), instruction.outputs.end(), [this](const std::vector<int>& slots) {
      return std::all_of(slots.begin(), slots.end(),
                         [this](int slot) { return plan_->tensors[Index(slot)].numel() == 0; });
    });
  }

  void FillContext(const Instruction& instruction, PlannedCall* call) {
    call->nothing = NothingToCompute(instruction);
    if (call->nothing) return;
    for (const InstructionArg& arg : instruction.args) {
      for (int slot : arg.slots) CheckEmptyExtents(plan_->tensors[Index(slot)].meta());
    }
    const OpSchema& schema = *instruction.schema;
    KernelContext& context = call->context;
    for (int8_t param : schema.kernel_params) {
      const InstructionArg& arg = instruction.args[static_cast<size_t>(param)];
      if (schema.args[static_cast<size_t>(param)].is_tensor()) {
        std::vector<const DenseTensor*> tensors;
        for (int slot : arg.slots) tensors.push_back(&plan_->tensors[Index(slot)]);
        context.EmplaceBackInputs(tensors);
      } else if (!arg.slots.empty()) {
        context.EmplaceBackAttr(&plan_->tensors[Index(arg.slots[0])], schema.args[static_cast<size_t>(param)].type);
        call->refresh = true;
      } else {
        WHERRY_CHECK(arg.attribute != nullptr, schema.name, ": attribute ",
                     schema.args[static_cast<size_t>(param)].name, " is not bound");
        context.EmplaceBackAttr(*arg.attribute);
      }
    }
    for (const std::vector<int>& slots : instruction.outputs) {
      std::vector<DenseTensor*> tensors;
      for (int slot : slots) tensors.push_back(&plan_->tensors[Index(slot)]);
      context.EmplaceBackOutputs(tensors);
    }
    if (call->kernel->plan == nullptr && call->kernel->supports == nullptr) return;
    std::vector<BoundArg> bound;
    Bind(instruction, &bound);
    std::vector<const MetaTensor*> results;
    for (const std::vector<int>& slots : instruction.outputs) {
      for (int slot : slots) results.push_back(&metas_[Index(slot)]);
    }
    const KernelProblem problem(schema, bound, results, instruction.constants, devices_->cpu().threads());
    if (!call->kernel->Supports(problem).ok) {
      // It accepted the symbolic shapes; for these another variant of the same key has to do.
      call->kernel = &KernelFactory::Instance().SelectKernelOrThrowError(schema.kernel, call->kernel->key, &problem);
    }
    if (call->kernel->plan == nullptr) return;
    std::shared_ptr<const KernelPlan> kernel_plan = call->kernel->plan(problem);
    plan_->scratch_bytes = std::max(plan_->scratch_bytes, kernel_plan->scratch_bytes);
    std::vector<std::shared_ptr<const PackedWeight>> packed;
    for (const PackRequest& request : kernel_plan->packs) {
      const DenseTensor* weight = context.Input(static_cast<size_t>(request.input));
      WHERRY_CHECK(weight != nullptr && weight->has_data(), "kernel ", call->kernel->id(),
                   " wants to pack an argument that is no weight");
      packed.push_back(executable_.packs().Get(*call->kernel, *weight, request.format));
    }
    context.SetPlan(std::move(kernel_plan), std::move(packed));
  }

  const Executable& executable_;
  const CompiledBlock& block_;
  DeviceSet* devices_;
  size_t memory_limit_;
  std::unique_ptr<ShapePlan> plan_;
  std::vector<MetaTensor> metas_;  // by slot
};

}  // namespace

std::unique_ptr<ShapePlan> MakePlan(const Executable& executable, const CompiledBlock& block,
                                    std::span<const TensorMeta> inputs, DeviceSet* devices, size_t memory_limit) {
  return Planner(executable, block, devices, memory_limit).Run(inputs);
}

void CheckMemoryLimit(size_t wanted, size_t memory_limit) {
  WHERRY_ENFORCE(memory_limit == 0 || wanted <= memory_limit, kResourceExhausted, "this shape needs ", wanted,
                 " bytes for activations, the limit is ", memory_limit);
}

}  // namespace wherry
