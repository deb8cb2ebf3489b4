#include <string>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/pool/max_pool_index.h"
#include "kernels/cpu/pool/pool_attributes.h"
#include "op/infer/window.h"

namespace wherry::cpu {
namespace {

PositionOrder OrderOf(const std::string& index) {
  if (index == "plane") return PositionOrder::kPlane;
  return index == "tensor" ? PositionOrder::kTensor : PositionOrder::kColumnMajor;
}

template <typename T>
void MaxPool(const CpuContext& context, const DenseTensor& x, const IntArray& kernel_size,
             const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings, bool ceil_mode,
             bool global_pooling, bool adaptive, const std::string& padding_algorithm,
             const std::vector<int64_t>& dilations, const std::string& index, DataType /*dtype*/, DenseTensor* out,
             DenseTensor* mask) {
  if (out->numel() == 0) return;
  const int axes = static_cast<int>(strides.size());
  const WindowAttributes window = ParseWindow(axes, strides, paddings, padding_algorithm, dilations);
  const auto axis = [&](int i) -> PoolAxis {
    const int64_t in = x.shape()[2 + i];
    const int64_t size = out->shape()[2 + i];
    if (global_pooling || adaptive) return {.in = in, .out = size, .adaptive = true};
    return WindowPoolAxis(window, i, in, size, kernel_size[static_cast<size_t>(i)], ceil_mode);
  };
  IndexPoolShape shape;
  shape.planes = x.shape()[0] * x.shape()[1];
  shape.depth = axes == 3 ? axis(0) : PoolAxis::Global(1);
  shape.rows = axis(axes - 2);
  shape.columns = axis(axes - 1);
  shape.order = OrderOf(index);
  void* const scratch = context.Scratch(MaxPoolIndexScratch(shape, context.threads()));
  const auto pool = [&](auto* positions) {
    MaxPoolWithIndex(shape, x.data<T>(), out->mutable_data<T>(), positions, scratch, context.pool());
  };
  if (mask->dtype() == DataType::kInt32) {
    pool(mask->mutable_data<int32_t>());
  } else {
    pool(mask->mutable_data<int64_t>());
  }
}

}  // namespace

REGISTER_KERNEL(max_pool_with_index, cpu, kNative, kNCHW, MaxPool, float);

}  // namespace wherry::cpu
