// What an index that a tensor holds means.
#pragma once

#include <cstdint>

#include "base/check.h"

namespace wherry {

// The position among `extent` elements of x: negative ones count from the end. One outside is Error(kOutOfRange).
inline int64_t PositionOf(int64_t given, int64_t extent) {
  const int64_t position = given < 0 ? given + extent : given;
  WHERRY_ENFORCE(position >= 0 && position < extent, kOutOfRange, "index ", given, " lies outside ", extent,
                 " elements of x");
  return position;
}

}  // namespace wherry
