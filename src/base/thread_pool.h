// A fixed set of threads that share the chunks of one job, and never make the caller wait for a thread that has not
// begun. Why and how it is measured: docs/design/thread_pool.md.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "base/fork_local.h"
#include "base/function_ref.h"

namespace wherry {

class WorkerPlacement;

// Thread-safe: any thread may call any function (but the destructor, as always, only when no call is in progress).
//
// Fork-safe: a forked child may go on using and destroying the pool; its workers are started again at the first use.
// Exception: a child forked from inside a chunk must exec or exit.
class ThreadPool {
 public:
  static constexpr int kMaxThreads = 1024;

  // `threads` counts the caller of Run too: 1 starts no thread, N starts N-1, when they are first needed. They inherit
  // the affinity of the thread that first needs them and block all signals. `before_claim` is for tests: a worker calls
  // it when it has seen work and is about to claim a chunk. Throws kInvalidArgument unless 1 <= threads <= kMaxThreads.
  explicit ThreadPool(int threads, std::function<void()> before_claim = nullptr);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const noexcept { return threads_; }

  // Runs fn(chunk) exactly once for every chunk in [0, chunks), on the caller and the workers, in no order, and returns
  // when all have ended. What the chunks wrote is visible to the caller. Allocates nothing (once the workers run). Each
  // thread begins with a run of neighbouring chunks of its own, the same for the same number of chunks: number them so
  // that neighbours share data.
  //
  // If a chunk throws, the first exception is rethrown here after every chunk that has begun has ended; chunks that
  // have not begun are skipped.
  //
  // If another thread is inside Run of this pool, or this is called from inside a chunk, the caller runs all chunks
  // itself.
  void Run(int64_t chunks, FunctionRef<void(int64_t)> fn);

  // Workers that wait for work stop spinning at once and sleep, until the next Run. For handing the cores to another
  // threading library.
  void Sleep() noexcept;

  // How many threads this process may usefully run now: what the affinity mask of the calling thread and the CPU quotas
  // of its cgroups (v1 and v2) leave; at least 1.
  static int DefaultThreads();

 private:
  void RunJob(int64_t first_chunk, uint32_t chunks, FunctionRef<void(int64_t)> fn);
  bool HaveWorkers();
  void StartWorkers();
  void WorkerLoop();
  bool WaitForWork(WorkerPlacement* placement, uint64_t seen_job);
  void SleepUntilWoken(WorkerPlacement* placement, uint64_t seen_job);
  template <class Ended>
  void RunChunksFrom(size_t home, uint64_t job, Ended ended);
  void RunChunk(uint32_t chunk) noexcept;
  void WaitForBegunChunks() noexcept;

  const int threads_;
  const std::function<void()> before_claim_;

  // The workers of this process: one of the states in thread_pool.cc.
  const ForkLocal workers_state_;
  std::vector<pthread_t> workers_;
  pid_t workers_pid_ = 0;

  // Held by the thread whose job is running.
  std::atomic<bool> busy_{false};

  // The job. Written by the holder of busy_ before the ranges are, read by whoever has claimed a chunk and not yet
  // counted it in remaining_: the job cannot end, so these cannot change, in between.
  const FunctionRef<void(int64_t)>* fn_ = nullptr;
  int64_t first_chunk_ = 0;
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};

  // A run of chunks: its end (high 32 bits) and the next one to claim (low 32 bits).
  struct alignas(64) Range {
    std::atomic<uint64_t> ticket{0};
  };
  // One per thread, up to kMaxRanges; the caller begins with the first.
  std::vector<Range> ranges_;
  std::atomic<size_t> started_workers_{0};

  // The number of jobs so far: what the spinning workers read.
  alignas(64) std::atomic<uint64_t> job_{0};
  // The processor that the thread that began the job ran on then; -1 unknown.
  std::atomic<int> caller_cpu_{-1};
  std::atomic<bool> spin_{true};
  // 1 when the pool is being destroyed. Futex of the workers that stand aside.
  std::atomic<uint32_t> stop_{0};
  // At least the number of sleeping workers that nobody has woken yet. Who wakes them takes them off.
  std::atomic<uint32_t> sleepers_{0};
  // Futex of the workers: changes whenever they are to look again.
  std::atomic<uint32_t> wake_{0};

  // Chunks not yet ended, and in the top bit whether the caller sleeps on it (it is the caller's futex).
  alignas(64) std::atomic<uint32_t> remaining_{0};
};

// Splits [0, total) into ranges of at least `grain` (their borders are multiples of it), a few per thread, and runs
// fn(begin, end) for each. Less than two grains, or no pool, is one call on the caller. total <= 0 is no call.
void ParallelFor(ThreadPool* pool, int64_t total, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> fn);

}  // namespace wherry
