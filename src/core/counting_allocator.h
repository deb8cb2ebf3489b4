// CountingAllocator: host memory that is counted, up to a limit.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "core/buffer.h"

namespace wherry {

// Thread-safe. Its buffers may outlive it, and count as long as they live.
class CountingAllocator : public Allocator {
 public:
  // `limit`: the most that its buffers may hold together; 0: none.
  explicit CountingAllocator(size_t limit = 0) : limit_(limit), held_(std::make_shared<std::atomic<size_t>>(0)) {}

  Target target() const override { return HostAllocator().target(); }
  // As HostAllocator; also Error(kResourceExhausted) when it would be more than the limit.
  std::shared_ptr<Buffer> Allocate(size_t bytes) override;
  // The same memory as a buffer that counts. Throws as Allocate would.
  std::shared_ptr<Buffer> Adopt(std::shared_ptr<Buffer> memory);

  size_t held() const { return held_->load(std::memory_order_relaxed); }
  size_t limit() const { return limit_; }

 private:
  const size_t limit_;
  const std::shared_ptr<std::atomic<size_t>> held_;
};

}  // namespace wherry
