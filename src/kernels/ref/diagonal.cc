// Diagonals of matrices.
#include <algorithm>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

// The strides of `shape` without two axes, with one along the diagonal of those behind, and where that begins.
struct DiagonalView {
  Strides strides{};
  int64_t base = 0;
};
DiagonalView ViewDiagonal(const Shape& shape, int64_t offset, int axis1, int axis2) {
  const Strides own = RowMajorStrides(shape);
  const int first = axis1 < 0 ? axis1 + shape.rank() : axis1;
  const int second = axis2 < 0 ? axis2 + shape.rank() : axis2;
  DiagonalView view;
  size_t axis = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != first && i != second) view.strides[axis++] = own[static_cast<size_t>(i)];
  }
  const int64_t down = own[static_cast<size_t>(first)];
  const int64_t right = own[static_cast<size_t>(second)];
  view.strides[axis] = down + right;
  view.base = offset < 0 ? -offset * down : offset * right;
  return view;
}

template <typename T>
void Diagonal(const CpuContext& /*context*/, const DenseTensor& x, int64_t offset, int axis1, int axis2,
              DenseTensor* out) {
  if (out->numel() == 0) return;
  const DiagonalView view = ViewDiagonal(x.shape(), offset, axis1, axis2);
  const T* from = x.data<T>() + view.base;
  T* to = out->mutable_data<T>();
  Odometer<1> at(out->shape(), {view.strides});
  for (int64_t i = 0, count = out->numel(); i < count; ++i, at.Next()) to[i] = from[at.offset(0)];
}

template <typename T>
void DiagEmbed(const CpuContext& /*context*/, const DenseTensor& x, int64_t offset, int dim1, int dim2,
               const Scalar& fill, DenseTensor* out) {
  T background{};
  if constexpr (FloatElement<T>) {
    background = Store<T>(fill.to<double>());
  } else {
    background = fill.to<T>();
  }
  std::fill_n(out->mutable_data<T>(), out->numel(), background);
  if (x.numel() == 0) return;
  const DiagonalView view = ViewDiagonal(out->shape(), offset, dim1, dim2);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>() + view.base;
  Odometer<1> at(x.shape(), {view.strides});
  for (int64_t i = 0, count = x.numel(); i < count; ++i, at.Next()) to[at.offset(0)] = from[i];
}

template <typename T>
void TrilTriu(const CpuContext& /*context*/, const DenseTensor& x, const Scalar& diagonal, bool lower,
              DenseTensor* out) {
  const int rank = x.shape().rank();
  const int64_t rows = x.shape()[rank - 2];
  const int64_t columns = x.shape()[rank - 1];
  // Beyond the corners all diagonals are alike.
  const int64_t place = std::clamp(diagonal.to<int64_t>(), -rows, columns);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t i = 0, count = x.numel(); i < count; ++i) {
    const int64_t right = i % columns - i / columns % rows;
    to[i] = (lower ? right <= place : right >= place) ? from[i] : T{};
  }
}

}  // namespace

REGISTER_KERNEL(diagonal, ref, kHost, kNCHW, Diagonal, WHERRY_REF_ALL);
REGISTER_KERNEL(diag_embed, ref, kHost, kNCHW, DiagEmbed, WHERRY_REF_ALL);
REGISTER_KERNEL(tril_triu, ref, kHost, kNCHW, TrilTriu, WHERRY_REF_ALL);

}  // namespace wherry::ref
