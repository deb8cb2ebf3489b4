#include "core/counting_allocator.h"

#include <utility>

#include "base/check.h"

namespace wherry {

namespace {

// What one buffer counts for. Taken before there is memory, so that threads together cannot pass the limit.
class Taken {
 public:
  Taken(std::shared_ptr<std::atomic<size_t>> held, size_t bytes, size_t limit) : held_(std::move(held)), bytes_(bytes) {
    const size_t before = held_->fetch_add(bytes, std::memory_order_relaxed);
    if (limit == 0 || (bytes <= limit && before <= limit - bytes)) return;
    held_->fetch_sub(bytes, std::memory_order_relaxed);
    Throw(ErrorCode::kResourceExhausted, "cannot allocate ", bytes, " bytes, ", before, " are held and the limit is ",
          limit);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() { held_->fetch_sub(bytes_, std::memory_order_relaxed); }

 private:
  const std::shared_ptr<std::atomic<size_t>> held_;
  const size_t bytes_;
};

// The same buffer, by a pointer that holds both.
std::shared_ptr<Buffer> Counted(std::shared_ptr<Buffer> memory, std::shared_ptr<Taken> taken) {
  Buffer* const buffer = memory.get();
  using Both = std::pair<std::shared_ptr<Buffer>, std::shared_ptr<Taken>>;
  return {std::make_shared<Both>(std::move(memory), std::move(taken)), buffer};
}

}  // namespace

std::shared_ptr<Buffer> CountingAllocator::Allocate(size_t bytes) {
  auto taken = std::make_shared<Taken>(held_, bytes, limit_);
  return Counted(memory_.Allocate(bytes), std::move(taken));
}

std::shared_ptr<Buffer> CountingAllocator::Adopt(std::shared_ptr<Buffer> memory, size_t bytes) {
  auto taken = std::make_shared<Taken>(held_, bytes, limit_);
  return Counted(std::move(memory), std::move(taken));
}

}  // namespace wherry
