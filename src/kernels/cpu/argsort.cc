// argsort: by the digits of the elements' keys.
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/sort/line_sort.h"

namespace wherry::cpu {
namespace {

template <typename T>
void Argsort(const CpuContext& context, const DenseTensor& x, int axis, bool descending, DenseTensor* out,
             DenseTensor* indices) {
  SortLines<T>(context, x, axis, descending, out, indices);
}

}  // namespace

REGISTER_KERNEL(argsort, cpu, kNative, kNCHW, Argsort, float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t,
                uint32_t, int64_t, uint64_t);

}  // namespace wherry::cpu
