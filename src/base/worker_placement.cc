#include "base/worker_placement.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <utility>

namespace wherry {
namespace {

// Processor time that this thread has had.
std::chrono::nanoseconds ThreadTime() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// How often this thread had to make room for another one.
int64_t Preempted() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

void WorkerPlacement::Leave(int cpu) noexcept {
  // A machine with more processors than cpu_set_t has bits refuses, and everything stays as it is.
  if (left_ || cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t wanted = before_;
  CPU_CLR(cpu, &wanted);
  if (!CPU_ISSET(cpu, &before_) || CPU_COUNT(&wanted) == 0) return;
  left_ = sched_setaffinity(0, sizeof wanted, &wanted) == 0 && sched_getaffinity(0, sizeof reduced_, &reduced_) == 0;
}

void WorkerPlacement::Restore() noexcept {
  if (!std::exchange(left_, false)) return;
  cpu_set_t now;
  if (sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &reduced_)) {
    sched_setaffinity(0, sizeof before_, &before_);
  }
}

void WorkerPlacement::BeginRunning() noexcept {
  window_start_ = Clock::now();
  ran_at_start_ = ThreadTime();
  preempted_at_start_ = Preempted();
}

bool WorkerPlacement::Contested(Clock::time_point now) noexcept {
  const auto wall = now - window_start_;
  if (wall < kWindow) return false;
  const std::chrono::nanoseconds ran = ThreadTime();
  const auto lost = wall - (ran - ran_at_start_);
  window_start_ = now;
  ran_at_start_ = ran;
  const int64_t preemptions = Preempted();
  const bool preempted = preemptions != std::exchange(preempted_at_start_, preemptions);
  // The system's own short work is no contest, a neighbour's time slice (3-4 ms) is.
  if (preempted && lost > std::max<Clock::duration>(std::chrono::milliseconds(1), wall / 8)) return true;
  back_off_ = std::max(kLeastBackOff, back_off_ / 2);
  return false;
}

std::chrono::milliseconds WorkerPlacement::BackOff() noexcept {
  return std::exchange(back_off_, std::min(kMostBackOff, back_off_ * 2));
}

}  // namespace wherry
