// arange without asking the scalars about their types for every element, which took ten times as long.
#include <algorithm>
#include <type_traits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "op/infer/slice_range.h"

namespace wherry::cpu {
namespace {

template <typename T>
void Arange(const CpuContext& /*context*/, const Scalar& start, const Scalar& step, DenseTensor* out) {
  T* const to = out->mutable_data<T>();
  const int64_t count = out->numel();
  if constexpr (std::is_floating_point_v<T>) {
    const auto first = start.to<double>();
    const auto by = step.to<double>();
    // Processors turn short integers into doubles by vectors.
    constexpr int64_t kBlock = 1024;
    for (int64_t begin = 0; begin < count; begin += kBlock) {
      const auto block = static_cast<int32_t>(std::min(kBlock, count - begin));
      for (int32_t i = 0; i < block; ++i) {
        to[begin + i] = static_cast<T>(first + (static_cast<double>(begin) + static_cast<double>(i)) * by);
      }
    }
  } else if (start.is_floating() || step.is_floating()) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(ArangeElement(start, step, i));
  } else {
    // Wraps.
    const auto by = step.to<uint64_t>();
    auto value = start.to<uint64_t>();
    for (int64_t i = 0; i < count; ++i, value += by) to[i] = static_cast<T>(value);
  }
}

}  // namespace

REGISTER_KERNEL(arange, cpu, kNative, kNCHW, Arange, float, int32_t, int64_t);

}  // namespace wherry::cpu
