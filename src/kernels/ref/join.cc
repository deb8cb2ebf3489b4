// Joins and parts along one axis.
#include <algorithm>
#include <span>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

using Inputs = std::span<const DenseTensor* const>;
using Outputs = std::span<DenseTensor* const>;

// `view` of the whole; a part of `extent` elements along the axis begins at `begin`.
template <typename T>
void CopyIn(const T* part, int64_t extent, int64_t begin, const AxisView& view, T* whole) {
  const int64_t run = extent * view.inner;
  if (run == 0 || part == whole + begin * view.inner) return;  // written there at once (op/memory_piece.h)
  for (int64_t o = 0; o < view.outer; ++o) {
    std::copy_n(part + o * run, run, whole + (o * view.extent + begin) * view.inner);
  }
}

template <typename T>
void CopyOut(const T* whole, int64_t extent, int64_t begin, const AxisView& view, T* part) {
  const int64_t run = extent * view.inner;
  if (run == 0 || part == whole + begin * view.inner) return;
  for (int64_t o = 0; o < view.outer; ++o) {
    std::copy_n(whole + (o * view.extent + begin) * view.inner, run, part + o * run);
  }
}

template <typename T>
void Concat(const CpuContext& /*context*/, Inputs x, int axis, DenseTensor* out) {
  const AxisView view = ViewAxis(out->shape(), axis);
  T* to = out->mutable_data<T>();
  int64_t begin = 0;
  for (const DenseTensor* part : x) {
    const int64_t extent = ViewAxis(part->shape(), axis).extent;
    CopyIn(part->data<T>(), extent, begin, view, to);
    begin += extent;
  }
  WHERRY_CHECK(begin == view.extent, "concat filled ", begin, " of ", view.extent);
}

template <typename T>
void Stack(const CpuContext& /*context*/, Inputs x, int axis, DenseTensor* out) {
  const AxisView view = ViewAxis(out->shape(), axis);
  T* to = out->mutable_data<T>();
  for (size_t i = 0; i < x.size(); ++i) CopyIn(x[i]->data<T>(), 1, static_cast<int64_t>(i), view, to);
}

template <typename T>
void Split(const CpuContext& /*context*/, const DenseTensor& x, int axis, Outputs out) {
  const AxisView view = ViewAxis(x.shape(), axis);
  int64_t begin = 0;
  for (DenseTensor* part : out) {
    const int64_t extent = ViewAxis(part->shape(), axis).extent;
    CopyOut(x.data<T>(), extent, begin, view, part->mutable_data<T>());
    begin += extent;
  }
  WHERRY_CHECK(begin == view.extent, "split took ", begin, " of ", view.extent);
}

}  // namespace

REGISTER_KERNEL(concat, ref, kHost, kNCHW, Concat, WHERRY_REF_ALL, WHERRY_REF_COMPLEX);
REGISTER_KERNEL(stack, ref, kHost, kNCHW, Stack, WHERRY_REF_ALL, WHERRY_REF_COMPLEX);
REGISTER_KERNEL(split, ref, kHost, kNCHW, Split, WHERRY_REF_ALL, WHERRY_REF_COMPLEX);

}  // namespace wherry::ref
