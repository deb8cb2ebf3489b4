#include "kernel/empty_extents.h"

#include "base/check.h"

namespace wherry {

void CheckEmptyExtents(const TensorMeta& meta) {
  constexpr int64_t kMost = int64_t{1} << 28;
  int64_t extent = 1;
  bool empty = false;
  bool huge = false;
  for (const int64_t dim : meta.shape) {
    empty = empty || dim == 0;
    huge = huge || dim > kMost / extent;
    if (dim != 0 && !huge) extent *= dim;
  }
  WHERRY_ENFORCE(!empty || !huge, kUnsupported, "a tensor ", meta.DebugString(), " has no element, but huge extents");
}

}  // namespace wherry
