#include "base/worker_placement.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace wherry {
namespace {

using Clock = WorkerPlacement::Clock;

cpu_set_t Affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

bool Equal(const cpu_set_t& a, const cpu_set_t& b) { return CPU_EQUAL(&a, &b); }

cpu_set_t Only(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return set;
}

// Affinity belongs to a thread: each test changes that of a thread of its own.
template <typename Function>
void OnOwnThread(Function function) {
  std::thread(function).join();
}

TEST(WorkerPlacementTest, LeavesAProcessorAndComesBack) {
  OnOwnThread([] {
    const cpu_set_t before = Affinity();
    if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one processor";
    const int cpu = sched_getcpu();
    WorkerPlacement placement;
    placement.Leave(cpu);
    EXPECT_NE(sched_getcpu(), cpu);
    const cpu_set_t during = Affinity();
    EXPECT_FALSE(CPU_ISSET(cpu, &during));
    placement.Restore();
    EXPECT_TRUE(Equal(Affinity(), before));
    placement.Restore();  // nothing to undo
    EXPECT_TRUE(Equal(Affinity(), before));
  });
}

TEST(WorkerPlacementTest, StaysWhereThereIsNoOtherPlace) {
  OnOwnThread([] {
    const int cpu = sched_getcpu();
    const cpu_set_t only = Only(cpu);
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
    WorkerPlacement placement;
    placement.Leave(cpu);
    EXPECT_TRUE(Equal(Affinity(), only));
    placement.Leave(-1);
    placement.Leave(CPU_SETSIZE);
    placement.Restore();
    EXPECT_TRUE(Equal(Affinity(), only));
  });
}

TEST(WorkerPlacementTest, RespectsAChangeFromOutside) {
  OnOwnThread([] {
    const cpu_set_t before = Affinity();
    if (CPU_COUNT(&before) < 3) GTEST_SKIP() << "fewer than three processors";
    WorkerPlacement placement;
    placement.Leave(sched_getcpu());
    const cpu_set_t only = Only(sched_getcpu());
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
    placement.Restore();
    EXPECT_TRUE(Equal(Affinity(), only));
  });
}

TEST(WorkerPlacementTest, AnAnswerTakesAWindow) {
  WorkerPlacement placement;
  placement.BeginRunning();
  EXPECT_FALSE(placement.Contested(Clock::now()));
}

TEST(WorkerPlacementTest, ANeighbourOnTheSameProcessorIsContest) {
  OnOwnThread([] {
    const cpu_set_t only = Only(sched_getcpu());
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
    std::atomic<bool> stop{false};
    std::thread neighbour([&stop] {  // inherits the affinity
      while (!stop) {
      }
    });
    WorkerPlacement placement;
    bool contested = false;
    placement.BeginRunning();
    for (const auto start = Clock::now(); !contested && Clock::now() - start < std::chrono::seconds(20);) {
      contested = placement.Contested(Clock::now());
    }
    stop = true;
    neighbour.join();
    EXPECT_TRUE(contested);
    EXPECT_FALSE(placement.Contested(Clock::now())) << "the next window has begun";
  });
}

// Nobody preempted this thread: so it looks when a host takes a virtual machine's processor away.
TEST(WorkerPlacementTest, TimeThatNobodyHereTookIsNoContest) {
  WorkerPlacement placement;
  int calm = 0;
  for (int i = 0; i < 500 && calm == 0; ++i) {  // a busy machine may preempt it beside
    placement.BeginRunning();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (!placement.Contested(Clock::now())) ++calm;
  }
  EXPECT_EQ(calm, 1);
}

TEST(WorkerPlacementTest, RunningIsNoContest) {
  WorkerPlacement placement;
  // A busy machine may disturb some windows, but not all.
  int calm = 0;
  for (int i = 0; i < 500 && calm == 0; ++i) {
    placement.BeginRunning();
    const auto start = Clock::now();
    Clock::time_point now;
    do now = Clock::now();
    while (now - start < 2 * WorkerPlacement::kWindow);
    if (!placement.Contested(now)) ++calm;
  }
  EXPECT_EQ(calm, 1);
}

TEST(WorkerPlacementTest, BacksOffLongerEachTime) {
  WorkerPlacement placement;
  auto expected = WorkerPlacement::kLeastBackOff;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(placement.BackOff(), expected);
    expected = std::min(expected * 2, WorkerPlacement::kMostBackOff);
  }
}

}  // namespace
}  // namespace wherry
