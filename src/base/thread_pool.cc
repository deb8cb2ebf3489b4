#include "base/thread_pool.h"

#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cmath>
#include <utility>

#include "base/cancellation.h"
#include "base/check.h"
#include "base/cpu_quota.h"
#include "base/log.h"
#include "base/worker_placement.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace wherry {
namespace {

// States of ThreadPool::workers_state_; a forked child starts over with kNone.
constexpr int kNone = 0;
constexpr int kStarting = 1;
constexpr int kRunning = 2;

// A worker that finds nothing spins this long before it sleeps: operators of a model follow each other within it, and
// waking a sleeper costs the caller 2-9 us.
constexpr auto kWorkerSpin = std::chrono::microseconds(50);
// The caller waits only for chunks that run already, so it gives its core away soon (10-20 us): the worker may need it.
constexpr int kCallerSpins = 500;

// Chunks per job; more become several jobs. A ticket's low half must have room for one failed claim by every worker.
constexpr int64_t kMaxJobChunks = int64_t{1} << 20;

// Each costs the caller a write to memory that another core has touched; beyond this many, threads share them.
constexpr int kMaxRanges = 16;

constexpr uint32_t kCallerSleeps = 0x80000000u;

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a plain 32-bit word");

constexpr uint64_t MakeTicket(uint32_t end, uint32_t next) { return uint64_t{end} << 32 | next; }
constexpr uint32_t EndOf(uint64_t ticket) { return static_cast<uint32_t>(ticket >> 32); }
constexpr uint32_t NextOf(uint64_t ticket) { return static_cast<uint32_t>(ticket); }
constexpr bool HasWork(uint64_t ticket) { return NextOf(ticket) < EndOf(ticket); }

void CpuRelax() noexcept {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns when woken, at once if *word is no longer `expected`, after `timeout` (if not nullptr), and sometimes for no
// reason.
void FutexWait(std::atomic<uint32_t>* word, uint32_t expected, const timespec* timeout = nullptr) noexcept {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout, nullptr, 0);
}

void FutexWake(std::atomic<uint32_t>* word, int count) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace

ThreadPool::ThreadPool(int threads, std::function<void()> before_claim)
    : threads_(threads),
      before_claim_(std::move(before_claim)),
      ranges_(static_cast<size_t>(std::clamp(threads, 1, kMaxRanges))) {
  WHERRY_ENFORCE(threads >= 1 && threads <= kMaxThreads, kInvalidArgument, "thread pool: ", threads,
                 " threads asked for, not within 1 to ", kMaxThreads);
  workers_.reserve(static_cast<size_t>(threads) - 1);
}

ThreadPool::~ThreadPool() {
  // In a forked child the handles are the parent's threads, which cannot be joined here.
  if (workers_.empty() || workers_pid_ != getpid()) return;
  stop_.store(1);
  FutexWake(&stop_, INT_MAX);
  wake_.fetch_add(1);
  FutexWake(&wake_, INT_MAX);
  for (pthread_t worker : workers_) pthread_join(worker, nullptr);
}

void ThreadPool::Run(int64_t chunks, FunctionRef<void(int64_t)> fn) {
  const std::atomic<bool>* const cancelled = ScopedCancellation::Flag();
  const auto unless_cancelled = [cancelled, fn](int64_t chunk) {
    ThrowIfCancelled(cancelled);
    fn(chunk);
  };
  const FunctionRef<void(int64_t)> run = cancelled == nullptr ? fn : FunctionRef<void(int64_t)>(unless_cancelled);
  if (chunks <= 1 || threads_ == 1 || !HaveWorkers() || busy_.exchange(true, std::memory_order_acquire)) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) run(chunk);
    return;
  }
  failed_.store(false, std::memory_order_relaxed);
  for (int64_t first = 0; first < chunks && !failed_.load(std::memory_order_relaxed); first += kMaxJobChunks) {
    RunJob(first, static_cast<uint32_t>(std::min(chunks - first, kMaxJobChunks)), run);
  }
  std::exception_ptr error = std::exchange(error_, nullptr);
  busy_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(std::move(error));
}

