#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/cancellation.h"
#include "base/sanitizer_test_util.h"
#include "wherry/error.h"

namespace wherry {
namespace {

// Runs a job of `chunks` that counts how often each chunk ran, and expects once each.
void ExpectEachOnce(ThreadPool* pool, int64_t chunks) {
  std::vector<std::atomic<int>> runs(static_cast<size_t>(chunks));
  pool->Run(chunks, [&](int64_t chunk) { runs[static_cast<size_t>(chunk)].fetch_add(1, std::memory_order_relaxed); });
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    ASSERT_EQ(runs[static_cast<size_t>(chunk)].load(), 1) << "chunk " << chunk << " of " << chunks;
  }
}

TEST(ThreadPoolTest, RefusesImpossibleThreadCounts) {
  EXPECT_THROW(ThreadPool(0), Error);
  EXPECT_THROW(ThreadPool(-1), Error);
  EXPECT_THROW(ThreadPool(ThreadPool::kMaxThreads + 1), Error);
  EXPECT_EQ(ThreadPool(3).threads(), 3);
}

TEST(ThreadPoolTest, RunsEveryChunkOnce) {
  for (int threads : {1, 2, 3, 4, 8}) {
    ThreadPool pool(threads);
    for (int64_t chunks : {0, 1, 2, 3, 7, 16, 1000}) ExpectEachOnce(&pool, chunks);
  }
}

TEST(ThreadPoolTest, NoChunksIsNoCall) {
  ThreadPool pool(2);
  pool.Run(0, [](int64_t) { FAIL(); });
  pool.Run(-5, [](int64_t) { FAIL(); });
}

TEST(ThreadPoolTest, MoreChunksThanOneJobHolds) {
  ThreadPool pool(4);
  constexpr int64_t kChunks = (int64_t{1} << 20) + 5;
  std::atomic<int64_t> count{0}, sum{0};
  pool.Run(kChunks, [&](int64_t chunk) {
    count.fetch_add(1, std::memory_order_relaxed);
    sum.fetch_add(chunk, std::memory_order_relaxed);
  });
  EXPECT_EQ(count.load(), kChunks);
  EXPECT_EQ(sum.load(), kChunks * (kChunks - 1) / 2);
}

// Back to back jobs of different sizes: a worker late from one job must not run a chunk of it in the next, nor lose
// one.
TEST(ThreadPoolTest, StressBackToBack) {
  ThreadPool pool(4);
  int runs[17] = {};  // plain: what a chunk writes must be visible after Run, which the thread sanitizer checks
  for (int job = 0; job < 20000; ++job) {
    const int chunks = job % 17 + 1;
    pool.Run(chunks, [&, job](int64_t chunk) { runs[chunk] = job + static_cast<int>(chunk); });
    for (int chunk = 0; chunk < chunks; ++chunk) ASSERT_EQ(runs[chunk], job + chunk);
  }
}

TEST(ThreadPoolTest, StressAcrossSleep) {
  ThreadPool pool(3);
  for (int job = 0; job < 300; ++job) {
    if (job % 3 == 0) pool.Sleep();
    std::this_thread::sleep_for(std::chrono::microseconds(job % 7 * 30));
    ExpectEachOnce(&pool, job % 9 + 2);
  }
}

TEST(ThreadPoolTest, WorkersTakePart) {
  ThreadPool pool(2);
  std::atomic<int> arrived{0};
  // Each chunk waits for the other: one thread alone could not finish.
  pool.Run(2, [&](int64_t) {
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived.load(), 2);
}

// What a thread works on stays near it when operators follow each other.
TEST(ThreadPoolTest, EachThreadBeginsWithNeighbouringChunks) {
  ThreadPool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (int job = 0; job < 20; ++job) {
    // A worker that still looks for chunks of the job before may come upon any of this one's.
    pool.Sleep();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int64_t> first_of_worker{-1};
    pool.Run(8, [&](int64_t chunk) {
      int64_t none = -1;
      if (std::this_thread::get_id() != caller) first_of_worker.compare_exchange_strong(none, chunk);
      while (first_of_worker.load() == -1) std::this_thread::yield();
    });
    EXPECT_EQ(first_of_worker.load(), 4);
  }
}

TEST(ThreadPoolTest, RethrowsTheErrorAndSkipsTheRest) {
  ThreadPool pool(2);
  std::atomic<int> ran{0};
  try {
    pool.Run(100000, [&](int64_t chunk) {
      ran.fetch_add(1, std::memory_order_relaxed);
      if (chunk == 3) throw Error(ErrorCode::kCorrupt, "chunk " + std::to_string(chunk));
    });
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    EXPECT_EQ(error.message(), "chunk 3");
  }
  EXPECT_LT(ran.load(), 100000);
  ExpectEachOnce(&pool, 50);
}

TEST(ThreadPoolTest, EveryChunkThrows) {
  ThreadPool pool(4);
  for (int job = 0; job < 2000; ++job) {
    EXPECT_THROW(pool.Run(8, [](int64_t) { throw std::runtime_error("no"); }), std::runtime_error);
  }
  ExpectEachOnce(&pool, 50);
}

TEST(ThreadPoolTest, ErrorWaitsForBegunChunks) {
  ThreadPool pool(2);
  std::atomic<int> begun{0};
  std::atomic<bool> ended{false};
  EXPECT_THROW(pool.Run(2,
                        [&](int64_t chunk) {
                          begun.fetch_add(1);
                          while (begun.load() < 2) std::this_thread::yield();
                          if (chunk == 0) throw std::runtime_error("no");
                          std::this_thread::sleep_for(std::chrono::milliseconds(20));
                          ended.store(true);
                        }),
               std::runtime_error);
  EXPECT_TRUE(ended.load());
}

TEST(ThreadPoolTest, NestedRunStaysOnItsThread) {
  ThreadPool pool(4);
  std::atomic<int> inner{0};
  std::atomic<bool> moved{false};
  pool.Run(8, [&](int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    pool.Run(8, [&](int64_t) {
      if (std::this_thread::get_id() != outer) moved = true;
      inner.fetch_add(1);
    });
  });
  EXPECT_EQ(inner.load(), 64);
  EXPECT_FALSE(moved.load());
}

TEST(ThreadPoolTest, NestedErrorComesOut) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.Run(4, [&](int64_t) { pool.Run(4, [](int64_t) { throw std::runtime_error("inner"); }); }),
               std::runtime_error);
}

