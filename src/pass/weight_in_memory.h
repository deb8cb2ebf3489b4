// Reading weights whose bytes may be deferred (Buffer::Deferred), which stay so.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/dense_tensor.h"

namespace wherry {

// The weight, or a copy of it if its bytes are deferred.
inline DenseTensor InMemory(const DenseTensor& weight) {
  if (!weight.buffer()->is_deferred()) return weight;
  DenseTensor read(HostAllocator(), weight.meta());
  weight.CopyBytesTo(read.mutable_raw_data());
  return read;
}

// The weight, or a copy of one that can only be read whole: what ForEachPiece reads to its end.
inline DenseTensor InPieces(const DenseTensor& weight) {
  return weight.CopyPartTo(nullptr, 0, 0) ? weight : InMemory(weight);
}

// Calls fn(piece of the weight, its first element) for each piece in turn until it returns false; a piece is valid
// until the next one. Says whether all of them were read and wanted. The first piece is a small one: it often decides.
template <typename Fn>
bool ForEachPiece(const DenseTensor& weight, const Fn& fn) {
  // Pieces that stay in a cache with what becomes of them: new memory for all of a weight takes longer than converting.
  constexpr int64_t kPiece = 1 << 13;
  constexpr int64_t kFirst = 64;
  const int64_t count = weight.numel();
  const bool deferred = weight.buffer()->is_deferred();
  DenseTensor room;
  if (deferred) room = DenseTensor(HostAllocator(), TensorMeta{weight.dtype(), Shape{std::min(kPiece, count)}});
  int64_t size = kFirst;
  for (int64_t begin = 0; begin < count; begin += std::exchange(size, kPiece)) {
    const TensorMeta meta{weight.dtype(), Shape{std::min(size, count - begin)}};
    const size_t offset = static_cast<size_t>(begin) * SizeOf(weight.dtype());
    if (deferred) {
      room.set_meta(meta);
      if (!weight.CopyPartTo(room.mutable_raw_data(), offset, meta.nbytes())) return false;
    }
    if (!fn(deferred ? room : DenseTensor(meta, weight.buffer(), weight.offset() + offset), begin)) return false;
  }
  return true;
}

}  // namespace wherry
