// Factors and equations of matrices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/matrix.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

// Gauss's elimination of `a`, with the same steps taken on the rows of `b`: a becomes upper triangular. Returns -1 if
// an odd number of rows changed places, else 1.
double Eliminate(Matrix* a, int64_t n, Matrix* b) {
  double sign = 1.0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::fabs((*a)(i, k)) > std::fabs((*a)(pivot, k))) pivot = i;
    }
    if (pivot != k) {
      sign = -sign;
      for (int64_t j = 0; j < n; ++j) std::swap((*a)(k, j), (*a)(pivot, j));
      for (int64_t j = 0; j < b->columns(); ++j) std::swap((*b)(k, j), (*b)(pivot, j));
    }
    if ((*a)(k, k) == 0.0) continue;
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = (*a)(i, k) / (*a)(k, k);
      for (int64_t j = k; j < n; ++j) (*a)(i, j) -= factor * (*a)(k, j);
      for (int64_t j = 0; j < b->columns(); ++j) (*b)(i, j) -= factor * (*b)(k, j);
    }
  }
  return sign;
}

// Solves a z = b for a triangular a, in the place of b.
void SolveTriangular(const Matrix& a, int64_t n, bool upper, bool unit, Matrix* b) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    for (int64_t c = 0; c < b->columns(); ++c) {
      double rest = (*b)(i, c);
      for (int64_t j = upper ? i + 1 : 0; j < (upper ? n : i); ++j) rest -= a(i, j) * (*b)(j, c);
      (*b)(i, c) = unit ? rest : rest / a(i, i);
    }
  }
}

void SolveGeneral(Matrix a, int64_t n, Matrix* b) {
  Eliminate(&a, n, b);
  for (int64_t k = 0; k < n; ++k) {
    WHERRY_ENFORCE(a(k, k) != 0.0, kInvalidArgument, "a ", n, " x ", n, " matrix has no inverse");
  }
  SolveTriangular(a, n, /*upper=*/true, /*unit=*/false, b);
}

template <typename T>
void Det(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  T* to = out->mutable_data<T>();
  const int64_t n = x.shape().back();
  ForEachSquare<T>(x, [&](int64_t i, Matrix a) {
    Matrix none(n, 0);
    double product = Eliminate(&a, n, &none);
    for (int64_t k = 0; k < n; ++k) product *= a(k, k);
    to[i] = Store<T>(product);
  });
}

template <typename T>
void Slogdet(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* sign, DenseTensor* logabsdet) {
  T* signs = sign->mutable_data<T>();
  T* logs = logabsdet->mutable_data<T>();
  const int64_t n = x.shape().back();
  ForEachSquare<T>(x, [&](int64_t i, Matrix a) {
    Matrix none(n, 0);
    double of_det = Eliminate(&a, n, &none);
    double log = 0.0;
    for (int64_t k = 0; k < n; ++k) {
      if (!(a(k, k) > 0.0)) of_det *= a(k, k) < 0.0 ? -1.0 : a(k, k);  // 0 and NaN stay
      log += std::log(std::fabs(a(k, k)));
    }
    signs[i] = Store<T>(of_det);
    logs[i] = Store<T>(log);
  });
}

template <typename T>
void Inverse(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  T* to = out->mutable_data<T>();
  const int64_t n = x.shape().back();
  ForEachSquare<T>(x, [&](int64_t i, const Matrix& a) {
    Matrix unit(n, n);
    for (int64_t k = 0; k < n; ++k) unit(k, k) = 1.0;
    SolveGeneral(a, n, &unit);
    unit.Write(to + i * n * n);
  });
}

template <typename T>
void Cholesky(const CpuContext& /*context*/, const DenseTensor& x, bool upper, DenseTensor* out) {
  T* to = out->mutable_data<T>();
  const int64_t n = x.shape().back();
  ForEachSquare<T>(x, [&](int64_t i, const Matrix& a) {
    Matrix factor(n, n);
    const auto l = [&](int64_t row, int64_t column) -> double& {
      return upper ? factor(column, row) : factor(row, column);
    };
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t column = 0; column <= row; ++column) {
        double rest = upper ? a(column, row) : a(row, column);
        for (int64_t k = 0; k < column; ++k) rest -= l(row, k) * l(column, k);
        WHERRY_ENFORCE(row != column || rest > 0.0, kInvalidArgument, "a ", n, " x ", n,
                       " matrix is not positive definite");
        l(row, column) = row == column ? std::sqrt(rest) : rest / l(column, column);
      }
    }
    factor.Write(to + i * n * n);
  });
}

// Calls solve(x matrix, right-hand side) for each pair of matrices and writes what the latter becomes.
template <typename T, typename Solve>
void SolveEach(const DenseTensor& x, const DenseTensor& y, DenseTensor* out, Solve solve) {
  if (out->numel() == 0) return;
  const int rank = out->shape().rank();
  const int64_t n = out->shape()[rank - 2];
  const int64_t columns = out->shape()[rank - 1];
  const auto batch = [](const Shape& shape) { return Shape(std::vector<int64_t>(shape.begin(), shape.end() - 2)); };
  const Shape batches = batch(out->shape());
  Odometer<2> at(batches, {BroadcastStrides(batch(x.shape()), batches), BroadcastStrides(batch(y.shape()), batches)});
  T* to = out->mutable_data<T>();
  for (int64_t i = 0, count = batches.numel(); i < count; ++i, at.Next(), to += n * columns) {
    Matrix b(y.data<T>() + at.offset(1) * n * columns, n, columns);
    solve(Matrix(x.data<T>() + at.offset(0) * n * n, n, n), n, &b);
    b.Write(to);
  }
}