TEST(ThreadPoolTest, ManyCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&pool] {
      for (int job = 0; job < 500; ++job) ExpectEachOnce(&pool, job % 13 + 1);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// The promise of the pool: a worker that the system does not let run until it has claimed delays nobody.
TEST(ThreadPoolTest, WorkerHeldBeforeItsClaimDoesNotDelayTheCaller) {
  std::atomic<bool> held{false}, release{false};
  ThreadPool pool(2, [&] {
    held = true;
    while (!release) std::this_thread::yield();
  });
  // The first job lasts until the worker is held in the hook.
  pool.Run(2, [&](int64_t) {
    while (!held) std::this_thread::yield();
  });
  for (int job = 0; job < 100; ++job) ExpectEachOnce(&pool, 5);  // would hang if a job waited for the worker
  // Let go inside a later job, it takes part in that one, whatever it saw before.
  std::atomic<int> arrived{0};
  pool.Run(2, [&](int64_t) {
    release = true;
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived.load(), 2);
}

TEST(ThreadPoolTest, DestroyedUnusedSpinningAndAsleep) {
  { ThreadPool pool(4); }
  for (int pause_us : {0, 10, 300}) {
    ThreadPool pool(4);
    ExpectEachOnce(&pool, 8);
    std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
  }
}

// The thread sanitizer allows no threads in a forked child.
#define WHERRY_SKIP_FORK_UNDER_TSAN() \
  if (kThreadSanitizer) GTEST_SKIP() << "no threads in a forked child under the thread sanitizer"

// Waits for `child` up to 20 s and returns its exit status, or -1.
int ExitStatus(pid_t child) {
  for (int i = 0; i < 2000; ++i) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return -1;
}

bool SumIsRight(ThreadPool* pool) {
  std::atomic<int64_t> sum{0};
  pool->Run(100, [&](int64_t chunk) { sum.fetch_add(chunk); });
  return sum.load() == 4950;
}

TEST(ThreadPoolTest, ForkedChildRunsAndDestroys) {
  WHERRY_SKIP_FORK_UNDER_TSAN();
  for (int sleep_us : {0, 500}) {  // the workers spin, and sleep
    auto pool = std::make_unique<ThreadPool>(3);
    ASSERT_TRUE(SumIsRight(pool.get()));
    std::this_thread::sleep_for(std::chrono::microseconds(sleep_us));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool right = SumIsRight(pool.get()) && SumIsRight(pool.get());
      if (ForkLocal().wiped_on_fork()) {
        // The child has workers of its own: one thread alone could not finish this.
        std::atomic<int> arrived{0};
        pool->Run(2, [&](int64_t) {
          arrived.fetch_add(1);
          while (arrived.load() < 2) std::this_thread::yield();
        });
      }
      pool.reset();
      _exit(right ? 7 : 1);
    }
    EXPECT_EQ(ExitStatus(child), 7);
    EXPECT_TRUE(SumIsRight(pool.get()));
  }
}

TEST(ThreadPoolTest, ForkedChildDestroysWithoutRunning) {
  WHERRY_SKIP_FORK_UNDER_TSAN();
  auto pool = std::make_unique<ThreadPool>(3);
  ASSERT_TRUE(SumIsRight(pool.get()));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    pool.reset();
    _exit(7);
  }
  EXPECT_EQ(ExitStatus(child), 7);
}

