#include "ir/arena_planner.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "base/checked_math.h"

namespace wherry {

namespace {

// Looking for gaps compares each value with all that are alive beside it; a split into 50,000 parts took a minute. Once
// so many comparisons are made, what is left goes on top.
constexpr size_t kMostComparisons = size_t{1} << 24;

// Sizes come from shapes in files: a sum that wrapped would put values on top of one another.
size_t After(size_t offset, size_t bytes) {
  const size_t padded = CheckedAdd(bytes, kArenaAlignment - 1, "memory for activations");
  return CheckedAdd(offset, padded / kArenaAlignment * kArenaAlignment, "memory for activations");
}

// Lifetimes that were placed, by what they overlap: those that begin later than a step by their beginning, those alive
// at it by a segment tree over the steps.
class PlacedLifetimes {
 public:
  explicit PlacedLifetimes(int steps) : leaves_(std::bit_ceil(static_cast<size_t>(steps))), alive_(2 * leaves_) {}

  void Add(const Lifetime& life, size_t value) {
    by_first_.emplace(life.first, value);
    size_t low = static_cast<size_t>(life.first) + leaves_;
    size_t high = static_cast<size_t>(life.last) + leaves_ + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) alive_[low++].push_back(value);
      if (high % 2 == 1) alive_[--high].push_back(value);
    }
  }

  // Those alive at some step of `life`, each once.
  void Overlapping(const Lifetime& life, std::vector<size_t>* values) const {
    values->clear();
    for (size_t node = static_cast<size_t>(life.first) + leaves_; node > 0; node /= 2) {
      values->insert(values->end(), alive_[node].begin(), alive_[node].end());
    }
    for (auto it = by_first_.upper_bound(life.first); it != by_first_.end() && it->first <= life.last; ++it) {
      values->push_back(it->second);
    }
  }

 private:
  size_t leaves_;
  std::vector<std::vector<size_t>> alive_;
  std::multimap<int, size_t> by_first_;
};

}  // namespace

ArenaPlan PlanArena(const std::vector<Lifetime>& lifetimes) {
  ArenaPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  int steps = 1;
  for (const Lifetime& life : lifetimes) steps = std::max(steps, life.last + 1);
  PlacedLifetimes placed(steps);
  std::vector<size_t> others;
  size_t comparisons = 0;
  for (size_t value : order) {
    const Lifetime& life = lifetimes[value];
    if (life.bytes == 0) continue;
    if (comparisons > kMostComparisons) {
      plan.offsets[value] = plan.size;
      plan.size = After(plan.size, life.bytes);
      continue;
    }
    placed.Overlapping(life, &others);
    comparisons += others.size();
    std::sort(others.begin(), others.end(), [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; });
    size_t offset = 0;
    for (size_t other : others) {
      if (plan.offsets[other] >= After(offset, life.bytes)) break;  // fits into the gap before it
      offset = std::max(offset, After(plan.offsets[other], lifetimes[other].bytes));
    }
    plan.offsets[value] = offset;
    plan.size = std::max(plan.size, After(offset, life.bytes));
    placed.Add(life, value);
  }
  return plan;
}

ArenaPeak PeakOf(const std::vector<Lifetime>& lifetimes) {
  int steps = 0;
  for (const Lifetime& life : lifetimes) steps = std::max(steps, life.last + 1);
  std::vector<int64_t> changes(static_cast<size_t>(steps) + 1);
  int64_t sum = 0;
  for (const Lifetime& life : lifetimes) {
    const auto bytes = CheckedCast<int64_t>(After(0, life.bytes), "memory for activations");
    sum = CheckedAdd(sum, bytes, "memory for activations");  // so that no part of it can wrap
    changes[static_cast<size_t>(life.first)] += bytes;
    changes[static_cast<size_t>(life.last) + 1] -= bytes;
  }
  ArenaPeak peak;
  int64_t now = 0;
  for (int step = 0; step < steps; ++step) {
    now += changes[static_cast<size_t>(step)];
    const auto bytes = static_cast<size_t>(now);
    if (bytes > peak.bytes) peak = {bytes, step, 0};
    if (bytes == peak.bytes) ++peak.steps;
  }
  return peak;
}

}  // namespace wherry
