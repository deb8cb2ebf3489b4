// A kernel for a device that Wherry does not know: a typed function and one line.
#include <cmath>
#include <cstdint>

#include "toy_device.h"

namespace toy {

namespace {

template <typename T>
void Cos(const ToyContext& /*context*/, const wherry::DenseTensor& x, wherry::DenseTensor* out) {
  const T* values = ToyContext::Map<T>(x);
  T* results = ToyContext::Map<T>(*out);
  for (int64_t i = 0; i < x.numel(); ++i) results[i] = std::cos(values[i]);
}

}  // namespace

}  // namespace toy

REGISTER_KERNEL(cos, toy, kCustom, kNCHW, toy::Cos, float);
