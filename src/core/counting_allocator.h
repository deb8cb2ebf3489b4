// CountingAllocator: memory that is counted, up to a limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "core/buffer.h"

namespace wherry {

// Thread-safe. Its buffers may outlive it, and count as long as they live.
class CountingAllocator : public Allocator {
 public:
  // Host memory. `limit`: the most that its buffers may hold together; 0: none.
  explicit CountingAllocator(size_t limit = 0)
      : memory_(HostAllocator()), limit_(limit), held_(std::make_shared<std::atomic<size_t>>(0)) {}
  // Of another allocator, which has to outlive it, counted together with `others`.
  CountingAllocator(Allocator& memory, const CountingAllocator& others)
      : memory_(memory), limit_(others.limit_), held_(others.held_) {}

  Target target() const override { return memory_.target(); }
  // As the allocator that it counts; also Error(kResourceExhausted) when it would be more than the limit.
  std::shared_ptr<Buffer> Allocate(size_t bytes) override;
  // A buffer of whatever memory, which counts from now on as so many bytes. Throws as Allocate would.
  std::shared_ptr<Buffer> Adopt(std::shared_ptr<Buffer> memory, size_t bytes);

  size_t held() const { return held_->load(std::memory_order_relaxed); }
  size_t limit() const { return limit_; }

 private:
  Allocator& memory_;
  const size_t limit_;
  const std::shared_ptr<std::atomic<size_t>> held_;
};

}  // namespace wherry
