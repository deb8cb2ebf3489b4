// How much to allocate for what outgrew its memory.
#pragma once

#include <algorithm>
#include <cstddef>

namespace wherry {

// `wanted`, or half as much again as was `held` where that is more: sizes that rise step by step (a text line's width)
// get new memory, whose pages cost about 1 us each when they are first touched, at few of the steps. What is not
// touched costs no memory. At most 64 MB more than wanted, so that it is hardly the room that cannot be had.
inline size_t GrownSize(size_t held, size_t wanted) {
  constexpr size_t kMostRoom = size_t{64} << 20;
  return std::max(wanted, std::min(held + held / 2, wanted + kMostRoom));
}

}  // namespace wherry
