#include "core/device_context.h"

#include <utility>

#include "core/grown_size.h"

namespace wherry {

CpuContext::CpuContext(std::shared_ptr<ThreadPool> pool) : pool_(std::move(pool)) {}

void CpuContext::Copy(const DenseTensor& from, DenseTensor* to) { CopyHostTensor(from, to); }

void* CpuContext::Scratch(size_t bytes) const {
  if (scratch_ == nullptr || scratch_size_ < bytes) {
    const size_t grown = GrownSize(scratch_size_, bytes);
    ReleaseScratch();  // first, so that the old and the new memory are not both held
    // Kernels have a const context; its memory is not.
    scratch_ = const_cast<CpuContext*>(this)->allocator().Allocate(grown);
    scratch_size_ = grown;
  }
  return scratch_->data();
}

void CpuContext::ReleaseScratch() const {
  scratch_.reset();
  scratch_size_ = 0;
}

}  // namespace wherry
