// The device contexts of one session: the CPU context with its thread pool and memory, and one per other target on
// first use.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "core/counting_allocator.h"
#include "core/device_context.h"
#include "kernel/provider.h"

namespace wherry {

// The machine's own processor, with memory that is counted.
class CountedCpuContext : public CpuContext {
 public:
  CountedCpuContext(std::shared_ptr<ThreadPool> pool, CountingAllocator* memory)
      : CpuContext(std::move(pool)), memory_(memory) {}
  Allocator& allocator() override { return *memory_; }

 private:
  CountingAllocator* memory_;
};

class DeviceSet {
 public:
  // `memory_limit`: of all memory together; 0: none.
  explicit DeviceSet(std::shared_ptr<ThreadPool> pool, size_t memory_limit = 0)
      : memory_(memory_limit), cpu_(std::move(pool), &memory_) {}
  DeviceSet(const DeviceSet&) = delete;
  DeviceSet& operator=(const DeviceSet&) = delete;

  // Host memory of this session, all that it allocates; what devices hold is counted with it.
  CountingAllocator& memory() { return memory_; }
  const CountingAllocator& memory() const { return memory_; }
  // That memory, or a device's.
  CountingAllocator& Memory(Target target) { return IsHostMemory(target) ? memory_ : Find(target).memory; }

  CpuContext& cpu() { return cpu_; }
  const CpuContext& cpu() const { return cpu_; }
  // Error(kUnavailable) when the target has no device here.
  DeviceContext& Get(Target target) {
    if (IsHostMemory(target) || target == Target::kAny || target == Target::kUndefined) return cpu_;
    return *Find(target).context;
  }

 private:
  struct Device {
    Device(std::unique_ptr<DeviceContext> made, const CountingAllocator& others)
        : context(std::move(made)), memory(context->allocator(), others) {}
    std::unique_ptr<DeviceContext> context;
    CountingAllocator memory;
  };

  Device& Find(Target target) {
    const auto found = others_.find(target);
    if (found != others_.end()) return found->second;
    return others_.try_emplace(target, CreateDeviceContext(target), memory_).first->second;
  }

  CountingAllocator memory_;
  CountedCpuContext cpu_;
  std::map<Target, Device> others_;
};

}  // namespace wherry
