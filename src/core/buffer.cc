#include "core/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/never_destroyed.h"

namespace wherry {
namespace {

constexpr std::align_val_t kAlignment{AlignedBuffer::kAlignment};

void* AllocateAligned(size_t bytes) {
  // operator new rounds the size up, which must not wrap.
  const size_t limit = static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max()) - AlignedBuffer::kAlignment;
  void* data = bytes <= limit ? ::operator new(std::max<size_t>(bytes, 1), kAlignment, std::nothrow) : nullptr;
  WHERRY_ENFORCE(data != nullptr, kResourceExhausted, "cannot allocate ", bytes, " bytes");
  return data;
}

void FreeAligned(void* data) { ::operator delete(data, kAlignment); }

// Large pages for what fills some: packing the 158 MB of resnet50's weights took 40000 page faults, a third of the time
// to load it. Only the part that is whole pages, so that no memory is taken that was not asked for.
void AdviseLargePages(void* data, size_t bytes) {
  constexpr uintptr_t kLargePage = uintptr_t{2} << 20U;
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (address + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t end = (address + bytes) / kLargePage * kLargePage;
  // Only advice: a failure costs time, nothing else.
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

// Never much of the part in memory twice: an embedding's 47 MB were the peak of loading its network.
void CopyPieces(const FileBytes& file, std::span<const std::byte> part, std::byte* to) {
  constexpr size_t kPiece = size_t{4} << 20U;
  while (!part.empty()) {
    const std::span<const std::byte> piece = part.first(std::min(part.size(), kPiece));
    std::memcpy(to, piece.data(), piece.size());
    file.Discard(piece);
    part = part.subspan(piece.size());
    to += piece.size();
  }
}

class HostAllocatorImpl : public Allocator {
 public:
  Target target() const override { return Target::kHost; }
  std::shared_ptr<Buffer> Allocate(size_t bytes) override {
    std::unique_ptr<void, void (*)(void*)> data(AllocateAligned(bytes), &FreeAligned);
    AdviseLargePages(data.get(), bytes);
    auto buffer = std::make_shared<Buffer>(data.get(), bytes, Target::kHost, &FreeAligned);
    data.release();  // NOLINT(bugprone-unused-return-value): the buffer owns it now
    return buffer;
  }
};

}  // namespace

struct Buffer::Preparation {
  std::function<void(void* to)> write;  // of a deferred buffer
  WritePart write_part;                 // of one that can
  std::function<void()> check;          // of a file's
  std::mutex mutex;
  std::shared_ptr<Buffer> made;       // what `write` has written
  std::atomic<void*> data = nullptr;  // once it is prepared
};

std::shared_ptr<Buffer> Buffer::OfFile(const FileBytes& file, std::span<const std::byte> part, size_t alignment,
                                       std::function<void()> check) {
  if (reinterpret_cast<uintptr_t>(part.data()) % alignment != 0) {
    WritePart write_part;
    if (check == nullptr) {
      write_part = [file, part](void* to, size_t offset, size_t bytes) {
        CopyPieces(file, part.subspan(offset, bytes), static_cast<std::byte*>(to));
        return true;
      };
    }
    auto write = [file, part, check = std::move(check)](void* to) {
      if (check != nullptr) check();
      CopyPieces(file, part, static_cast<std::byte*>(to));
    };
    return Deferred(part.size(), std::move(write), std::move(write_part));
  }
  auto buffer = std::make_shared<Buffer>(
      const_cast<std::byte*>(part.data()), part.size(), Target::kHost, [owner = file.owner](void*) {},
      [file, part] { file.Discard(part); });
  if (check != nullptr) {
    buffer->preparation_ = std::make_shared<Preparation>();
    buffer->preparation_->check = std::move(check);
  }
  return buffer;
}

std::shared_ptr<Buffer> Buffer::Deferred(size_t size, std::function<void(void* to)> write, WritePart write_part) {
  auto buffer = std::make_shared<Buffer>(nullptr, size, Target::kHost);
  buffer->preparation_ = std::make_shared<Preparation>();
  buffer->preparation_->write = std::move(write);
  buffer->preparation_->write_part = std::move(write_part);
  return buffer;
}

bool Buffer::is_deferred() const {
  return preparation_ != nullptr && preparation_->write != nullptr &&
         preparation_->data.load(std::memory_order_acquire) == nullptr;
}

void* Buffer::PreparedData() const {
  Preparation& preparation = *preparation_;
  if (void* data = preparation.data.load(std::memory_order_acquire)) return data;
  const std::lock_guard<std::mutex> lock(preparation.mutex);
  if (void* data = preparation.data.load(std::memory_order_relaxed)) return data;
  void* data = data_;
  if (preparation.write != nullptr) {
    std::shared_ptr<Buffer> made = HostAllocator().Allocate(size_);
    preparation.write(made->data());
    data = made->data();
    preparation.made = std::move(made);
  } else {
    preparation.check();
  }
  preparation.data.store(data, std::memory_order_release);
  return data;
}

void Buffer::CopyTo(void* to) const {
  if (is_deferred()) {
    preparation_->write(to);
  } else if (size_ > 0) {
    std::memcpy(to, data(), size_);
  }
}

bool Buffer::CopyPart(void* to, size_t offset, size_t bytes) const {
  if (is_deferred()) return preparation_->write_part != nullptr && preparation_->write_part(to, offset, bytes);
  if (bytes > 0) std::memcpy(to, static_cast<const std::byte*>(data()) + offset, bytes);
  return true;
}

std::shared_ptr<Buffer> Buffer::OfStrings(size_t count) {
  WHERRY_ENFORCE(count <= std::numeric_limits<ptrdiff_t>::max() / sizeof(std::string), kResourceExhausted,
                 "cannot allocate ", count, " strings");
  const size_t bytes = count * sizeof(std::string);
  std::unique_ptr<void, void (*)(void*)> data(AllocateAligned(bytes), &FreeAligned);
  auto buffer = std::make_shared<Buffer>(data.get(), bytes, Target::kHost, [count](void* strings) {
    std::destroy_n(static_cast<std::string*>(strings), count);
    FreeAligned(strings);
  });
  std::uninitialized_default_construct_n(static_cast<std::string*>(data.release()), count);  // cannot throw
  buffer->holds_strings_ = true;
  return buffer;
}

Allocator& HostAllocator() {
  static NeverDestroyed<HostAllocatorImpl> allocator;
  return *allocator;
}

}  // namespace wherry
