#include "core/dense_tensor.h"

#include <cstring>
#include <string>
#include <utility>

#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/checked_math.h"
#include "core/grown_size.h"

namespace wherry {

int64_t TensorMeta::effective_pixel_stride() const {
  if (shape.rank() < 2) return 1;
  return pixel_stride != 0 ? pixel_stride : shape[1];
}

int64_t TensorMeta::storage_numel() const {
  const int64_t count = shape.numel();
  if (layout != DataLayout::kNHWC || pixel_stride == 0 || shape.rank() < 2 || count == 0) return count;
  WHERRY_ENFORCE(pixel_stride >= shape[1], kInvalidArgument, "pixel stride ", pixel_stride, " of tensor ",
                 DebugString(), " is below its number of channels");
  return CheckedMul(count / shape[1], pixel_stride, "size of a tensor");
}

size_t TensorMeta::nbytes() const {
  const int64_t count = storage_numel();
  if (const int bits = SubByteBits(dtype); bits != 0) {
    const int64_t in_byte = 8 / bits;
    return static_cast<size_t>(count / in_byte + (count % in_byte != 0 ? 1 : 0));
  }
  const size_t size = dtype == DataType::kString ? sizeof(std::string) : SizeOf(dtype);
  return static_cast<size_t>(CheckedMul(count, static_cast<int64_t>(size), "size of a tensor in bytes"));
}

bool TensorMeta::is_plain() const {
  if (layout != DataLayout::kNHWC || shape.rank() < 2) return true;
  if (effective_pixel_stride() != shape[1]) return false;
  return shape[1] == 1 || shape.numel(2, shape.rank()) <= 1;
}

std::string TensorMeta::DebugString() const {
  std::string text = ToString(dtype) + shape.DebugString();
  if (layout != DataLayout::kNCHW) text += StrCat(" ", ToString(layout));
  if (pixel_stride != 0) text += StrCat(" pixel_stride=", pixel_stride);
  return text;
}

DenseTensor::DenseTensor(Allocator& allocator, TensorMeta meta) { Allocate(allocator, meta); }

void DenseTensor::Allocate(Allocator& allocator, const TensorMeta& meta) {
  const size_t bytes = meta.nbytes();
  const bool strings = meta.dtype == DataType::kString;
  const Target target = allocator.target();
  WHERRY_ENFORCE(!strings || IsHostMemory(target), kUnsupported, "a tensor of strings on ", ToString(target));
  const bool fits = buffer_.use_count() == 1 && offset_ == 0 && buffer_->size() >= bytes &&
                    buffer_->holds_strings() == strings &&
                    (buffer_->target() == target || (IsHostMemory(buffer_->target()) && IsHostMemory(target)));
  if (!fits) {
    // Host memory that is outgrown gets room; a device's is held in full, touched or not.
    const bool outgrown = buffer_.use_count() == 1 && IsHostMemory(buffer_->target()) && IsHostMemory(target);
    const size_t size = outgrown ? GrownSize(buffer_->size(), bytes) : bytes;
    buffer_.reset();  // first, so that the old and the new memory are not both held
    offset_ = 0;
    buffer_ = strings ? Buffer::OfStrings(bytes / sizeof(std::string)) : allocator.Allocate(size);
  }
  meta_ = meta;
}

void* DenseTensor::CheckedData(DataType dtype) const {
  WHERRY_ENFORCE(dtype == DataType::kAny || dtype == meta_.dtype, kInvalidArgument, "tensor ", meta_.DebugString(),
                 " is read as ", ToString(dtype));
  WHERRY_ENFORCE(buffer_ != nullptr, kInvalidArgument, "tensor ", meta_.DebugString(), " has no data");
  WHERRY_ENFORCE(IsHostMemory(buffer_->target()), kInvalidArgument, "tensor ", meta_.DebugString(), " lies on ",
                 ToString(buffer_->target()), ", not on the host");
  WHERRY_CHECK(buffer_->holds_strings() == (meta_.dtype == DataType::kString), "memory of tensor ",
               meta_.DebugString());
  return static_cast<char*>(buffer_->data()) + offset_;
}

void DenseTensor::CopyBytesTo(void* to) const {
  const size_t bytes = nbytes();
  if (buffer_ != nullptr && offset_ == 0 && buffer_->size() == bytes && buffer_->is_deferred()) {
    buffer_->CopyTo(to);
  } else if (bytes > 0) {
    std::memcpy(to, raw_data(), bytes);
  }
}

std::shared_ptr<Buffer> Buffer::OfTensors(std::vector<DenseTensor> tensors) {
  auto buffer = std::make_shared<Buffer>(nullptr, 0, Target::kHost);
  buffer->tensors_ = std::make_shared<const std::vector<DenseTensor>>(std::move(tensors));
  return buffer;
}

DenseTensor SequenceOf(std::vector<DenseTensor> tensors) {
  return DenseTensor(TensorMeta{DataType::kSequence, Shape(), DataLayout::kNCHW, 0},
                     Buffer::OfTensors(std::move(tensors)));
}

const std::vector<DenseTensor>& TensorsOf(const DenseTensor& sequence) {
  const std::vector<DenseTensor>* const tensors = sequence.has_data() ? sequence.buffer()->tensors() : nullptr;
  WHERRY_ENFORCE(tensors != nullptr, kInvalidArgument, "value ", sequence.meta().DebugString(), " is no sequence");
  return *tensors;
}

DenseTensor PlainHostCopy(const DenseTensor& from) {
  DenseTensor copy(HostAllocator(), {from.dtype(), from.shape(), DataLayout::kNCHW, 0});
  CopyHostTensor(from, &copy);
  return copy;
}

int64_t PaddedPixelStride(DataType dtype, int64_t channels) {
  const auto size = static_cast<int64_t>(SizeOf(dtype));
  if (size == 0 || channels <= 0 || channels % (2048 / size) != 0) return 0;
  return channels + static_cast<int64_t>(AlignedBuffer::kAlignment) / size;
}

}  // namespace wherry
