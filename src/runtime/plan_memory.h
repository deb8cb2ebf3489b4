// The second part of making a ShapePlan: where every value lies.
#pragma once

#include <vector>

#include "ir/memory_sharing.h"
#include "runtime/plan_inference.h"

namespace wherry {

// Fills residences, offsets, lifetimes and sizes of a plan whose calls are inferred and have their kernels, and the
// pixel strides of what lies in wider pixels. For one plan, not thread-safe.
class PlanMemory {
 public:
  PlanMemory(const CompiledBlock& block, PlanInference* inference, ShapePlan* plan);

  void Run();
  // Whether what the call gives lies where it is to be: its results are views of its argument, or its arguments were
  // written into its result.
  bool InPlace(const PlannedCall& call) const;

 private:
  struct Home {
    int slot = -1;
    size_t offset = 0;
    int64_t pixel_stride = 0;  // of the value, if it has gaps
    bool shares = false;       // it is another slot's memory
  };

  bool SharesMemory(int slot) const;
  bool StandsApart(int slot, const Home& home) const;
  Home HomeWithin(int slot) const;
  void FindHomes();
  void FindUses();
  void Weigh();
  void ShareMemory();
  void PlaceInArena(Target space);
  void FindGivenAway();

  const CompiledBlock& block_;
  PlanInference& inference_;
  ShapePlan& plan_;
  std::vector<bool> seen_;           // by slot: the user gets to see it
  std::vector<bool> takes_strides_;  // by slot: every kernel that reads or writes it takes pixel strides
  std::vector<bool> apart_;          // by slot: it is not worth sharing
  std::vector<SharingValue> uses_;   // by slot
  std::vector<Home> homes_;          // by slot
};

}  // namespace wherry
