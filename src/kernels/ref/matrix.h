// Matrices of the reference kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/dense_tensor.h"
#include "kernels/ref/element.h"

namespace wherry::ref {

// A dense matrix in double.
class Matrix {
 public:
  Matrix(int64_t rows, int64_t columns) : columns_(columns), data_(static_cast<size_t>(rows * columns)) {}
  template <typename T>
  Matrix(const T* from, int64_t rows, int64_t columns) : Matrix(rows, columns) {
    for (size_t i = 0; i < data_.size(); ++i) data_[i] = Load(from[i]);
  }
  double& operator()(int64_t row, int64_t column) { return data_[static_cast<size_t>(row * columns_ + column)]; }
  double operator()(int64_t row, int64_t column) const { return data_[static_cast<size_t>(row * columns_ + column)]; }
  int64_t columns() const { return columns_; }
  template <typename T>
  void Write(T* to) const {
    for (size_t i = 0; i < data_.size(); ++i) to[i] = Store<T>(data_[i]);
  }

 private:
  int64_t columns_;
  std::vector<double> data_;
};

// Calls work(matrix number, matrix) for each n x n matrix of x.
template <typename T, typename Work>
void ForEachSquare(const DenseTensor& x, Work work) {
  const int64_t n = x.shape().back();
  const int64_t count = x.shape().numel(0, x.shape().rank() - 2);
  for (int64_t i = 0; i < count; ++i) work(i, Matrix(x.data<T>() + i * n * n, n, n));
}

// The same for matrices of any shape.
template <typename T, typename Work>
void ForEachMatrix(const DenseTensor& x, Work work) {
  const int rank = x.shape().rank();
  const int64_t rows = x.shape()[rank - 2];
  const int64_t columns = x.shape()[rank - 1];
  const int64_t count = x.shape().numel(0, rank - 2);
  for (int64_t i = 0; i < count; ++i) work(i, Matrix(x.data<T>() + i * rows * columns, rows, columns));
}

}  // namespace wherry::ref
