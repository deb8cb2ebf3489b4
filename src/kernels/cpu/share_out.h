// Items shared out to workers that own scratch.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cancellation.h"
#include "base/thread_pool.h"

namespace wherry::cpu {

// Calls fn(worker, next) on each of the workers, where next() gives every item in [0, items) to one of them and then
// -1. A worker owns the scratch of its number; who is fast takes more items. Between items a run can be cancelled.
template <typename Fn>
void ShareOut(ThreadPool* pool, int64_t workers, int64_t items, const Fn& fn) {
  std::atomic<int64_t> counter{0};
  const std::atomic<bool>* const cancelled = ScopedCancellation::Flag();
  const auto next = [&] {
    ThrowIfCancelled(cancelled);
    const int64_t item = counter.fetch_add(1, std::memory_order_relaxed);
    return item < items ? item : -1;
  };
  if (pool == nullptr || workers <= 1) return fn(0, next);
  pool->Run(workers, [&](int64_t worker) { fn(worker, next); });
}

}  // namespace wherry::cpu
