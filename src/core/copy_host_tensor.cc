// CopyHostTensor: copies between the plain and the channels-last order of a tensor's elements.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/check.h"
#include "core/dense_tensor.h"

namespace wherry {
namespace {

// to[c * to_stride + r] = from[r * from_stride + c] for r < rows, c < columns, in units of T. A tile is read and
// written within 16 cache lines each way, so that every line is fetched once: element by element, a channel stride of 4
// KB evicts them before use.
template <typename T>
void TransposeBlockwise(const T* from, int64_t from_stride, int64_t rows, int64_t columns, T* to, int64_t to_stride) {
  constexpr int64_t kTile = 16;
  for (int64_t row = 0; row < rows; row += kTile) {
    const int64_t row_end = std::min(rows, row + kTile);
    for (int64_t column = 0; column < columns; column += kTile) {
      const int64_t column_end = std::min(columns, column + kTile);
      for (int64_t c = column; c < column_end; ++c) {
        T* out = to + c * to_stride;
        const T* in = from + c;
        for (int64_t r = row; r < row_end; ++r) out[r] = in[r * from_stride];
      }
    }
  }
}

struct Geometry {
  int64_t images;
  int64_t channels;
  int64_t pixels;
  int64_t from_stride;  // pixel strides; of the plain side, not used
  int64_t to_stride;
};

template <typename T>
void CopyTyped(const T* from, bool from_plain, T* to, bool to_plain, const Geometry& g) {
  if (!from_plain && !to_plain) {  // padding differs
    for (int64_t i = 0; i < g.images * g.pixels; ++i)
      std::copy_n(from + i * g.from_stride, g.channels, to + i * g.to_stride);
    return;
  }
  for (int64_t n = 0; n < g.images; ++n) {
    const int64_t plain = n * g.channels * g.pixels;
    if (from_plain) {
      TransposeBlockwise(from + plain, g.pixels, g.channels, g.pixels, to + n * g.pixels * g.to_stride, g.to_stride);
    } else {
      TransposeBlockwise(from + n * g.pixels * g.from_stride, g.from_stride, g.pixels, g.channels, to + plain,
                         g.pixels);
    }
  }
}

// An element moved as bytes: the user's memory may be unaligned.
template <size_t N>
using Bytes = std::array<std::byte, N>;

}  // namespace

void CopyHostTensor(const DenseTensor& from, DenseTensor* to) {
  const TensorMeta& source = from.meta();
  const TensorMeta& target = to->meta();
  WHERRY_ENFORCE(source.dtype == target.dtype && source.shape == target.shape, kInvalidArgument, "cannot copy tensor ",
                 source.DebugString(), " to tensor ", target.DebugString());
  const void* in = from.raw_data();
  void* out = to->mutable_raw_data();
  WHERRY_CHECK(from.offset() + source.nbytes() <= from.buffer()->size() &&
                   to->offset() + target.nbytes() <= to->buffer()->size(),
               "memory of ", source.DebugString(), " or ", target.DebugString(), " is too small");
  const int64_t count = source.shape.numel();
  if (count == 0 || in == out) return;
  const bool strings = source.dtype == DataType::kString;
  const bool from_plain = source.is_plain();
  const bool to_plain = target.is_plain();
  const bool same_order =
      (from_plain && to_plain) ||
      (source.layout == target.layout && source.effective_pixel_stride() == target.effective_pixel_stride());
  if (same_order && !strings) {
    std::memcpy(out, in, source.nbytes());
    return;
  }
  Geometry g{1, count, 1, count, count};
  if (!same_order) {  // then one side is kNHWC of rank 2 or more
    g = {source.shape[0], source.shape[1], source.shape.numel(2, source.shape.rank()), source.effective_pixel_stride(),
         target.effective_pixel_stride()};
  }
  const auto copy = [&]<typename T>(const T* /*type*/) {
    CopyTyped(static_cast<const T*>(in), from_plain, static_cast<T*>(out), to_plain, g);
  };
  if (strings) {
    if (same_order) {
      std::copy_n(static_cast<const std::string*>(in), source.storage_numel(), static_cast<std::string*>(out));
    } else {
      copy(static_cast<const std::string*>(nullptr));
    }
    return;
  }
  switch (SizeOf(source.dtype)) {
    case 1: return copy(static_cast<const Bytes<1>*>(nullptr));
    case 2: return copy(static_cast<const Bytes<2>*>(nullptr));
    case 4: return copy(static_cast<const Bytes<4>*>(nullptr));
    case 8: return copy(static_cast<const Bytes<8>*>(nullptr));
    case 16: return copy(static_cast<const Bytes<16>*>(nullptr));
    default: break;
  }
  Throw(ErrorCode::kUnsupported, "changing the layout of tensor ", source.DebugString(), " to ", target.DebugString());
}

}  // namespace wherry
