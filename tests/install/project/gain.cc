// The InferMeta function and the kernel of the operator in gain.yaml.
#include "gain_infer.h"

wherry::MetaTensor GainInferMeta(const wherry::MetaTensor& x) { return wherry::MetaTensor(x.dtype, x.dims); }

namespace {

template <typename T>
void Gain(const wherry::CpuContext& /*context*/, const wherry::DenseTensor& x, float factor, wherry::DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] * static_cast<T>(factor);
}

}  // namespace

REGISTER_KERNEL(gain, example, kHost, kNCHW, Gain, float, double);
