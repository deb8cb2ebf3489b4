#include "ir/arena_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace wherry {
namespace {

bool Overlap(size_t a, size_t a_bytes, size_t b, size_t b_bytes) { return a < b + b_bytes && b < a + a_bytes; }

TEST(ArenaPlanner, KeepsApartWhatIsAliveAtOneTime) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes(random() % 40);
    for (Lifetime& life : lifetimes) {
      const int first = static_cast<int>(random() % 30);
      life = {random() % 500, first, first + static_cast<int>(random() % (round % 2 == 0 ? 3 : 30))};
    }
    const ArenaPlan plan = PlanArena(lifetimes);
    size_t apart = 0;
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      const Lifetime& a = lifetimes[i];
      apart += (a.bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
      EXPECT_EQ(plan.offsets[i] % kArenaAlignment, 0u);
      EXPECT_LE(plan.offsets[i] + a.bytes, plan.size);
      for (size_t j = 0; j < i; ++j) {
        const Lifetime& b = lifetimes[j];
        if (a.last < b.first || b.last < a.first) continue;
        EXPECT_FALSE(Overlap(plan.offsets[i], a.bytes, plan.offsets[j], b.bytes)) << i << " and " << j;
      }
    }
    EXPECT_LE(plan.size, apart);
    EXPECT_GE(plan.size, PeakBytes(lifetimes));
  }
}

TEST(ArenaPlanner, ReusesMemoryAlongAChain) {
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < 10000; ++i) lifetimes.push_back({100, i, i + 1});
  EXPECT_EQ(PlanArena(lifetimes).size, 2 * 128u);
}

TEST(ArenaPlanner, NothingTakesNothing) {
  EXPECT_EQ(PlanArena({}).size, 0u);
  EXPECT_EQ(PlanArena({{0, 3, 5}}).size, 0u);
}

}  // namespace
}  // namespace wherry
