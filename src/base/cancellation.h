// Ending long work early, from another thread.
#pragma once

#include <atomic>

#include "base/check.h"

namespace wherry {

// While it lives, ThreadPool::Run and ParallelFor that this thread calls, and ThrowIfCancelled, end with
// Error(kCancelled) once `flag` is true: the first two before their next chunk. The innermost counts.
class ScopedCancellation {
 public:
  explicit ScopedCancellation(const std::atomic<bool>* flag) : outer_(flag_) { flag_ = flag; }
  ~ScopedCancellation() { flag_ = outer_; }
  ScopedCancellation(const ScopedCancellation&) = delete;
  ScopedCancellation& operator=(const ScopedCancellation&) = delete;

  // Of this thread; null: nothing cancels it.
  static const std::atomic<bool>* Flag() { return flag_; }

 private:
  static inline thread_local const std::atomic<bool>* flag_ = nullptr;
  const std::atomic<bool>* const outer_;
};

// `flag` null: never.
inline void ThrowIfCancelled(const std::atomic<bool>* flag) {
  const bool cancelled = flag != nullptr && flag->load(std::memory_order_relaxed);
  WHERRY_ENFORCE(!cancelled, kCancelled, "the run was cancelled");
}
inline void ThrowIfCancelled() { ThrowIfCancelled(ScopedCancellation::Flag()); }

}  // namespace wherry