template <typename T>
void SolveEquations(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  SolveEach<T>(x, y, out, &SolveGeneral);
}

template <typename T>
void TriangularSolve(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, bool upper,
                     bool transpose, bool unitriangular, DenseTensor* out) {
  SolveEach<T>(x, y, out, [=](Matrix a, int64_t n, Matrix* b) {
    if (transpose) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < i; ++j) std::swap(a(i, j), a(j, i));
      }
    }
    SolveTriangular(a, n, upper != transpose, unitriangular, b);
  });
}

// Jacobi's rotations: each makes one pair of elements off the diagonal 0, until none is left that matters. The columns
// of `vectors`, which the rotations are applied to, are the vectors of the values.
std::vector<double> Eigenvalues(Matrix a, int64_t n, Matrix* vectors) {
  constexpr int kMostRounds = 60;
  for (int round = 0; round < kMostRounds; ++round) {
    double off = 0.0;
    double all = 0.0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) (i == j ? all : off) += a(i, j) * a(i, j);
    }
    if (!(off > 1e-32 * (all + off))) break;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        if (a(p, q) == 0.0) continue;
        const double theta = (a(q, q) - a(p, p)) / (2.0 * a(p, q));
        const double t = std::copysign(1.0, theta) / (std::fabs(theta) + std::hypot(theta, 1.0));
        const double c = 1.0 / std::hypot(t, 1.0);
        const double s = t * c;
        for (int64_t k = 0; k < n; ++k) {
          const double kp = a(k, p);
          const double kq = a(k, q);
          a(k, p) = c * kp - s * kq;
          a(k, q) = s * kp + c * kq;
        }
        for (int64_t k = 0; k < n; ++k) {
          const double kp = (*vectors)(k, p);
          const double kq = (*vectors)(k, q);
          (*vectors)(k, p) = c * kp - s * kq;
          (*vectors)(k, q) = s * kp + c * kq;
        }
        for (int64_t k = 0; k < n; ++k) {
          const double pk = a(p, k);
          const double qk = a(q, k);
          a(p, k) = c * pk - s * qk;
          a(q, k) = s * pk + c * qk;
        }
      }
    }
  }
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(a(i, i));
  return values;
}

// Of each matrix of x the values in ascending order, and vectors of length 1 if they are wanted. NaN where x has a
// number that is not finite.
template <typename T>
void DecomposeSymmetric(const DenseTensor& x, const std::string& uplo, T* values_to, T* vectors_to) {
  const int64_t n = x.shape().back();
  ForEachSquare<T>(x, [&](int64_t i, Matrix a) {
    bool is_number = true;
    Matrix vectors(n, n);
    for (int64_t row = 0; row < n; ++row) {
      for (int64_t column = 0; column <= row; ++column) {
        const double value = uplo == "U" ? a(column, row) : a(row, column);
        is_number = is_number && std::isfinite(value);
        a(row, column) = a(column, row) = value;
      }
      vectors(row, row) = 1.0;
    }
    std::vector<double> values(static_cast<size_t>(n), std::numeric_limits<double>::quiet_NaN());
    if (is_number) values = Eigenvalues(std::move(a), n, &vectors);
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    if (is_number) {
      std::stable_sort(order.begin(), order.end(),
                       [&](size_t one, size_t other) { return values[one] < values[other]; });
    }
    for (int64_t k = 0; k < n; ++k) {
      const size_t from = order[static_cast<size_t>(k)];
      values_to[i * n + k] = Store<T>(values[from]);
      for (int64_t row = 0; vectors_to != nullptr && row < n; ++row) {
        const double part = is_number ? vectors(row, static_cast<int64_t>(from)) : values[from];
        vectors_to[(i * n + row) * n + k] = Store<T>(part);
      }
    }
  });
}

template <typename T>
void EigenvaluesOfSymmetric(const CpuContext& /*context*/, const DenseTensor& x, const std::string& uplo,
                            DenseTensor* out) {
  DecomposeSymmetric<T>(x, uplo, out->mutable_data<T>(), nullptr);
}

template <typename T>
void EigenOfSymmetric(const CpuContext& /*context*/, const DenseTensor& x, const std::string& uplo, DenseTensor* values,
                      DenseTensor* vectors) {
  DecomposeSymmetric<T>(x, uplo, values->mutable_data<T>(), vectors->mutable_data<T>());
}

}  // namespace

REGISTER_KERNEL(det, ref, kHost, kNCHW, Det, WHERRY_REF_FLOATS);
REGISTER_KERNEL(slogdet, ref, kHost, kNCHW, Slogdet, WHERRY_REF_FLOATS);
REGISTER_KERNEL(inverse, ref, kHost, kNCHW, Inverse, WHERRY_REF_FLOATS);
REGISTER_KERNEL(cholesky, ref, kHost, kNCHW, Cholesky, WHERRY_REF_FLOATS);
REGISTER_KERNEL(solve, ref, kHost, kNCHW, SolveEquations, WHERRY_REF_FLOATS);
REGISTER_KERNEL(triangular_solve, ref, kHost, kNCHW, TriangularSolve, WHERRY_REF_FLOATS);
REGISTER_KERNEL(eigvalsh, ref, kHost, kNCHW, EigenvaluesOfSymmetric, WHERRY_REF_FLOATS);
REGISTER_KERNEL(eigh, ref, kHost, kNCHW, EigenOfSymmetric, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
