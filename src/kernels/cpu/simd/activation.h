// The activations that the CPU kernels can apply, and their parameters.
#pragma once

#include <cstdint>

namespace wherry::cpu {

enum class ActivationKind : uint8_t {
  kNone,
  kRelu,
  kClip,       // min(max(x, a), b)
  kLeakyRelu,  // x < 0 ? a x : x
  kSigmoid,
  kTanh,
  kHardSigmoid,  // min(max(a x + b, 0), 1)
  kHardSwish,    // x min(max(x / 6 + 1/2, 0), 1)
  kSwish,        // x sigmoid(a x); a = 1 is SiLU
  kGelu,         // x (1 + erf(x / sqrt 2)) / 2
  kGeluTanh,     // the tanh approximation
  kElu,          // x < 0 ? a (e^x - 1) : x
};

struct Activation {
  ActivationKind kind = ActivationKind::kNone;
  float a = 0.0f;
  float b = 0.0f;
};

}  // namespace wherry::cpu
