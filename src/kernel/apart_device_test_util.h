// A device with memory of its own, for tests: Target::kCustom, buffers that the host cannot read, a context that counts
// its copies. Registered as the provider `apart`, out of the tree.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/device_context.h"

namespace wherry {

class ApartContext : public DeviceContext {
 public:
  ApartContext();
  ~ApartContext() override;

  Target target() const override { return Target::kCustom; }
  Allocator& allocator() override { return *allocator_; }
  void Copy(const DenseTensor& from, DenseTensor* to) override;

  int copies() const { return copies_; }

  // The device's view of a tensor; only its kernels may use it.
  template <typename T>
  static T* Data(const DenseTensor& tensor) {
    return reinterpret_cast<T*>(Bytes(tensor));
  }

 private:
  static std::byte* Bytes(const DenseTensor& tensor);

  std::unique_ptr<Allocator> allocator_;
  int copies_ = 0;
};

}  // namespace wherry
