// matmul in f32.
#include "kernel/kernel_registrar.h"
#include "kernels/opencl/broadcast.h"
#include "kernels/opencl/context.h"
#include "op/infer/matrices.h"

namespace wherry {

namespace {

size_t RoundUp(cl_long value, size_t multiple) {
  return (static_cast<size_t>(value) + multiple - 1) / multiple * multiple;
}

template <typename T>
void Matmul(const OpenCLContext& context, const DenseTensor& x, const DenseTensor& y, bool transpose_x,
            bool transpose_y, DenseTensor* out) {
  static_assert(std::is_same_v<T, float>);
  if (out->numel() == 0) return;
  const Matrices a = ViewMatrices(x.shape(), transpose_x, true);
  const Matrices b = ViewMatrices(y.shape(), transpose_y, false);
  const Shape batch = BatchOfProduct(out->shape(), x.shape(), y.shape());
  const opencl::Broadcast batches =
      opencl::MakeBroadcast(a.batch, b.batch, batch, a.rows * a.columns, b.rows * b.columns);

  // 16 x 16 is what nearly every device can run; the rest has at least 64 work items a group in practice, or 1 by the
  // standard.
  const size_t limit = context.device().max_work_group_size();
  const size_t tile = limit >= 256 ? 16 : limit >= 64 ? 8 : 1;
  const size_t global[] = {RoundUp(b.columns, tile), RoundUp(a.rows, tile), static_cast<size_t>(batch.numel())};
  const size_t local[] = {tile, tile, 1};
  context.Launch("matmul", "-DTILE=" + std::to_string(tile), "matmul_f32", global, local, x, y, *out, batches,
                 cl_long{a.rows}, cl_long{a.columns}, cl_long{b.columns}, cl_long{a.row_stride},
                 cl_long{a.column_stride}, cl_long{b.row_stride}, cl_long{b.column_stride});
}

}  // namespace

REGISTER_KERNEL(matmul_v2, opencl, kOpenCL, kNCHW, Matmul, float);

}  // namespace wherry
