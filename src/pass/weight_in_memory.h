// Reading weights whose bytes may be deferred.
#pragma once

#include "core/dense_tensor.h"

namespace wherry {

// The weight, or a copy of it if its bytes are deferred (Buffer::Deferred), which stay so.
inline DenseTensor InMemory(const DenseTensor& weight) {
  if (!weight.buffer()->is_deferred()) return weight;
  DenseTensor read(HostAllocator(), weight.meta());
  weight.CopyBytesTo(read.mutable_raw_data());
  return read;
}

}  // namespace wherry
