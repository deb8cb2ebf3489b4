// DenseTensor: TensorMeta (what the elements are) plus a Buffer (where they are).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/buffer.h"
#include "wherry/types.h"

namespace wherry {

struct TensorMeta {
  DataType dtype = DataType::kUndefined;
  Shape shape;  // logical order whatever the layout
  DataLayout layout = DataLayout::kNCHW;
  // kNHWC only: elements from one pixel to the next; 0 means the number of channels. Padded against cache aliasing
  // where the channels' bytes are a multiple of 2048 (the padding's content is unspecified).
  int64_t pixel_stride = 0;

  // Elements in memory (numel, or with pixel padding more). Throws Error(kOutOfRange) on overflow,
  // Error(kInvalidArgument) for a pixel stride below the number of channels.
  int64_t storage_numel() const;
  // Bytes in memory; types of 2 and 4 bits are rounded up to whole bytes, a string counts as a std::string object,
  // kUndefined and kAny as 0. Throws Error(kOutOfRange) on overflow.
  size_t nbytes() const;
  // The pixel stride that applies: pixel_stride, or the channels (axis 1), or 1 below rank 2.
  int64_t effective_pixel_stride() const;
  // The elements lie in plain row-major order: kNCHW, or kNHWC where that makes no difference.
  bool is_plain() const;
  std::string DebugString() const;  // "f32[1,3,48,192]", "f32[1,512,14,14] nhwc"

  friend bool operator==(const TensorMeta& a, const TensorMeta& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.layout == b.layout && a.pixel_stride == b.pixel_stride;
  }
};

// Value semantics over shared memory: copies alias. Several threads may read; writing needs exclusion by the caller.
// A kString tensor's elements are std::string objects in a buffer made by Buffer::OfStrings, host only (Allocate sees
// to it): it never lies in a planned arena, and data<std::string>() works.
class DenseTensor {
 public:
  DenseTensor() = default;
  explicit DenseTensor(TensorMeta meta) : meta_(std::move(meta)) {}
  DenseTensor(TensorMeta meta, std::shared_ptr<Buffer> buffer, size_t offset = 0)
      : meta_(std::move(meta)), buffer_(std::move(buffer)), offset_(offset) {}
  // Allocates at once.
  DenseTensor(Allocator& allocator, TensorMeta meta);
  // As the sources make one: std::make_shared<DenseTensor>(allocator, MatmulInferMeta(...)).
  template <typename Meta>
  DenseTensor(const std::shared_ptr<Allocator>& allocator, const Meta& meta)
      : DenseTensor(*allocator, meta.tensor_meta()) {}

  const TensorMeta& meta() const { return meta_; }
  const Shape& shape() const { return meta_.shape; }
  DataType dtype() const { return meta_.dtype; }
  DataLayout layout() const { return meta_.layout; }
  int64_t numel() const { return meta_.shape.numel(); }
  size_t nbytes() const { return meta_.nbytes(); }
  bool has_data() const { return buffer_ != nullptr; }
  Target target() const { return buffer_ ? buffer_->target() : Target::kUndefined; }
  const std::shared_ptr<Buffer>& buffer() const { return buffer_; }
  size_t offset() const { return offset_; }

  // Replaces the meta, keeping the buffer. The caller must see to it that the buffer still is large enough.
  void set_meta(const TensorMeta& meta) { meta_ = meta; }
  void set_buffer(std::shared_ptr<Buffer> buffer, size_t offset = 0) {
    buffer_ = std::move(buffer);
    offset_ = offset;
  }
  // Makes room for `meta` in `allocator`'s memory space, reusing the present buffer when this is its only owner and it
  // fits.
  void Allocate(Allocator& allocator, const TensorMeta& meta);

  // Host pointer to the first element. Error(kInvalidArgument) when the type differs, there is no data, or it is not on
  // the host.
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(CheckedData(DataTypeOf<T>()));
  }
  template <typename T>
  T* mutable_data() {
    return static_cast<T*>(CheckedData(DataTypeOf<T>()));
  }
  // Host pointer without the type check.
  const void* raw_data() const { return CheckedData(DataType::kAny); }
  void* mutable_raw_data() { return CheckedData(DataType::kAny); }
  // Writes the nbytes() bytes of a host tensor of plain data to `to`, without making deferred ones (Buffer::Deferred).
  void CopyBytesTo(void* to) const;
  // Likewise `bytes` of them from `offset` on; false if deferred ones can only be made all together.
  bool CopyPartTo(void* to, size_t offset, size_t bytes) const {
    return buffer_->CopyPart(to, offset_ + offset, bytes);
  }

 private:
  void* CheckedData(DataType dtype) const;

  TensorMeta meta_;
  std::shared_ptr<Buffer> buffer_;
  size_t offset_ = 0;
};

// Copies host memory to host memory, converting layout and pixel stride; dtype and shape must agree, and `to` must have
// memory that is not `from`'s. 4-bit types cannot change layout: Error(kUnsupported).
void CopyHostTensor(const DenseTensor& from, DenseTensor* to);
// A value of type kSequence, of rank 0 whatever the number of tensors. They are to own their memory.
DenseTensor SequenceOf(std::vector<DenseTensor> tensors);
// The tensors of one; Error(kInvalidArgument) for any other value.
const std::vector<DenseTensor>& TensorsOf(const DenseTensor& sequence);
// A host tensor of its own memory with the elements of `from` (on the host) in plain order.
DenseTensor PlainHostCopy(const DenseTensor& from);
// The padded pixel stride for `channels` of `dtype` where their bytes are a multiple of 2048 (one cache line more: the
// strided accesses of a 3x3 window then fall into different sets; at 512 and 1024 channels of f32 depthwise convolution
// runs 1.4x and 1.9x as fast), or 0 when none is needed.
int64_t PaddedPixelStride(DataType dtype, int64_t channels);

}  // namespace wherry
