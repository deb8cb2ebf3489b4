#include "ir/arena_planner.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"

namespace wherry {

namespace {

// Sizes come from shapes in files: a sum that wrapped would put values on top of one another.
size_t After(size_t offset, size_t bytes) {
  const size_t padded = CheckedAdd(bytes, kArenaAlignment - 1, "memory for activations");
  return CheckedAdd(offset, padded / kArenaAlignment * kArenaAlignment, "memory for activations");
}

}  // namespace

ArenaPlan PlanArena(const std::vector<Lifetime>& lifetimes) {
  ArenaPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<size_t> placed;  // by offset
  for (size_t value : order) {
    const Lifetime& life = lifetimes[value];
    if (life.bytes == 0) continue;
    size_t offset = 0;
    for (size_t other : placed) {
      const Lifetime& there = lifetimes[other];
      if (there.last < life.first || there.first > life.last) continue;
      if (plan.offsets[other] >= After(offset, life.bytes)) break;  // fits into the gap before it
      offset = std::max(offset, After(plan.offsets[other], there.bytes));
    }
    plan.offsets[value] = offset;
    plan.size = std::max(plan.size, After(offset, life.bytes));
    const auto at = std::upper_bound(placed.begin(), placed.end(), value,
                                     [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
    placed.insert(at, value);
  }
  return plan;
}

size_t PeakBytes(const std::vector<Lifetime>& lifetimes) {
  std::vector<std::pair<int, int64_t>> changes;
  for (const Lifetime& life : lifetimes) {
    const auto bytes = CheckedCast<int64_t>(After(0, life.bytes), "memory for activations");
    changes.emplace_back(life.first, bytes);
    changes.emplace_back(life.last + 1, -bytes);
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0;
  int64_t peak = 0;
  for (const auto& [step, change] : changes) {
    now = CheckedAdd(now, change, "memory for activations");
    peak = std::max(peak, now);
  }
  return static_cast<size_t>(peak);
}

}  // namespace wherry
