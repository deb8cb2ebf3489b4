#include "op/infer/matrices.h"

#include <cstddef>
#include <utility>

namespace wherry {

Matrices ViewMatrices(const Shape& shape, bool transpose, bool is_left) {
  Matrices view;
  const int rank = shape.rank();
  if (rank == 1) {
    (is_left ? view.columns : view.rows) = shape[0];
    view.row_stride = view.columns;
    return view;
  }
  view.batch = Shape(shape.begin(), static_cast<size_t>(rank - 2));
  view.rows = shape[rank - 2];
  view.columns = shape[rank - 1];
  view.row_stride = view.columns;
  if (transpose) {
    std::swap(view.rows, view.columns);
    std::swap(view.row_stride, view.column_stride);
  }
  return view;
}

Matrices ViewFlat(const Shape& shape, int row_axes) {
  Matrices view;
  view.rows = shape.numel(0, row_axes);
  view.columns = shape.numel(row_axes, shape.rank());
  view.row_stride = view.columns;
  return view;
}

Shape BatchOfProduct(const Shape& out, const Shape& x, const Shape& y) {
  const int matrix_axes = (x.rank() == 1 ? 0 : 1) + (y.rank() == 1 ? 0 : 1);
  return Shape(out.begin(), static_cast<size_t>(out.rank() - matrix_axes));
}

}  // namespace wherry
