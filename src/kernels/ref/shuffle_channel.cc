#include <algorithm>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"

namespace wherry::ref {
namespace {

template <typename T>
void ShuffleChannel(const CpuContext& /*context*/, const DenseTensor& x, int groups, DenseTensor* out) {
  const Shape& shape = x.shape();
  const int64_t channels = shape[1];
  const int64_t each = channels / groups;
  const int64_t pixels = shape.numel(2, shape.rank());
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t n = 0; n < shape[0]; ++n, from += channels * pixels) {
    for (int64_t c = 0; c < channels; ++c, to += pixels) {
      std::copy_n(from + (c % groups * each + c / groups) * pixels, pixels, to);
    }
  }
}

}  // namespace

REGISTER_KERNEL(shuffle_channel, ref, kHost, kNCHW, ShuffleChannel, WHERRY_REF_ALL);

}  // namespace wherry::ref
