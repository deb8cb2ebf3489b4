// Memory: a Buffer is a piece of it in one memory space, an Allocator makes Buffers.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/file_bytes.h"
#include "wherry/types.h"

namespace wherry {

class DenseTensor;

// Owns (or borrows) `size` bytes. On a device target `data` is that device's handle and must not be dereferenced by
// host code. Immutable but for the bytes it refers to; shared by std::shared_ptr; the deleter runs when the last owner
// lets go.
class Buffer {
 public:
  // `discard`: see Discard.
  Buffer(void* data, size_t size, Target target, std::function<void(void*)> deleter = nullptr,
         std::function<void()> discard = nullptr)
      : data_(data), size_(size), target_(target), deleter_(std::move(deleter)), discard_(std::move(discard)) {}
  ~Buffer() {
    if (deleter_) deleter_(data_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  // `part` of a file's bytes, which it keeps alive, and which are Deferred where they do not lie at a multiple of
  // `alignment`. Never to be written to. `check` throws if they are damaged; it is called before data() first gives
  // them.
  static std::shared_ptr<Buffer> OfFile(const FileBytes& file, std::span<const std::byte> part, size_t alignment,
                                        std::function<void()> check = nullptr);

  // A host buffer of `count` empty std::string objects, which live as long as the buffer. Error(kResourceExhausted).
  static std::shared_ptr<Buffer> OfStrings(size_t count);

  // Host memory of `size` bytes that `write` makes when data() is first asked for, or CopyTo is: bytes of a file that
  // lie unaligned, a weight that is another one scaled. Whoever only packs it never has it whole. `write` gives the
  // same bytes each time, may be called by several threads at once, and lives as long. Never to be written to.
  // `write_part`, if there is one, likewise makes `bytes` of them from `offset` on without the others, or returns false
  // and makes none. Parts are of whole elements of what the bytes are.
  using WritePart = std::function<bool(void* to, size_t offset, size_t bytes)>;
  static std::shared_ptr<Buffer> Deferred(size_t size, std::function<void(void* to)> write,
                                          WritePart write_part = nullptr);

  // The tensors of a sequence, which live as long as the buffer and are not to be changed. It has no bytes.
  static std::shared_ptr<Buffer> OfTensors(std::vector<DenseTensor> tensors);

  // Makes deferred bytes, which can be Error(kResourceExhausted), and checks those of a file, which can be what its
  // check throws.
  void* data() const { return preparation_ == nullptr ? data_ : PreparedData(); }
  size_t size() const { return size_; }
  Target target() const { return target_; }
  // The bytes are std::string objects. A buffer holds either those or plain data, for life.
  bool holds_strings() const { return holds_strings_; }
  // There are no bytes in memory before data() is asked for.
  bool is_deferred() const;
  // Writes them to `to`, size() of them, for a deferred buffer without making its own.
  void CopyTo(void* to) const;
  // Likewise `bytes` of them from `offset` on; false if a deferred buffer can only make all of them.
  bool CopyPart(void* to, size_t offset, size_t bytes) const;
  // Advice that the bytes are not needed soon. What lies in a mapped file gives its memory back and is read again when
  // it is next touched; anything else ignores it.
  void Discard() const {
    if (discard_) discard_();
  }
  // Null but for one made by OfTensors.
  const std::vector<DenseTensor>* tensors() const { return tensors_.get(); }

 private:
  struct Preparation;

  void* PreparedData() const;

  void* data_;
  size_t size_;
  Target target_;
  bool holds_strings_ = false;
  std::shared_ptr<const std::vector<DenseTensor>> tensors_;
  std::function<void(void*)> deleter_;
  std::function<void()> discard_;
  std::shared_ptr<Preparation> preparation_;  // what is to be done before data_ can be given
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
