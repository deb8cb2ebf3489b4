// Where values live in one arena, given when they are alive and how big they are. Used by passes/memory and by runtime
// alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wherry {

// A value is alive at steps [first, last], both included.
struct Lifetime {
  size_t bytes = 0;
  int first = 0;
  int last = 0;
};
struct ArenaPlan {
  std::vector<size_t> offsets;  // per value, multiples of kArenaAlignment
  size_t size = 0;              // of the arena
};
inline constexpr size_t kArenaAlignment = 64;

// Biggest first, each at the lowest offset where it overlaps no value alive at the same time. Deterministic; O(n log n
// + overlaps). Never worse than one buffer each; the lower bound is the largest sum alive at one step.
// Error(kOutOfRange) when sizes add up beyond 64 bits.
ArenaPlan PlanArena(const std::vector<Lifetime>& lifetimes);

// The most that is alive at one step, in sizes that are rounded up to kArenaAlignment; the first such step; and how
// many there are.
struct ArenaPeak {
  size_t bytes = 0;
  int step = 0;
  int steps = 0;
};
ArenaPeak PeakOf(const std::vector<Lifetime>& lifetimes);
inline size_t PeakBytes(const std::vector<Lifetime>& lifetimes) { return PeakOf(lifetimes).bytes; }

}  // namespace wherry