// The pool was busy in another thread when the process forked: that thread is gone in the child.
TEST(ThreadPoolTest, ForkWhileAnotherThreadRuns) {
  WHERRY_SKIP_FORK_UNDER_TSAN();
  ThreadPool pool(3);
  std::atomic<bool> inside{false}, leave{false};
  std::thread other([&] {
    pool.Run(3, [&](int64_t) {
      inside = true;
      while (!leave) std::this_thread::yield();
    });
  });
  while (!inside) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) _exit(SumIsRight(&pool) && SumIsRight(&pool) ? 7 : 1);
  leave = true;
  other.join();
  ASSERT_GE(child, 0);
  EXPECT_EQ(ExitStatus(child), 7);
}

TEST(ThreadPoolTest, DefaultThreadsFollowsAffinity) {
  EXPECT_GE(ThreadPool::DefaultThreads(), 1);
  int threads = 0;
  std::thread([&threads] {  // affinity belongs to a thread, so the other tests keep theirs
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &set)) ++cpu;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    threads = ThreadPool::DefaultThreads();
  })
      .join();
  EXPECT_EQ(threads, 1);
}

TEST(ParallelForTest, CoversTheRangeInChunksOfAtLeastAGrain) {
  ThreadPool pool(3);
  for (int64_t total : {1, 5, 15, 16, 17, 100, 1000, 4097}) {
    for (int64_t grain : {-1, 0, 1, 3, 8, 64}) {
      const int64_t least = std::min(total, std::max<int64_t>(grain, 1));
      std::vector<std::atomic<int>> seen(static_cast<size_t>(total));
      std::atomic<int> chunks{0};
      ParallelFor(&pool, total, grain, [&](int64_t begin, int64_t end) {
        EXPECT_GE(end - begin, least);
        EXPECT_EQ(begin % std::max<int64_t>(grain, 1), 0);
        for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)].fetch_add(1);
        chunks.fetch_add(1);
      });
      for (auto& count : seen) ASSERT_EQ(count.load(), 1);
      EXPECT_LE(chunks.load(), 12);
    }
  }
}

TEST(ParallelForTest, SmallOrSerialIsOneCallOnTheCaller) {
  ThreadPool pool(4);
  const auto expect_one_call = [](ThreadPool* used, int64_t total, int64_t grain) {
    int calls = 0;
    ParallelFor(used, total, grain, [&, caller = std::this_thread::get_id()](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(begin, 0);
      EXPECT_EQ(end, total);
      ++calls;
    });
    EXPECT_EQ(calls, 1);
  };
  expect_one_call(nullptr, 1000, 1);
  expect_one_call(&pool, 127, 64);
  expect_one_call(&pool, 1, 1);
  ParallelFor(&pool, 0, 1, [](int64_t, int64_t) { FAIL(); });
  ParallelFor(nullptr, -3, 1, [](int64_t, int64_t) { FAIL(); });
}

TEST(ParallelForTest, HugeTotalsDoNotOverflow) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  constexpr int64_t kTotal = INT64_MAX;
  ParallelFor(&pool, kTotal, 1, [&](int64_t begin, int64_t end) { sum.fetch_add(end - begin); });
  EXPECT_EQ(sum.load(), kTotal);
  sum = 0;
  ParallelFor(&pool, kTotal, kTotal / 3, [&](int64_t begin, int64_t end) { sum.fetch_add(end - begin); });
  EXPECT_EQ(sum.load(), kTotal);
}

TEST(CancellationTest, ARunEndsBeforeItsNextChunk) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::atomic<bool> flag{false};
    const ScopedCancellation scoped(&flag);
    std::atomic<int> chunks{0};
    pool.Run(100, [&](int64_t) { ++chunks; });
    EXPECT_EQ(chunks, 100);
    chunks = 0;
    try {
      pool.Run(100'000, [&](int64_t) {
        flag = true;
        ++chunks;
      });
      ADD_FAILURE() << "it went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCancelled);
    }
    EXPECT_LE(chunks, threads);
    flag = false;
    pool.Run(10, [&](int64_t) { ++chunks; });
  }
}

TEST(CancellationTest, WorkOnTheCallerHasPieces) {
  std::atomic<bool> flag{false};
  const ScopedCancellation scoped(&flag);
  int64_t next = 0;
  ParallelFor(nullptr, 64 * 64 * 10 + 3, 10, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(begin, next);
    EXPECT_GE(end - begin, 64 * 10);
    next = end;
  });
  EXPECT_EQ(next, 64 * 64 * 10 + 3);
  int calls = 0;
  const auto cancelled = [&](int64_t, int64_t) {
    flag = true;
    ++calls;
  };
  EXPECT_THROW(ParallelFor(nullptr, 64 * 64 * 10, 10, cancelled), Error);
  EXPECT_EQ(calls, 1);
  const ScopedCancellation nothing(nullptr);
  EXPECT_NO_THROW(ParallelFor(nullptr, 100, 10, cancelled)) << "the innermost counts";
}

}  // namespace
}  // namespace wherry
