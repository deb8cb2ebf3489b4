#include "runtime/plan_inference.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "kernel/layout_rule.h"
#include "op/control_flow.h"
#include "op/memory_piece.h"
#include "op/unknown_dim.h"

namespace wherry {

namespace {

size_t Index(int slot) { return static_cast<size_t>(slot); }

// No dimension depends on what the run brings.
bool IsFixed(const MetaTensor& meta) {
  return meta.known() && std::find(meta.dims.begin(), meta.dims.end(), kUnknownDim) == meta.dims.end();
}

// The value of what has one that is known.
std::optional<int64_t> KnownNumber(const MetaTensor& meta) {
  if (!meta.values || meta.values->size() != 1 || !meta.values->at(0).known()) return std::nullopt;
  return meta.values->at(0).value();
}

bool IsIoCopy(const Instruction& instruction) {
  return instruction.kernel == nullptr && std::string_view(instruction.schema->name) == "io_copy";
}

}  // namespace

int PlanInference::NewSlot(Residence residence) {
  const size_t slot = metas_.size();
  metas_.emplace_back();
  aliases_.push_back(-1);
  alias_offsets_.push_back(0);
  alias_strided_.push_back(false);
  overwrites_.push_back(false);
  replaced_.push_back(false);
  plan_->tensors.emplace_back();
  plan_->residence.push_back(residence);
  plan_->targets.push_back(Target::kHost);
  plan_->offset.push_back(0);
  plan_->last_use.push_back(-1);
  plan_->alias_root.push_back(-1);
  return static_cast<int>(slot);
}

// Inputs, and with them aliases, are left to the caller.
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
  SlotMap* const made = map.get();
  plan_->maps.push_back(std::move(map));
  return made;
}

void PlanInference::MapAliases(const CompiledBlock& block, const SlotMap& map) {
  for (size_t i = 0; i < block.slots.size(); ++i) {
    if (block.slots[i].alias >= 0) aliases_[Index(map[i])] = map[Index(block.slots[i].alias)];
  }
}

void PlanInference::Run(const CompiledBlock& block, std::span<const MetaTensor> inputs) {
  SlotMap* const map = NewMap(block);
  for (size_t i = 0; i < block.inputs.size(); ++i) {
    const int slot = NewSlot(Residence::kInput);
    (*map)[Index(block.inputs[i])] = slot;
    metas_[Index(slot)] = inputs[i];
    plan_->tensors[Index(slot)] = DenseTensor(inputs[i].tensor_meta());
    try {
      plan_->tensors[Index(slot)].nbytes();
    } catch (Error& error) {
      error.AddContext(StrCat("planning for input '", block.slots[Index(block.inputs[i])].name, "'"));
      throw;
    }
    plan_->input_slots.push_back(slot);
  }
  MapAliases(block, *map);
  RunBlock(block, map);
  for (const int slot : block.outputs) plan_->output_slots.push_back((*map)[Index(slot)]);
}

void PlanInference::SetPixelStride(int slot, int64_t stride) {
  metas_[Index(slot)].pixel_stride = stride;
  plan_->tensors[Index(slot)] = DenseTensor(metas_[Index(slot)].tensor_meta());
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
  meta.tensor_meta().nbytes();  // what has too many is an Error that names the op
  plan_->tensors[slot] = DenseTensor(meta.tensor_meta());
  plan_->targets[slot] = target;
  plan_->residence[slot] = residence;
  metas_[slot] = std::move(meta);
}

void PlanInference::Infer(const Instruction& instruction, SlotMap* map) {
  const OpSchema& schema = *instruction.schema;
  if (schema.Has(kTraitControlFlow)) return IsLoop(schema) ? InferLoop(instruction, map) : InferIf(instruction, map);
  const bool io_copy = IsIoCopy(instruction);
  Target target = instruction.kernel == nullptr ? Target::kHost : instruction.kernel->key.target();
  PlannedCall& call = plan_->calls.emplace_back(&instruction, map, &devices_->Get(target).implementation());
  call.kernel = instruction.kernel;
  if (io_copy) target = std::get<Target>(*instruction.args[Index(schema.FindArg("target"))].attribute);
  if (schema.Has(kTraitSequence)) return InferSequenceOp(&call);
  bool known = !schema.Has(kTraitDynamicOutput) && (instruction.kernel != nullptr || io_copy);
  // InferMeta checks that the arguments fit together, which it can only once it sees the shapes of all of them, and the
  // numbers of lists and axes that tensors give: until then nothing may run, even if what it gives is known already.
  bool checked = true;
  bool layouts_differ = false;
  bool strings = false;  // which own memory of their own, so no arena holds them
  std::vector<BoundArg> bound;
  std::vector<std::vector<MetaTensor>> results;
  if (known) {
    bound = Bind(call);
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
        strings = strings || meta.dtype == DataType::kString;
        meta.layout = io_copy ? bound[0].tensors[0]->layout : ResultLayout(call, meta);
      }
    }
  }
  const bool later = NeedsCasts(call) || layouts_differ || !checked || strings;
  call.at_run_time = !known || later || io_copy;
  call.planned = known && (later || io_copy);
  for (size_t i = 0; i < instruction.outputs.size(); ++i) {
    for (size_t j = 0; j < instruction.outputs[i].size(); ++j) {
      const size_t slot = call.Slot(instruction.outputs[i][j]);
      plan_->targets[slot] = target;
      if (!known) continue;
      SetResult(slot, std::move(results[i][j]), target, later ? Residence::kRunTime : Residence::kArena);
    }
  }
  if (known && !later && !io_copy) PlaceAliases(call, bound);
}