void ThreadPool::RunJob(int64_t first_chunk, uint32_t chunks, FunctionRef<void(int64_t)> fn) {
  fn_ = &fn;
  first_chunk_ = first_chunk;
  remaining_.store(chunks, std::memory_order_relaxed);
  if (!spin_.load(std::memory_order_relaxed)) spin_.store(true, std::memory_order_relaxed);
  caller_cpu_.store(sched_getcpu(), std::memory_order_relaxed);
  const auto ranges = std::min(static_cast<uint32_t>(ranges_.size()), chunks);
  // The caller's own last: a worker that still looks for chunks of the job before comes upon the others.
  for (uint32_t r = ranges; r-- > 0;) {
    const auto begin = static_cast<uint32_t>(uint64_t{chunks} * r / ranges);
    const auto end = static_cast<uint32_t>(uint64_t{chunks} * (r + 1) / ranges);
    // The caller's first claim is made here.
    ranges_[r].ticket.store(MakeTicket(end, r == 0 ? 1 : begin), std::memory_order_release);
  }
  // Sequentially consistent, as the load of sleepers_: a worker on its way to sleep does the opposite (adds itself,
  // then reads the job's number), so one of the two sees the other.
  const uint64_t job = job_.fetch_add(1) + 1;
  if (uint32_t sleepers = std::min(sleepers_.load(), chunks - 1); sleepers > 0) {
    sleepers_.fetch_sub(sleepers, std::memory_order_relaxed);
    wake_.fetch_add(1, std::memory_order_release);
    FutexWake(&wake_, static_cast<int>(sleepers));
  }

  RunChunk(0);
  uint32_t mine = 1;
  RunChunksFrom(0, job, [&mine] { ++mine; });
  if (remaining_.fetch_sub(mine, std::memory_order_acq_rel) != mine) WaitForBegunChunks();
}

// Claims and runs chunks, those of the range `home` first and then what the others have left; calls ended() after each.
// Returns early when there is another job than `job`, which is to begin at home.
template <class Ended>
void ThreadPool::RunChunksFrom(size_t home, uint64_t job, Ended ended) {
  for (size_t i = 0; i < ranges_.size(); ++i) {
    if (i > 0 && job_.load(std::memory_order_acquire) != job) return;
    std::atomic<uint64_t>& range = ranges_[(home + i) % ranges_.size()].ticket;
    while (HasWork(range.load(std::memory_order_acquire))) {
      if (home != 0 && before_claim_) before_claim_();
      // All that follows rests on what this claim returns: by now the range may be another job's.
      const uint64_t ticket = range.fetch_add(1, std::memory_order_acq_rel);
      if (!HasWork(ticket)) break;
      RunChunk(NextOf(ticket));
      ended();
    }
  }
}

void ThreadPool::WaitForBegunChunks() noexcept {
  for (int i = 0; i < kCallerSpins; ++i) {
    if (remaining_.load(std::memory_order_acquire) == 0) return;
    CpuRelax();
  }
  // Blocking beats yielding: beside a busy neighbour 1.8 ms at most against 8.4 ms.
  while (uint32_t left = remaining_.fetch_or(kCallerSleeps, std::memory_order_acq_rel) & ~kCallerSleeps) {
    FutexWait(&remaining_, left | kCallerSleeps);
  }
}

void ThreadPool::RunChunk(uint32_t chunk) noexcept {
  try {
    (*fn_)(first_chunk_ + chunk);
  } catch (...) {
    if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
    // Take all unclaimed chunks and count them as ended. This thread's own chunk is not counted yet, so the job lasts.
    for (Range& range : ranges_) {
      uint64_t ticket = range.ticket.load(std::memory_order_relaxed);
      while (HasWork(ticket)) {
        const uint32_t end = EndOf(ticket);
        if (range.ticket.compare_exchange_weak(ticket, MakeTicket(end, end), std::memory_order_relaxed)) {
          remaining_.fetch_sub(end - NextOf(ticket), std::memory_order_relaxed);
          break;
        }
      }
    }
  }
}

bool ThreadPool::HaveWorkers() {
  const int state = workers_state_->load(std::memory_order_acquire);
  if (state == kRunning) return true;
  int expected = kNone;
  // While another thread starts them, the caller does without.
  if (state != kNone || !workers_state_->compare_exchange_strong(expected, kStarting)) return false;
  StartWorkers();
  workers_state_->store(kRunning, std::memory_order_release);
  return true;
}

void ThreadPool::StartWorkers() {
  // In a forked child these hold what another thread of the parent was doing.
  workers_.clear();
  workers_pid_ = getpid();
  for (Range& range : ranges_) range.ticket.store(0);
  started_workers_.store(0);
  sleepers_.store(0);
  busy_.store(false);

  // Signals are for the program's own threads.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  for (int i = 1; i < threads_; ++i) {
    pthread_t worker;
    const int status = pthread_create(
        &worker, nullptr,
        [](void* pool) -> void* {
          static_cast<ThreadPool*>(pool)->WorkerLoop();
          return nullptr;
        },
        this);
    if (status != 0) {
      WHERRY_LOG(kWarning) << "thread pool: the system refused thread " << i + 1 << " of " << threads_ << " (errno "
                           << status << "); it works with " << i;
      break;
    }
    pthread_setname_np(worker, "wherry-worker");
    workers_.push_back(worker);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void ThreadPool::WorkerLoop() {
  const size_t home = 1 + started_workers_.fetch_add(1) % std::max<size_t>(ranges_.size() - 1, 1);
  WorkerPlacement placement;
  placement.BeginRunning();
  uint64_t seen_job = 0;
  while (WaitForWork(&placement, seen_job)) {
    // Before the claims: a job that begins during them is looked at again.
    seen_job = job_.load(std::memory_order_acquire);
    RunChunksFrom(home, seen_job, [this] {
      if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == (kCallerSleeps | 1)) FutexWake(&remaining_, 1);
    });
  }
}

