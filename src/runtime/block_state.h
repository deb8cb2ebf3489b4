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

// Lets go of the outputs' memory, in every slot that shares it.
inline void GiveAway(ShapePlan* plan) {
  for (int slot : plan->given_away) plan->tensors[static_cast<size_t>(slot)].set_buffer(nullptr);
}

}  // namespace wherry
