#include "ir/memory_sharing.h"

#include <gtest/gtest.h>

#include <random>

namespace wherry {
namespace {

size_t ArenaOf(const std::vector<SharingValue>& values, const std::vector<bool>& shares) {
  std::vector<Lifetime> lifetimes = SharingLifetimes(values, SharingRoots(values, shares));
  std::erase_if(lifetimes, [](const Lifetime& life) { return life.first < 0; });
  return PlanArena(lifetimes).size;
}

TEST(MemorySharing, LivesFromTheFirstUseOfAPieceToTheLast) {
  // A part made at 0 and one at 3, joined at 4 and read at 5.
  const std::vector<SharingValue> values = {{64, 0, 4, 2}, {64, 3, 4, 2}, {128, 4, 5, -1}};
  const std::vector<int> roots = SharingRoots(values, {true, true, false});
  EXPECT_EQ(roots, (std::vector<int>{2, 2, 2}));
  const std::vector<Lifetime> lifetimes = SharingLifetimes(values, roots);
  EXPECT_EQ(lifetimes[0].first, -1);
  EXPECT_EQ(lifetimes[2].bytes, 128u);
  EXPECT_EQ(lifetimes[2].first, 0);
  EXPECT_EQ(lifetimes[2].last, 5);
}

TEST(MemorySharing, KeepsWhatCostsNothing) {
  const std::vector<SharingValue> values = {{64, 0, 2, 2}, {64, 1, 2, 2}, {128, 2, 3, -1}, {128, 3, 4, 2}};
  EXPECT_EQ(WeighSharing(values), (std::vector<bool>{true, true, false, true}));
}

TEST(MemorySharing, TakesOutWhatIsMadeLongBeforeItIsJoined) {
  // The result, 1000 bytes, would be there from step 0 on, beside 1000 bytes of others at step 2.
  const std::vector<SharingValue> early = {
      {64, 0, 5, 2}, {960, 4, 5, 2}, {1024, 5, 6, -1}, {1024, 1, 2, -1}, {1024, 2, 3, -1}};
  EXPECT_EQ(WeighSharing(early), (std::vector<bool>{false, true, false, false, false}));
  // And a slice that is read long after the rest of its argument.
  const std::vector<SharingValue> late = {{1024, 0, 1, -1}, {64, 1, 6, 0}, {1024, 2, 3, -1}, {1024, 3, 4, -1}};
  EXPECT_EQ(WeighSharing(late), (std::vector<bool>(4, false)));
}

TEST(MemorySharing, ViewsStay) {
  // A view is as long as its argument: nothing would be saved.
  const std::vector<SharingValue> values = {{128, 0, 1, -1}, {128, 1, 5, 0}, {64, 5, 6, 1}, {1024, 2, 3, -1}};
  EXPECT_EQ(WeighSharing(values), (std::vector<bool>{false, true, true, false}));
}

TEST(MemorySharing, NeverTakesMoreThanNoPieces) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<SharingValue> values(1 + random() % 60);
    std::vector<bool> none(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      SharingValue& value = values[i];
      value.first = static_cast<int>(random() % 40);
      value.last = value.first + static_cast<int>(random() % 12);
      value.bytes = 64 * (1 + random() % 20);
      if (i == 0 || random() % 2 == 0) continue;
      value.within = static_cast<int>(random() % i);
      const SharingValue& other = values[static_cast<size_t>(value.within)];
      value.bytes = std::min(value.bytes, other.bytes);
      none[i] = value.bytes == other.bytes;
    }
    EXPECT_LE(ArenaOf(values, WeighSharing(values)), ArenaOf(values, none));
  }
}

}  // namespace
}  // namespace wherry
