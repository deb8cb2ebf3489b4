#include "runtime/plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/function_ref.h"
#include "base/stopwatch.h"
#include "base/strings.h"
#include "kernel/empty_extents.h"
#include "kernel/kernel_registry.h"
#include "runtime/plan_inference.h"
#include "runtime/plan_memory.h"

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
    for (PlannedCall& call : plan_->calls) SettleKernel(&call);
    PlanMemory memory(block, &inference_, plan_.get());
    memory.Run();
    CheckMemory();
    for (PlannedCall& call : plan_->calls) {
      if (!call.at_run_time) FillContext(memory, &call);
    }
    const Stopwatch packing;
    PackWeights();
    plan_->packing_us = packing.Milliseconds() * 1e3;
    return std::move(plan_);
  }

 private:
  // A kernel's plan takes time and memory that grow with the shape: there is none for what cannot be held anyway. The
  // memory that is tried is never touched, so trying it costs nothing.
  void CheckMemory() {
    const size_t bytes = ActivationBytes(*plan_);
    const size_t limit = devices_->memory().limit();
    WHERRY_ENFORCE(limit == 0 || bytes <= limit, kResourceExhausted, "this shape needs ", DescribeActivations(*plan_),
                   ", the limit is ", limit);
    constexpr size_t kNeverRefused = 64 << 20;
    try {
      size_t on_host = bytes;
      for (const auto& [space, arena] : plan_->arena_bytes) on_host -= IsHostMemory(space) ? 0 : arena;
      if (on_host > kNeverRefused) HostAllocator().Allocate(on_host);
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

  // What accepted the symbolic shapes may refuse these: then another variant of the same key has to do. Before memory
  // is planned, which goes by what the kernels take.
  void SettleKernel(PlannedCall* call) {
    if (call->at_run_time || call->kernel == nullptr || call->kernel->supports == nullptr || NothingToCompute(*call))
      return;
    WithProblem(*call, [&](const KernelProblem& problem) {
      if (call->kernel->Supports(problem).ok) return;
      call->kernel =
          &KernelFactory::Instance().SelectKernelOrThrowError(problem.schema().kernel, call->kernel->key, &problem);
    });
  }

  void WithProblem(const PlannedCall& call, FunctionRef<void(const KernelProblem&)> use) const {
    const Instruction& instruction = *call.instruction;
    const std::vector<BoundArg> bound = inference_.Bind(call);
    std::vector<const MetaTensor*> results;
    for (const std::vector<int>& slots : instruction.outputs) {
      for (int slot : slots) results.push_back(&inference_.meta(static_cast<int>(call.Slot(slot))));
    }
    use(KernelProblem(*instruction.schema, bound, results, instruction.constants, devices_->cpu().threads()));
  }

  void FillContext(const PlanMemory& memory, PlannedCall* call) {
    const Instruction& instruction = *call->instruction;
    call->nothing = NothingToCompute(*call) || memory.InPlace(*call);
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
    if (call->kernel->plan == nullptr) return;
    WithProblem(*call, [&](const KernelProblem& problem) {
      std::shared_ptr<const KernelPlan> kernel_plan = call->kernel->plan(problem);
      plan_->scratch_bytes = std::max(plan_->scratch_bytes, kernel_plan->scratch_bytes);
      planned_.push_back({call, std::move(kernel_plan)});
    });
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

  struct Planned {
    PlannedCall* call;
    std::shared_ptr<const KernelPlan> plan;
  };

  const Executable& executable_;
  DeviceSet* devices_;
  std::unique_ptr<ShapePlan> plan_;
  PlanInference inference_;
  std::vector<Planned> planned_;
};

}  // namespace

std::unique_ptr<ShapePlan> MakePlan(const Executable& executable, const CompiledBlock& block,
                                    std::span<const PlanInput> inputs, DeviceSet* devices) {
  return Planner(executable, devices).Run(block, inputs);
}

size_t ActivationBytes(const ShapePlan& plan) {
  size_t bytes = plan.own_bytes;
  for (const auto& [space, arena] : plan.arena_bytes) bytes = CheckedAdd(bytes, arena, "memory for activations");
  return bytes;
}

std::string DescribeActivations(const ShapePlan& plan) {
  std::string text = StrCat(ActivationBytes(plan), " bytes for activations");
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
