#include "toy_device.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "wherry/error.h"

namespace toy {

namespace {

using wherry::Buffer;
using wherry::DenseTensor;
using wherry::Error;
using wherry::ErrorCode;
using wherry::Target;

// The device: memory by handle, shared by all contexts.
class Device {
 public:
  static Device& Instance() {
    static Device* const device = new Device;  // buffers may outlive main
    return *device;
  }

  void* Allocate(size_t bytes) {
    const std::scoped_lock lock(mutex_);
    const uintptr_t handle = ++last_handle_;
    memory_[handle].resize(bytes);
    return reinterpret_cast<void*>(handle);
  }
  void Free(void* handle) {
    const std::scoped_lock lock(mutex_);
    memory_.erase(reinterpret_cast<uintptr_t>(handle));
  }
  std::byte* Map(void* handle) {
    const std::scoped_lock lock(mutex_);
    const auto found = memory_.find(reinterpret_cast<uintptr_t>(handle));
    if (found == memory_.end()) throw Error(ErrorCode::kInvalidArgument, "toy device: not one of its handles");
    return found->second.data();
  }

 private:
  std::mutex mutex_;
  uintptr_t last_handle_ = 0;
  std::map<uintptr_t, std::vector<std::byte>> memory_;
};

class ToyAllocator : public wherry::Allocator {
 public:
  Target target() const override { return Target::kCustom; }
  std::shared_ptr<Buffer> Allocate(size_t bytes) override {
    return std::make_shared<Buffer>(Device::Instance().Allocate(bytes), bytes, Target::kCustom,
                                    [](void* handle) { Device::Instance().Free(handle); });
  }
};

std::unique_ptr<wherry::DeviceContext> CreateToyContext() { return std::make_unique<ToyContext>(); }

}  // namespace

ToyContext::ToyContext() : allocator_(std::make_unique<ToyAllocator>()) {}
ToyContext::~ToyContext() = default;

wherry::Allocator& ToyContext::allocator() { return *allocator_; }

void ToyContext::Copy(const DenseTensor& from, DenseTensor* to) {
  if (from.meta() != to->meta()) throw Error(ErrorCode::kInvalidArgument, "toy device: a copy does not convert");
  const bool in = wherry::IsHostMemory(from.target());
  const bool out = wherry::IsHostMemory(to->target());
  const void* source = in ? from.raw_data() : MapBytes(from);
  void* target = out ? to->mutable_raw_data() : MapBytes(*to);
  std::memcpy(target, source, from.nbytes());
  if (in) bytes_in_ += from.nbytes();
  if (out) bytes_out_ += from.nbytes();
}

std::byte* ToyContext::MapBytes(const DenseTensor& tensor) {
  if (tensor.target() != Target::kCustom) {
    throw Error(ErrorCode::kInvalidArgument,
                std::string("toy device: a tensor on ") + wherry::ToString(tensor.target()) + " is not in its memory");
  }
  return Device::Instance().Map(tensor.buffer()->data()) + tensor.offset();
}

}  // namespace toy

REGISTER_PROVIDER(toy, "a device with its own memory, for the example", kCustom, nullptr, &toy::CreateToyContext);
