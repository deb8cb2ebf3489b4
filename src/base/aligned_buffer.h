// Memory aligned for SIMD and cache lines.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace wherry {

// Owns `size` uninitialised bytes at an address that is a multiple of kAlignment. Move-only; a moved-from buffer is
// empty.
class AlignedBuffer {
 public:
  static constexpr size_t kAlignment = 64;  // a cache line, and the widest vector

  AlignedBuffer() noexcept = default;
  // Throws kResourceExhausted when there is not so much memory. 0 bytes allocate nothing.
  explicit AlignedBuffer(size_t size) : size_(size) {
    if (size == 0) return;
    data_.reset(static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlignment}, std::nothrow)));
    WHERRY_ENFORCE(data_ != nullptr, kResourceExhausted, "cannot allocate ", size, " bytes");
  }
  AlignedBuffer(AlignedBuffer&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  // nullptr when empty.
  std::byte* data() noexcept { return data_.get(); }
  const std::byte* data() const noexcept { return data_.get(); }
  size_t size() const noexcept { return size_; }  // bytes

  // The bytes as an array of T.
  template <typename T>
  T* As() noexcept {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    return reinterpret_cast<T*>(data_.get());
  }
  template <typename T>
  const T* As() const noexcept {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    return reinterpret_cast<const T*>(data_.get());
  }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept { ::operator delete (data, std::align_val_t{kAlignment}); }
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

}  // namespace wherry
