// Items shared out to workers that own scratch.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/thread_pool.h"

namespace wherry::cpu {

// Calls fn(worker, next) on each of the workers, where next() gives every item in [0, items) to one of them and then
// -1. A worker owns the scratch of its number; who is fast takes more items.
template <typename Fn>
void ShareOut(ThreadPool* pool, int64_t workers, int64_t items, const Fn& fn) {
  std::atomic<int64_t> counter{0};
  const auto next = [&] {
    const int64_t item = counter.fetch_add(1, std::memory_order_relaxed);
    return item < items ? item : -1;
  };
  if (pool == nullptr || workers <= 1) return fn(0, next);
  pool->Run(workers, [&](int64_t worker) { fn(worker, next); });
}

}  // namespace wherry::cpu
