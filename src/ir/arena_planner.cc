#include "ir/arena_planner.h"

#include <algorithm>
#include <numeric>

namespace wherry {

ArenaPlan PlanArena(const std::vector<Lifetime>& lifetimes) {
  ArenaPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  const auto aligned = [](size_t bytes) { return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment; };
  std::vector<size_t> placed;  // by offset
  for (size_t value : order) {
    const Lifetime& life = lifetimes[value];
    if (life.bytes == 0) continue;
    size_t offset = 0;
    for (size_t other : placed) {
      const Lifetime& there = lifetimes[other];
      if (there.last < life.first || there.first > life.last) continue;
      if (plan.offsets[other] >= offset + aligned(life.bytes)) break;  // fits into the gap before it
      offset = std::max(offset, plan.offsets[other] + aligned(there.bytes));
    }
    plan.offsets[value] = offset;
    plan.size = std::max(plan.size, offset + aligned(life.bytes));
    const auto at = std::upper_bound(placed.begin(), placed.end(), value,
                                     [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
    placed.insert(at, value);
  }
  return plan;
}

size_t PeakBytes(const std::vector<Lifetime>& lifetimes) {
  std::vector<std::pair<int, int64_t>> changes;
  for (const Lifetime& life : lifetimes) {
    const size_t bytes = (life.bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    changes.emplace_back(life.first, static_cast<int64_t>(bytes));
    changes.emplace_back(life.last + 1, -static_cast<int64_t>(bytes));
  }
  std::sort(changes.begin(), changes.end());
  int64_t now = 0;
  int64_t peak = 0;
  for (const auto& [step, change] : changes) {
    now += change;
    peak = std::max(peak, now);
  }
  return static_cast<size_t>(peak);
}

}  // namespace wherry
