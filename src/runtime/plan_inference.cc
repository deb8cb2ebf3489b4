#include "runtime/plan_inference.h"

#include <algorithm>

#include "base/check.h"
#include "kernel/layout_rule.h"
#include "op/unknown_dim.h"
#include "runtime/binding.h"

namespace wherry {

namespace {

size_t Index(int slot) { return static_cast<size_t>(slot); }

// No dimension depends on what the run brings.
bool IsFixed(const MetaTensor& meta) {
  return meta.known() && std::find(meta.dims.begin(), meta.dims.end(), kUnknownDim) == meta.dims.end();
}

bool IsIoCopy(const Instruction& instruction) {
  return instruction.kernel == nullptr && std::string_view(instruction.schema->name) == "io_copy";
}

}  // namespace

int PlanInference::NewSlot(Residence residence) {
  const size_t slot = metas_.size();
  metas_.emplace_back();
  aliases_.push_back(-1);
  replaced_.push_back(false);
  plan_->tensors.emplace_back();
  plan_->residence.push_back(residence);
  plan_->targets.push_back(Target::kHost);
  plan_->arena_offset.push_back(0);
  plan_->alias_root.push_back(-1);
  return static_cast<int>(slot);
}

// Inputs are left to the caller.
SlotMap* PlanInference::NewMap(const CompiledBlock& block) {
  auto map = std::make_unique<SlotMap>(block.slots.size(), -1);
  for (size_t i = 0; i < block.slots.size(); ++i) {
    if (std::find(block.inputs.begin(), block.inputs.end(), static_cast<int>(i)) != block.inputs.end()) continue;
    const DenseTensor* const weight = block.slots[i].weight;
    const int slot = NewSlot(weight == nullptr ? Residence::kRunTime : Residence::kWeight);
    (*map)[i] = slot;
    metas_[Index(slot)] = MetaTensor::UnknownRank(block.slots[i].dtype);
    if (weight == nullptr) continue;
    plan_->tensors[Index(slot)] = *weight;
    metas_[Index(slot)] = MetaTensor(weight->meta());
    AttachValues(*weight, &metas_[Index(slot)]);
  }
  for (size_t i = 0; i < block.slots.size(); ++i) {
    if (block.slots[i].alias >= 0 && (*map)[i] >= 0) aliases_[Index((*map)[i])] = (*map)[Index(block.slots[i].alias)];
  }
  SlotMap* const made = map.get();
  plan_->maps.push_back(std::move(map));
  return made;
}

void PlanInference::Run(const CompiledBlock& block, std::span<const MetaTensor> inputs) {
  SlotMap* const map = NewMap(block);
  for (size_t i = 0; i < block.inputs.size(); ++i) {
    const int slot = NewSlot(Residence::kInput);
    (*map)[Index(block.inputs[i])] = slot;
    metas_[Index(slot)] = inputs[i];
    plan_->tensors[Index(slot)] = DenseTensor(inputs[i].tensor_meta());
    plan_->input_slots.push_back(slot);
  }
  RunBlock(block, map);
  for (const int slot : block.outputs) plan_->output_slots.push_back((*map)[Index(slot)]);
}

std::vector<MetaTensor> PlanInference::OutputMetas() const {
  std::vector<MetaTensor> metas;
  for (const int slot : plan_->output_slots) metas.push_back(meta(slot));
  return metas;
}

void PlanInference::RunBlock(const CompiledBlock& block, SlotMap* map) {
  for (const Instruction& instruction : block.instructions) {
    try {
      Infer(instruction, map);
    } catch (Error& error) {
      error.AddContext(StrCat("planning op ", instruction.schema->name, " '", instruction.name(), "'"));
      throw;
    }
  }
}

std::vector<BoundArg> PlanInference::Bind(const PlannedCall& call) const {
  std::vector<BoundArg> bound(call.instruction->args.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const InstructionArg& arg = call.instruction->args[i];
    for (const int slot : arg.slots) bound[i].tensors.push_back(&metas_[call.Slot(slot)]);
    bound[i].attribute = arg.attribute;
  }
  return bound;
}

// The layout of a result, given its kernel's: an image lies as the kernel says; a kernel for any layout keeps its
// argument's, but for the op whose result's layout InferMeta knows.
DataLayout PlanInference::ResultLayout(const PlannedCall& call, const MetaTensor& result) const {
  if (result.rank() < 3) return DataLayout::kNCHW;
  const Instruction& instruction = *call.instruction;
  const DataLayout kernel = instruction.kernel == nullptr ? DataLayout::kAny : instruction.kernel->key.layout();
  if (kernel == DataLayout::kNCHW || kernel == DataLayout::kNHWC) return kernel;
  const bool elementwise = instruction.schema->Has(kTraitUnary) || instruction.schema->Has(kTraitBinary);
  if (!elementwise) return result.layout;
  for (const InstructionArg& arg : instruction.args) {
    for (const int slot : arg.slots) {
      const MetaTensor& of_arg = metas_[call.Slot(slot)];
      if (of_arg.rank() == result.rank()) return of_arg.layout;
    }
  }
  return result.layout;
}

// Whether the kernel is for another type than one of its arguments has: nothing was optimised, so no cast stands
// between them.
bool PlanInference::NeedsCasts(const PlannedCall& call) const {
  if (call.kernel == nullptr || call.kernel->key.dtype() == DataType::kAny) return false;
  const OpSchema& schema = *call.instruction->schema;
  return std::any_of(schema.support_trans_dtype.begin(), schema.support_trans_dtype.end(), [&](int8_t arg) {
    const std::vector<int>& slots = call.instruction->args[static_cast<size_t>(arg)].slots;
    return std::any_of(slots.begin(), slots.end(),
                       [&](int slot) { return metas_[call.Slot(slot)].dtype != call.kernel->key.dtype(); });
  });
}

// Whether an argument lies otherwise than the kernel takes it: no layout conversion stands between them either.
bool PlanInference::NeedsLayouts(const PlannedCall& call, const std::vector<BoundArg>& bound) const {
  if (call.kernel == nullptr) return false;
  const OpSchema& schema = *call.instruction->schema;
  const bool elementwise = schema.Has(kTraitUnary) || schema.Has(kTraitBinary);
  DataLayout layout = call.kernel->key.layout();
  for (size_t i = 0; i < bound.size(); ++i) {
    for (const MetaTensor* tensor : bound[i].tensors) {
      if (!tensor->rank_known || tensor->rank() < 3) continue;
      const bool follows = FollowsLayout(schema, i);
      if (follows && layout == DataLayout::kAny) {
        if (elementwise) layout = tensor->layout;  // any, but all alike
      } else if (tensor->layout != LayoutForKernel(layout, layout, follows, tensor->rank())) {
        return true;
      }
    }
  }
  return false;
}

void PlanInference::SetResult(size_t slot, MetaTensor meta, Target target, Residence residence) {
  plan_->tensors[slot] = DenseTensor(meta.tensor_meta());
  plan_->targets[slot] = target;
  plan_->residence[slot] = residence;
  metas_[slot] = std::move(meta);
}

void PlanInference::Infer(const Instruction& instruction, SlotMap* map) {
  const OpSchema& schema = *instruction.schema;
  if (schema.Has(kTraitControlFlow)) return InferControlFlow(instruction, map);
  const bool io_copy = IsIoCopy(instruction);
  Target target = instruction.kernel == nullptr ? Target::kHost : instruction.kernel->key.target();
  PlannedCall& call = plan_->calls.emplace_back(&instruction, map, &devices_->Get(target).implementation());
  call.kernel = instruction.kernel;
  if (io_copy) target = std::get<Target>(*instruction.args[Index(schema.FindArg("target"))].attribute);
  bool known = !schema.Has(kTraitDynamicOutput) && (instruction.kernel != nullptr || io_copy);
  // InferMeta checks that the arguments fit together, which it can only once it sees the shapes of all of them, and the
  // numbers of lists and axes that tensors give: until then nothing may run, even if what it gives is known already.
  bool checked = true;
  bool layouts_differ = false;
  std::vector<std::vector<MetaTensor>> results;
  if (known) {
    const std::vector<BoundArg> bound = Bind(call);
    for (size_t i = 0; i < bound.size(); ++i) {
      for (const MetaTensor* tensor : bound[i].tensors) {
        const bool numbers = !schema.args[i].is_tensor() && IsInteger(tensor->dtype);
        checked = checked && IsFixed(*tensor) && (!numbers || tensor->values);
      }
    }
    layouts_differ = !io_copy && NeedsLayouts(call, bound);
    std::vector<size_t> counts;
    for (const std::vector<int>& slots : instruction.outputs) counts.push_back(slots.size());
    results = InferMeta(schema, bound, counts);
    for (std::vector<MetaTensor>& group : results) {
      for (MetaTensor& meta : group) {
        known = known && IsFixed(meta);
        meta.layout = io_copy ? bound[0].tensors[0]->layout : ResultLayout(call, meta);
      }
    }
  }
  const bool later = io_copy || NeedsCasts(call) || layouts_differ || !checked;
  call.at_run_time = !known || later;
  for (size_t i = 0; i < instruction.outputs.size(); ++i) {
    for (size_t j = 0; j < instruction.outputs[i].size(); ++j) {
      const size_t slot = call.Slot(instruction.outputs[i][j]);
      plan_->targets[slot] = target;
      if (!known) continue;
      const Residence residence = later                  ? Residence::kRunTime
                                  : IsHostMemory(target) ? Residence::kArena
                                                         : Residence::kOwn;
      SetResult(slot, std::move(results[i][j]), target, residence);
    }
  }
}

void PlanInference::InferControlFlow(const Instruction& instruction, SlotMap* map) { InferIf(instruction, map); }

void PlanInference::InferIf(const Instruction& instruction, SlotMap* map) {
  const MetaTensor& condition = metas_[Index((*map)[Index(instruction.args[0].slots.at(0))])];
  if (condition.values && condition.values->size() == 1 && condition.values->at(0).known()) {
    return Inline(instruction, map, instruction.blocks.at(condition.values->at(0).value() != 0 ? 0 : 1));
  }
  PlannedCall& call = plan_->calls.emplace_back(&instruction, map, &devices_->Get(Target::kHost).implementation());
  call.at_run_time = true;
  std::vector<MetaTensor> captures;
  for (const int slot : instruction.args[1].slots) captures.push_back(metas_[call.Slot(slot)]);
  bool known = true;
  for (const MetaTensor& capture : captures) {
    PlanInput input;
    input.values = capture.values;
    call.block_inputs.push_back(std::move(input));
    known = known && capture.rank_known && capture.known();
  }
  if (!known) return;
  const auto yes = InferChild(instruction.blocks.at(0), captures);
  const auto no = yes ? InferChild(instruction.blocks.at(1), captures) : std::nullopt;
  if (!no) return;
  const std::vector<int>& results = instruction.outputs.at(0);
  for (size_t i = 0; i < results.size(); ++i) {
    MetaTensor type = (*yes)[i];
    MetaTensor other = (*no)[i];
    type.values.reset();
    other.values.reset();
    if (type == other && type.known())
      SetResult(call.Slot(results[i]), std::move(type), Target::kHost, Residence::kArena);
  }
}

// The block's instructions become calls of this plan, on the values that it captures, and the results are its own.
void PlanInference::Inline(const Instruction& instruction, SlotMap* map, int block) {
  const CompiledBlock& child = executable_.block(block);
  SlotMap* const inner = NewMap(child);
  const std::vector<int>& captures = instruction.args[1].slots;
  for (size_t i = 0; i < child.inputs.size(); ++i) (*inner)[Index(child.inputs[i])] = (*map)[Index(captures[i])];
  RunBlock(child, inner);
  const std::vector<int>& results = instruction.outputs.at(0);
  for (size_t i = 0; i < results.size(); ++i) {
    int& slot = (*map)[Index(results[i])];
    replaced_[Index(slot)] = true;
    slot = (*inner)[Index(child.outputs[i])];
  }
}

std::optional<std::vector<MetaTensor>> PlanInference::InferChild(int block, std::span<const MetaTensor> inputs) const {
  ShapePlan plan;
  PlanInference inference(executable_, devices_, &plan);
  try {
    inference.Run(executable_.block(block), inputs);
  } catch (const Error&) {
    return std::nullopt;
  }
  return inference.OutputMetas();
}

}  // namespace wherry
