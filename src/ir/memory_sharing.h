// Which values are to lie in another value's memory, where that is possible. Used by passes/memory and by runtime
// alike.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/arena_planner.h"

namespace wherry {

// A value, the steps at which it is itself used, and the value in whose memory it may lie.
struct SharingValue {
  size_t bytes = 0;
  int first = -1;  // -1: never
  int last = -1;
  int within = -1;       // another value, as long or longer; chains have no cycle; -1: none
  bool in_arena = true;  // or in memory that is there whether it is shared or not
};

// Sharing saves copies, but what lies in a longer value's memory keeps all of that from its own first use to its last:
// what is written long before the concat that it is part of, a slice that outlives its argument. So the pieces that
// keep something alive at the step where most is alive are taken out, as long as that lowers the peak; and all of them,
// if a smaller arena is found without any. By value: whether it lies within the other.
std::vector<bool> WeighSharing(const std::vector<SharingValue>& values);

// By value: the one whose memory it lies in, if those of `shares` lie within another, and that it is itself if not.
std::vector<int> SharingRoots(const std::vector<SharingValue>& values, const std::vector<bool>& shares);
// By value: when the memory of a root is in use, {0, -1, -1} for what is none, or is not in the arena.
std::vector<Lifetime> SharingLifetimes(const std::vector<SharingValue>& values, const std::vector<int>& roots);

}  // namespace wherry
