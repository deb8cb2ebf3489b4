// DeviceContext: what a kernel needs besides its tensors: threads or a queue, an allocator, scratch memory.
#pragma once

#include <cstddef>
#include <memory>

#include "base/thread_pool.h"
#include "core/buffer.h"
#include "core/dense_tensor.h"
#include "wherry/types.h"

namespace wherry {

// One context is used by one thread at a time; different contexts of one device may be used in parallel.
class DeviceContext {
 public:
  virtual ~DeviceContext() = default;
  DeviceContext(const DeviceContext&) = delete;
  DeviceContext& operator=(const DeviceContext&) = delete;

  virtual Target target() const = 0;
  // The context that kernels are given. Another one only for a context that lends another name to it (CUDADeviceContext
  // of compat.h).
  virtual DeviceContext& implementation() { return *this; }
  virtual Allocator& allocator() = 0;
  // Blocks until all work given to the device has ended; errors of that work are thrown here.
  virtual void Synchronize() {}
  // Copies between the host and this device's memory (any direction that involves this device, or within it). Metas
  // must agree but for layout on the host side. Blocks.
  virtual void Copy(const DenseTensor& from, DenseTensor* to) = 0;

 protected:
  DeviceContext() = default;
};

// The machine's own processor: host memory, a thread pool, and a scratch arena that grows outside of planned runs only.
class CpuContext : public DeviceContext {
 public:
  // A null pool means the calling thread alone.
  explicit CpuContext(std::shared_ptr<ThreadPool> pool = nullptr);

  Target target() const override { return Target::kNative; }
  Allocator& allocator() override { return HostAllocator(); }
  void Copy(const DenseTensor& from, DenseTensor* to) override;

  ThreadPool* pool() const { return pool_.get(); }
  int threads() const { return pool_ ? pool_->threads() : 1; }
  // 64-byte aligned scratch of at least `bytes`, valid until the next call. Allocates only when it has to grow.
  void* Scratch(size_t bytes) const;
  size_t scratch_size() const { return scratch_size_; }
  // Gives the scratch memory back.
  void ReleaseScratch() const;

 private:
  std::shared_ptr<ThreadPool> pool_;
  mutable std::shared_ptr<Buffer> scratch_;
  mutable size_t scratch_size_ = 0;
};

}  // namespace wherry
