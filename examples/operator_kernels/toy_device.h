// A device with a memory space of its own, made outside of Wherry: what a provider is. Its "memory" is host memory in
// fact, but it hands out numbered handles that no host code can read, so that nothing works by accident.
#pragma once

#include <cstddef>
#include <memory>

#include "wherry/extend.h"

namespace toy {

class ToyContext : public wherry::DeviceContext {
 public:
  ToyContext();
  ~ToyContext() override;

  wherry::Target target() const override { return wherry::Target::kCustom; }
  wherry::Allocator& allocator() override;
  void Copy(const wherry::DenseTensor& from, wherry::DenseTensor* to) override;

  // The device's own view of its memory, for its kernels. A tensor that lies elsewhere is an Error.
  template <typename T>
  static T* Map(const wherry::DenseTensor& tensor) {
    return reinterpret_cast<T*>(MapBytes(tensor));
  }

  // Bytes brought in and out so far.
  size_t bytes_in() const { return bytes_in_; }
  size_t bytes_out() const { return bytes_out_; }

 private:
  static std::byte* MapBytes(const wherry::DenseTensor& tensor);

  std::unique_ptr<wherry::Allocator> allocator_;
  size_t bytes_in_ = 0;
  size_t bytes_out_ = 0;
};

}  // namespace toy