void PlanInference::PlaceAliases(const PlannedCall& call, const std::vector<BoundArg>& bound) {
  const OpSchema& schema = *call.instruction->schema;
  const auto place = [this](size_t slot, const MemoryPiece& piece) {
    if (piece.offset) {
      alias_offsets_[slot] = static_cast<size_t>(*piece.offset) * SizeOf(metas_[slot].dtype);
      alias_strided_[slot] = piece.strided;
    } else {
      aliases_[slot] = -1;
    }
  };
  const std::vector<int>& results = call.instruction->outputs.at(0);
  if (TakesPieces(schema)) {
    const size_t result = call.Slot(results.at(0));
    const auto axis = AttributeCast<int64_t>(*call.instruction->args[Index(schema.FindArg("axis"))].attribute);
    std::set<size_t> seen;  // where a value stands twice, its first place counts
    for (size_t i = 0; i < bound[0].tensors.size(); ++i) {
      const size_t part = call.Slot(call.instruction->args[0].slots[i]);
      if (aliases_[part] != static_cast<int>(result) || !seen.insert(part).second) continue;
      place(part, PieceOfResult(bound, metas_[result], axis, i));
    }
  } else if (GivesPieces(schema)) {
    std::vector<const MetaTensor*> types;
    for (const int slot : results) types.push_back(&metas_[call.Slot(slot)]);
    for (size_t i = 0; i < results.size(); ++i) {
      const size_t slot = call.Slot(results[i]);
      if (aliases_[slot] == static_cast<int>(call.Slot(call.instruction->args[0].slots.at(0))))
        place(slot, PieceOfArgument(schema, bound, types, i));
    }
  } else if (!schema.Has(kTraitView)) {
    for (const ArgOutputPair& pair : schema.inplace) {
      for (const int slot : call.instruction->outputs.at(Index(pair.output))) overwrites_[call.Slot(slot)] = true;
    }
  }
}

// A sequence has one type, whatever is in it, and no memory of the plan's.
void PlanInference::InferSequenceOp(PlannedCall* call) {
  call->at_run_time = true;
  const std::vector<int>& slots = call->instruction->outputs.at(0);
  const auto results = InferMeta(*call->instruction->schema, Bind(*call), std::vector<size_t>{slots.size()});
  for (size_t i = 0; i < slots.size(); ++i) metas_[call->Slot(slots[i])] = results.at(0).at(i);
}

void PlanInference::InferIf(const Instruction& instruction, SlotMap* map) {
  // What has one block has nothing to choose.
  if (instruction.blocks.size() == 1) return Inline(instruction, map, instruction.blocks[0]);
  const MetaTensor& condition = metas_[Index((*map)[Index(instruction.args[0].slots.at(0))])];
  if (const std::optional<int64_t> known = KnownNumber(condition)) {
    return Inline(instruction, map, instruction.blocks.at(*known != 0 ? 0 : 1));
  }
  std::vector<MetaTensor> captures;
  for (const int slot : instruction.args[1].slots) captures.push_back(metas_[Index((*map)[Index(slot)])]);
  PlannedCall& call = AddBlockCall(instruction, map, captures);
  const auto yes = InferChild(instruction.blocks.at(0), captures);
  const auto no = yes ? InferChild(instruction.blocks.at(1), captures) : std::nullopt;
  if (!no) return;
  const std::vector<int>& results = instruction.outputs.at(0);
  for (size_t i = 0; i < results.size(); ++i) {
    if ((*yes)[i].WithoutValues() == (*no)[i].WithoutValues()) SetBlockResult(call.Slot(results[i]), (*yes)[i]);
  }
}

