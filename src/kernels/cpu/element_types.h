// The types of elements, for REGISTER_KERNEL's list.
#pragma once

#include <cstdint>

#include "wherry/types.h"

#define WHERRY_CPU_ALL                                                                                         \
  float, double, ::wherry::Float16, ::wherry::BFloat16, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, \
      int64_t, uint64_t, bool
