// The device contexts of one session: the CPU context with its thread pool, and one per other target on first use.
#pragma once

#include <map>
#include <memory>

#include "core/device_context.h"
#include "kernel/provider.h"

namespace wherry {

class DeviceSet {
 public:
  explicit DeviceSet(std::shared_ptr<ThreadPool> pool) : cpu_(std::move(pool)) {}

  CpuContext& cpu() { return cpu_; }
  const CpuContext& cpu() const { return cpu_; }
  // Error(kUnavailable) when the target has no device here.
  DeviceContext& Get(Target target) {
    if (IsHostMemory(target) || target == Target::kAny || target == Target::kUndefined) return cpu_;
    std::unique_ptr<DeviceContext>& context = others_[target];
    if (context == nullptr) context = CreateDeviceContext(target);
    return *context;
  }

 private:
  CpuContext cpu_;
  std::map<Target, std::unique_ptr<DeviceContext>> others_;
};

}  // namespace wherry