void PlanInference::InferLoop(const Instruction& instruction, SlotMap* map) {
  const auto meta_of = [&](int slot) -> const MetaTensor& { return metas_[Index((*map)[Index(slot)])]; };
  const auto known_number = [&](size_t arg) -> std::optional<int64_t> {
    if (instruction.args[arg].slots.empty()) return std::nullopt;
    return KnownNumber(meta_of(instruction.args[arg].slots[0]));
  };
  const bool has_cond = !instruction.args[1].slots.empty();
  std::vector<MetaTensor> inputs = {
      MetaTensor(DataType::kInt64, {}),
      has_cond ? meta_of(instruction.args[1].slots[0]).WithoutValues() : MetaTensor(DataType::kBool, {})};
  for (const int slot : instruction.args[2].slots) inputs.push_back(meta_of(slot).WithoutValues());
  for (const int slot : instruction.args[3].slots) inputs.push_back(meta_of(slot));
  PlannedCall& call = AddBlockCall(instruction, map, inputs);
  const auto child = InferChild(instruction.blocks.at(0), inputs);
  if (!child) return;
  // What is inferred about one iteration holds for all if the carried values keep their types.
  const std::vector<int>& finals = instruction.outputs.at(0);
  for (size_t i = 0; i < finals.size(); ++i) {
    if ((*child)[kLoopLeadingOutputs + i].WithoutValues() != inputs[kLoopLeadingInputs + i]) return;
  }
  for (size_t i = 0; i < finals.size(); ++i) {
    SetBlockResult(call.Slot(finals[i]), (*child)[kLoopLeadingOutputs + i]);
  }
  const bool runs_on = KnownNumber(child->at(0)) == 1;
  const std::optional<int64_t> trips = runs_on && (!has_cond || known_number(1) == 1) ? known_number(0) : std::nullopt;
  const std::vector<int>& scans = instruction.outputs.at(1);
  for (size_t i = 0; i < scans.size(); ++i) {
    MetaTensor row = (*child)[kLoopLeadingOutputs + finals.size() + i].WithoutValues();
    row.layout = DataLayout::kNCHW;
    row.pixel_stride = 0;
    call.scan_rows.push_back(row);
    if (!trips || !row.rank_known) continue;
    row.dims.insert(row.dims.begin(), Dim(std::max<int64_t>(0, *trips)));
    SetBlockResult(call.Slot(scans[i]), row);
  }
}

PlannedCall& PlanInference::AddBlockCall(const Instruction& instruction, SlotMap* map,
                                         const std::vector<MetaTensor>& inputs) {
  PlannedCall& call = plan_->calls.emplace_back(&instruction, map, &devices_->Get(Target::kHost).implementation());
  call.at_run_time = true;
  for (const MetaTensor& input : inputs) call.block_inputs.push_back({TensorMeta(), input.values});
  return call;
}

void PlanInference::SetBlockResult(size_t slot, const MetaTensor& meta) {
  if (meta.dtype == DataType::kSequence) metas_[slot] = meta;
  const bool plain = SizeOf(meta.dtype) > 0;
  if (plain && meta.known()) SetResult(slot, meta.WithoutValues(), Target::kHost, Residence::kArena);
}

// The block's instructions become calls of this plan, on the values that it captures, and the results are its own.
void PlanInference::Inline(const Instruction& instruction, SlotMap* map, int block) {
  const CompiledBlock& child = executable_.block(block);
  SlotMap* const inner = NewMap(child);
  const std::vector<int>& captures = instruction.args[Index(instruction.schema->FindArg("captures"))].slots;
  for (size_t i = 0; i < child.inputs.size(); ++i) (*inner)[Index(child.inputs[i])] = (*map)[Index(captures[i])];
  MapAliases(child, *inner);
  RunBlock(child, inner);
  const std::vector<int>& results = instruction.outputs.at(0);
  for (size_t i = 0; i < results.size(); ++i) {
    int& slot = (*map)[Index(results[i])];
    replaced_[Index(slot)] = true;
    slot = (*inner)[Index(child.outputs[i])];
  }
}

std::optional<std::vector<MetaTensor>> PlanInference::InferChild(int block, std::span<const MetaTensor> inputs) const {
  const bool known = std::all_of(inputs.begin(), inputs.end(),
                                 [](const MetaTensor& input) { return input.rank_known && input.known(); });
  if (!known) return std::nullopt;
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
