// What a session keeps per block, and what its parts do with a plan's memory.
#pragma once

#include <list>
#include <memory>

#include "runtime/session.h"

namespace wherry {

struct Session::BlockState {
  std::list<std::unique_ptr<ShapePlan>> plans;  // used most lately first
  std::shared_ptr<Buffer> arena;
  ShapePlan* bound = nullptr;  // whose tensors point into the arena
};

// The slot that owns the memory of a slot.
inline size_t RootOf(const ShapePlan& plan, int slot) {
  const auto index = static_cast<size_t>(slot);
  return plan.residence[index] == Residence::kAlias ? static_cast<size_t>(plan.alias_root[index]) : index;
}

// Lets go of memory that belongs to an output, in every slot that shares it.
inline void ReleaseShared(ShapePlan* plan, size_t root) {
  if (plan->residence[root] != Residence::kOwn && plan->residence[root] != Residence::kRunTime) return;
  for (size_t i = 0; i < plan->tensors.size(); ++i) {
    if (RootOf(*plan, static_cast<int>(i)) == root) plan->tensors[i].set_buffer(nullptr);
  }
}

}  // namespace wherry
