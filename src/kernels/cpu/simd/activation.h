// An activation and its parameters, as the CPU kernels take them.
#pragma once

#include "op/epilogue.h"

namespace wherry::cpu {

struct Activation {
  ActKind kind = ActKind::kIdentity;
  float a = 0.0f;
  float b = 0.0f;
};

}  // namespace wherry::cpu
