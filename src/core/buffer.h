// Memory: a Buffer is a piece of it in one memory space, an Allocator makes Buffers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "wherry/types.h"

namespace wherry {

// Owns (or borrows) `size` bytes. On a device target `data` is that device's handle and must not be dereferenced by
// host code. Immutable but for the bytes it refers to; shared by std::shared_ptr; the deleter runs when the last owner
// lets go.
class Buffer {
 public:
  Buffer(void* data, size_t size, Target target, std::function<void(void*)> deleter = nullptr)
      : data_(data), size_(size), target_(target), deleter_(std::move(deleter)) {}
  ~Buffer() {
    if (deleter_) deleter_(data_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // A host buffer of `count` empty std::string objects, which live as long as the buffer. Error(kResourceExhausted).
  static std::shared_ptr<Buffer> OfStrings(size_t count);

  void* data() const { return data_; }
  size_t size() const { return size_; }
  Target target() const { return target_; }
  // The bytes are std::string objects. A buffer holds either those or plain data, for life.
  bool holds_strings() const { return holds_strings_; }

 private:
  void* data_;
  size_t size_;
  Target target_;
  bool holds_strings_ = false;
  std::function<void(void*)> deleter_;
};

// Thread-safe. Allocate(0) gives a valid empty buffer; failure is Error(kResourceExhausted) with the size.
class Allocator {
 public:
  virtual ~Allocator() = default;
  // Where its buffers lie.
  virtual Target target() const = 0;
  virtual std::shared_ptr<Buffer> Allocate(size_t bytes) = 0;
};

// 64-byte aligned host memory, uninitialised. data() is not null even when the size is 0.
Allocator& HostAllocator();

}  // namespace wherry
