// Which processor a worker thread runs on, and whether it is worth running at all.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstdint>

namespace wherry {

// Belongs to one worker of a ThreadPool and is used by that thread only. Why: docs/design/thread_pool.md.
class WorkerPlacement {
 public:
  using Clock = std::chrono::steady_clock;

  // Moves this thread off processor `cpu`, and keeps it off until Restore(); nothing if it may run nowhere else. Call
  // it before sleeping, with the processor of the thread that will do the waking: a virtual machine's kernel takes its
  // idle processors for busy and likes to put who is woken beside who wakes, where the two share one processor.
  void Leave(int cpu) noexcept;
  // Undoes Leave(), unless somebody else has changed the affinity of this thread since.
  void Restore() noexcept;

  // From now on this thread means to run without a break.
  void BeginRunning() noexcept;
  // True if, since BeginRunning or the last answer, other threads of this system kept this one from running more than
  // now and then. (What a host takes from a virtual machine's processor comes at random: standing aside saves nothing.)
  // Then it shares its processor, will be stopped in the middle of a chunk for milliseconds, and its caller with it:
  // better if it stands aside for BackOff(). An answer takes at least kWindow; sooner it is false.
  bool Contested(Clock::time_point now) noexcept;
  // How long; longer each time, shorter again after undisturbed windows.
  std::chrono::milliseconds BackOff() noexcept;

  static constexpr auto kWindow = std::chrono::milliseconds(2);
  static constexpr auto kLeastBackOff = std::chrono::milliseconds(10);
  static constexpr auto kMostBackOff = std::chrono::milliseconds(320);

 private:
  bool left_ = false;
  cpu_set_t before_;   // the affinity to restore
  cpu_set_t reduced_;  // what Leave() made of it

  Clock::time_point window_start_{};
  std::chrono::nanoseconds ran_at_start_{};
  int64_t preempted_at_start_ = 0;
  std::chrono::milliseconds back_off_ = kLeastBackOff;
};

}  // namespace wherry