// Returns when there has been a job since the one seen; false when the pool is being destroyed.
bool ThreadPool::WaitForWork(WorkerPlacement* placement, uint64_t seen_job) {
  auto now = std::chrono::steady_clock::now();
  while (stop_.load(std::memory_order_relaxed) == 0) {
    bool contested = placement->Contested(now);
    const auto deadline = now + kWorkerSpin;
    while (!contested && spin_.load(std::memory_order_relaxed) && now < deadline) {
      for (int i = 0; i < 16; ++i) {
        if (job_.load(std::memory_order_acquire) != seen_job) return true;
        CpuRelax();
      }
      if (stop_.load(std::memory_order_relaxed) != 0) return false;
      now = std::chrono::steady_clock::now();
      contested = placement->Contested(now);
    }
    if (contested) {
      const timespec back_off = {0, std::chrono::nanoseconds(placement->BackOff()).count()};
      FutexWait(&stop_, 0, &back_off);
    }
    SleepUntilWoken(placement, seen_job);
    placement->BeginRunning();
    if (job_.load(std::memory_order_acquire) != seen_job) return true;
    now = std::chrono::steady_clock::now();
  }
  return false;
}

void ThreadPool::SleepUntilWoken(WorkerPlacement* placement, uint64_t seen_job) {
  placement->Leave(caller_cpu_.load(std::memory_order_relaxed));
  const uint32_t wake = wake_.load(std::memory_order_acquire);
  if (stop_.load() == 0) {
    // Never taken back, only taken off by who wakes: counting one too many costs one needless system call once.
    sleepers_.fetch_add(1);
    if (job_.load() == seen_job) FutexWait(&wake_, wake);
  }
  placement->Restore();
  // The caller has moved here meanwhile: leave it alone.
  const int caller_cpu = caller_cpu_.load(std::memory_order_relaxed);
  if (sched_getcpu() == caller_cpu) {
    placement->Leave(caller_cpu);
    placement->Restore();
  }
}

void ThreadPool::Sleep() noexcept { spin_.store(false, std::memory_order_relaxed); }

int ThreadPool::DefaultThreads() {
  // Rounded down: threads above the quota would stop the whole process for the rest of every period (100 ms).
  const double quota = std::floor(CgroupCpuQuota());
  const int affinity = std::min(AffinityCpuCount(), kMaxThreads);
  return quota < affinity ? std::max(1, static_cast<int>(quota)) : affinity;
}

namespace {

// In one call, or where somebody may want it to end early, in pieces: many enough for that, few enough to cost nothing.
void RunOnCaller(int64_t total, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> fn) {
  constexpr int64_t kMinGrains = 64;
  constexpr int64_t kMostPieces = 64;
  const std::atomic<bool>* const cancelled = ScopedCancellation::Flag();
  const int64_t grains = total / grain;
  const int64_t pieces = cancelled == nullptr ? 1 : std::clamp<int64_t>(grains / kMinGrains, 1, kMostPieces);
  const int64_t length = grains / pieces * grain;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    ThrowIfCancelled(cancelled);
    fn(piece * length, piece + 1 == pieces ? total : (piece + 1) * length);
  }
}

}  // namespace

void ParallelFor(ThreadPool* pool, int64_t total, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> fn) {
  if (total <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  // Enough chunks that the slowest thread is late by a quarter of its share at most, few enough that claiming is free.
  constexpr int64_t kChunksPerThread = 4;
  const int64_t grains = total / grain;
  const int64_t chunks =
      pool == nullptr || pool->threads() == 1 ? 1 : std::min(grains, pool->threads() * kChunksPerThread);
  if (chunks <= 1) {
    RunOnCaller(total, grain, fn);
    return;
  }
  const int64_t share = grains / chunks;
  const int64_t longer = grains % chunks;  // so many chunks are one grain longer
  pool->Run(chunks, [&](int64_t chunk) {
    const int64_t begin = (chunk * share + std::min(chunk, longer)) * grain;
    const int64_t end = chunk + 1 == chunks ? total : begin + (share + (chunk < longer ? 1 : 0)) * grain;
    fn(begin, end);
  });
}

}  // namespace wherry
