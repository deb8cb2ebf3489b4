// The first part of making a ShapePlan: which calls there are, and what is known about every value.
#pragma once

#include <span>
#include <vector>

#include "runtime/plan.h"

namespace wherry {

// Fills a plan's slots, maps, types and calls; places nothing in memory. For one plan, not thread-safe.
class PlanInference {
 public:
  PlanInference(const Executable& executable, DeviceSet* devices, ShapePlan* plan)
      : executable_(executable), devices_(devices), plan_(plan) {}

  // Errors name the op.
  void Run(const CompiledBlock& block, std::span<const MetaTensor> inputs);

  const MetaTensor& meta(int slot) const { return metas_[static_cast<size_t>(slot)]; }
  std::vector<MetaTensor> OutputMetas() const;
  // Where its pixels turned out to lie.
  void SetPixelStride(int slot, int64_t stride);
  // What is bound to the call's arguments. The metas are this object's.
  std::vector<BoundArg> Bind(const PlannedCall& call) const;
  // The slot whose memory a slot may share, or -1; from which byte on (of that as if it had no gaps); whether its
  // pixels are as far apart as the other's though it has fewer channels; and whether the other is written over.
  int alias(int slot) const {
    const int source = aliases_[static_cast<size_t>(slot)];
    return source >= 0 && replaced_[static_cast<size_t>(source)] ? -1 : source;
  }
  size_t alias_offset(int slot) const { return alias_offsets_[static_cast<size_t>(slot)]; }
  bool alias_strided(int slot) const { return alias_strided_[static_cast<size_t>(slot)]; }
  bool overwrites(int slot) const { return overwrites_[static_cast<size_t>(slot)]; }

 private:
  int NewSlot(Residence residence);
  SlotMap* NewMap(const CompiledBlock& block);
  void MapAliases(const CompiledBlock& block, const SlotMap& map);
  void RunBlock(const CompiledBlock& block, SlotMap* map);
  void Infer(const Instruction& instruction, SlotMap* map);
  void InferSequenceOp(PlannedCall* call);
  void InferIf(const Instruction& instruction, SlotMap* map);
  void InferLoop(const Instruction& instruction, SlotMap* map);
  // Adds a call that runs blocks, for inputs of which this is known.
  PlannedCall& AddBlockCall(const Instruction& instruction, SlotMap* map, const std::vector<MetaTensor>& inputs);
  // Of a result of such a call: its type, if that is a plain tensor's and known.
  void SetBlockResult(size_t slot, const MetaTensor& meta);
  void Inline(const Instruction& instruction, SlotMap* map, int block);
  // Types of a block's results for these inputs; nullopt where it cannot be inferred: perhaps it is never run.
  std::optional<std::vector<MetaTensor>> InferChild(int block, std::span<const MetaTensor> inputs) const;
  DataLayout ResultLayout(const PlannedCall& call, const MetaTensor& result) const;
  bool NeedsLayouts(const PlannedCall& call, const std::vector<BoundArg>& bound) const;
  bool NeedsCasts(const PlannedCall& call) const;
  void SetResult(size_t slot, MetaTensor meta, Target target, Residence residence);

  const Executable& executable_;
  DeviceSet* devices_;
  ShapePlan* plan_;
  std::vector<MetaTensor> metas_;  // by slot
  // Finds out for which of a call's results and arguments the marks of the program hold.
  void PlaceAliases(const PlannedCall& call, const std::vector<BoundArg>& bound);

  std::vector<int> aliases_;  // -1 where these shapes do not allow it
  std::vector<size_t> alias_offsets_;
  std::vector<bool> alias_strided_;
  std::vector<bool> overwrites_;
  // Results of an `if` that are the values of its block instead. Those may be values that others use or that belong to
  // the caller: nothing may be written over them.
  std::vector<bool> replaced_;
};

}  // namespace wherry
