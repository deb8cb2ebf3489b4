// Tensors as the operands of a matrix product.
#pragma once

#include <cstdint>

#include "wherry/types.h"

namespace wherry {

// A stack of matrices in a contiguous tensor. Strides count elements; one matrix takes rows * columns of them.
struct Matrices {
  Shape batch;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t row_stride = 0;
  int64_t column_stride = 1;
};

// The last two axes of a shape of rank 1 or more. A vector is a row on the left, a column on the right, and is not
// transposed.
Matrices ViewMatrices(const Shape& shape, bool transpose, bool is_left);

// One matrix: the first `row_axes` axes by the others.
Matrices ViewFlat(const Shape& shape, int row_axes);

// What is left of a product's shape without the axes of its matrices: the batches of `x` and `y`, broadcast.
Shape BatchOfProduct(const Shape& out, const Shape& x, const Shape& y);

}  // namespace wherry
