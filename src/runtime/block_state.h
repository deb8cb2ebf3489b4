// What a session keeps per block, and what its parts do with a plan's memory.
#pragma once

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "core/grown_size.h"
#include "runtime/session.h"

namespace wherry {

// Memory in one memory space for the values of all plans of a block.
struct Arena {
  std::shared_ptr<Buffer> memory;
  size_t most_needed = 0;  // in the last `runs` runs
  int runs = 0;

  // How large it should be to run a plan that needs `bytes`: as it is, unless that is too small, or has been more than
  // twice too large for kRunsToShrink runs. `exactly`: no more than what is needed when it has to grow.
  size_t SizeFor(size_t bytes, bool exactly);
};

struct Session::BlockState {
  std::list<std::unique_ptr<ShapePlan>> plans;  // used most lately first
  std::map<Target, Arena> arenas;               // by memory space
  ShapePlan* bound = nullptr;                   // whose tensors point into the arenas
};

inline size_t Arena::SizeFor(size_t bytes, bool exactly) {
  const size_t held = memory == nullptr ? 0 : memory->size();
  most_needed = std::max(most_needed, bytes);
  if (held < bytes) return exactly ? bytes : GrownSize(held, bytes);
  if (++runs < Session::kRunsToShrink) return held;
  const size_t most = std::exchange(most_needed, bytes);
  runs = 0;
  return held / 2 > most ? most : held;
}

// Lets go of what a run left in memory that was not planned.
inline void ForgetRun(ShapePlan* plan) {
  for (size_t slot = 0; slot < plan->tensors.size(); ++slot) {
    if (plan->residence[slot] == Residence::kRunTime) plan->tensors[slot].set_buffer(nullptr);
  }
  for (PlannedCall& call : plan->calls) call.loop = nullptr;
}

// Lets go of the inputs' memory, in every slot that shares it.
inline void ForgetInputs(ShapePlan* plan) {
  for (int slot : plan->input_slots) plan->tensors[static_cast<size_t>(slot)].set_buffer(nullptr);
  for (int slot : plan->input_views) plan->tensors[static_cast<size_t>(slot)].set_buffer(nullptr);
}

// Lets go of the outputs' memory, in every slot that shares it.
inline void GiveAway(ShapePlan* plan) {
  for (int slot : plan->given_away) plan->tensors[static_cast<size_t>(slot)].set_buffer(nullptr);
}

}  // namespace wherry
