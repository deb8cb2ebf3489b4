// Matrices as products of simpler ones.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/floats.h"
#include "kernels/ref/matrix.h"

namespace wherry::ref {
namespace {

Matrix Unit(int64_t n) {
  Matrix unit(n, n);
  for (int64_t k = 0; k < n; ++k) unit(k, k) = 1.0;
  return unit;
}

Matrix Transposed(const Matrix& a, int64_t rows, int64_t columns) {
  Matrix b(columns, rows);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) b(j, i) = a(i, j);
  }
  return b;
}

// Householder's reflections turn `a` into the upper triangular R; returns the m x m Q. Each takes a column's first
// element to the sign opposite to its own.
Matrix Reflect(Matrix* a, int64_t m, int64_t n) {
  Matrix q = Unit(m);
  for (int64_t k = 0; k < std::min(m - 1, n); ++k) {
    std::vector<double> v(static_cast<size_t>(m - k));
    double tail = 0.0;
    for (int64_t i = k; i < m; ++i) {
      v[static_cast<size_t>(i - k)] = (*a)(i, k);
      if (i > k) tail += (*a)(i, k) * (*a)(i, k);
    }
    if (tail == 0.0) continue;
    const double length = std::sqrt(v[0] * v[0] + tail);
    v[0] += v[0] >= 0.0 ? length : -length;
    const double scale = 2.0 / (v[0] * v[0] + tail);
    const auto dot = [&](const auto& at) {
      double sum = 0.0;
      for (int64_t i = k; i < m; ++i) sum += v[static_cast<size_t>(i - k)] * at(i);
      return sum * scale;
    };
    for (int64_t j = k; j < n; ++j) {
      const double along = dot([&](int64_t i) { return (*a)(i, j); });
      for (int64_t i = k; i < m; ++i) (*a)(i, j) -= along * v[static_cast<size_t>(i - k)];
    }
    for (int64_t row = 0; row < m; ++row) {
      const double along = dot([&](int64_t i) { return q(row, i); });
      for (int64_t i = k; i < m; ++i) q(row, i) -= along * v[static_cast<size_t>(i - k)];
    }
    for (int64_t i = k + 1; i < m; ++i) (*a)(i, k) = 0.0;
  }
  return q;
}

// The first rows and columns of a matrix.
template <typename T>
void WriteCorner(const Matrix& a, int64_t rows, int64_t columns, T* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) *to++ = Store<T>(a(i, j));
  }
}

template <typename T>
void Qr(const CpuContext& /*context*/, const DenseTensor& x, const std::string& mode, DenseTensor* q, DenseTensor* r) {
  const int rank = x.shape().rank();
  const int64_t m = x.shape()[rank - 2];
  const int64_t n = x.shape()[rank - 1];
  const int64_t k = mode == "complete" ? m : std::min(m, n);
  T* q_to = q->mutable_data<T>();
  T* r_to = r->mutable_data<T>();
  ForEachMatrix<T>(x, [&](int64_t i, Matrix a) {
    const Matrix whole = Reflect(&a, m, n);
    if (mode != "r") WriteCorner(whole, m, k, q_to + i * m * k);
    WriteCorner(a, k, n, r_to + i * k * n);
  });
}

// Rotations of pairs of columns (Jacobi's, from one side) until all are at right angles: then a = U S V^T, where the
// columns of `a` are those of U S, and `v` is V.
void RotateColumns(Matrix* a, int64_t m, int64_t n, Matrix* v) {
  constexpr int kMostRounds = 60;
  constexpr double kRightAngle = 1e-15;
  for (int round = 0; round < kMostRounds; ++round) {
    bool turned = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        double pp = 0.0;
        double qq = 0.0;
        double pq = 0.0;
        for (int64_t i = 0; i < m; ++i) {
          pp += (*a)(i, p) * (*a)(i, p);
          qq += (*a)(i, q) * (*a)(i, q);
          pq += (*a)(i, p) * (*a)(i, q);
        }
        if (!(std::fabs(pq) > kRightAngle * std::sqrt(pp * qq))) continue;
        turned = true;
        const double theta = (qq - pp) / (2.0 * pq);
        const double t = std::copysign(1.0, theta) / (std::fabs(theta) + std::hypot(theta, 1.0));
        const double c = 1.0 / std::hypot(t, 1.0);
        const double s = t * c;
        const auto turn = [&](Matrix* matrix, int64_t rows) {
          for (int64_t i = 0; i < rows; ++i) {
            const double at_p = (*matrix)(i, p);
            const double at_q = (*matrix)(i, q);
            (*matrix)(i, p) = c * at_p - s * at_q;
            (*matrix)(i, q) = s * at_p + c * at_q;
          }
        };
        turn(a, m);
        turn(v, n);
      }
    }
    if (!turned) return;
  }
}

struct Singular {
  Matrix u;  // m x m
  std::vector<double> values;
  Matrix v;  // n x n
};

// For m >= n. The columns of U that no singular value stands for complete it to a base: those of a Q whose first
// columns they are made from.
Singular Decompose(Matrix a, int64_t m, int64_t n) {
  Matrix v = Unit(n);
  RotateColumns(&a, m, n, &v);
  std::vector<double> values(static_cast<size_t>(n), 0.0);
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0.0;
    for (int64_t i = 0; i < m; ++i) sum += a(i, j) * a(i, j);
    values[static_cast<size_t>(j)] = std::sqrt(sum);
  }
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t one, int64_t other) {
    return values[static_cast<size_t>(one)] > values[static_cast<size_t>(other)];
  });
  Singular result{Matrix(m, m), {}, Matrix(n, n)};
  Matrix columns(m, n);
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = order[static_cast<size_t>(j)];
    result.values.push_back(values[static_cast<size_t>(from)]);
    for (int64_t i = 0; i < n; ++i) result.v(i, j) = v(i, from);
    for (int64_t i = 0; i < m; ++i) columns(i, j) = a(i, from);
  }
  const Matrix base = Reflect(&columns, m, n);
  for (int64_t j = 0; j < m; ++j) {
    const double sign = j < n && columns(j, j) < 0.0 ? -1.0 : 1.0;
    for (int64_t i = 0; i < m; ++i) result.u(i, j) = sign * base(i, j);
  }
  return result;
}

template <typename T>
void Svd(const CpuContext& /*context*/, const DenseTensor& x, bool full_matrices, DenseTensor* u, DenseTensor* s,
         DenseTensor* vh) {
  const int rank = x.shape().rank();
  const int64_t m = x.shape()[rank - 2];
  const int64_t n = x.shape()[rank - 1];
  const int64_t k = std::min(m, n);
  T* u_to = u->mutable_data<T>();
  T* s_to = s->mutable_data<T>();
  T* vh_to = vh->mutable_data<T>();
  const int64_t u_columns = full_matrices ? m : k;
  const int64_t v_rows = full_matrices ? n : k;
  ForEachMatrix<T>(x, [&](int64_t i, Matrix a) {
    const bool wide = m < n;
    const Singular parts = wide ? Decompose(Transposed(a, m, n), n, m) : Decompose(std::move(a), m, n);
    const Matrix& left = wide ? parts.v : parts.u;
    const Matrix& right = wide ? parts.u : parts.v;
    WriteCorner(left, m, u_columns, u_to + i * m * u_columns);
    for (int64_t j = 0; j < k; ++j) s_to[i * k + j] = Store<T>(parts.values[static_cast<size_t>(j)]);
    WriteCorner(Transposed(right, n, n), v_rows, n, vh_to + i * v_rows * n);
  });
}

template <typename T>
void Lu(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out, DenseTensor* pivots,
        DenseTensor* infos) {
  const int rank = x.shape().rank();
  const int64_t m = x.shape()[rank - 2];
  const int64_t n = x.shape()[rank - 1];
  const int64_t steps = std::min(m, n);
  T* to = out->mutable_data<T>();
  int32_t* rows = pivots->mutable_data<int32_t>();
  int32_t* info = infos->mutable_data<int32_t>();
  ForEachMatrix<T>(x, [&](int64_t i, Matrix a) {
    info[i] = 0;
    for (int64_t k = 0; k < steps; ++k) {
      int64_t pivot = k;
      for (int64_t row = k + 1; row < m; ++row) {
        if (std::fabs(a(row, k)) > std::fabs(a(pivot, k))) pivot = row;
      }
      rows[i * steps + k] = static_cast<int32_t>(pivot + 1);
      for (int64_t j = 0; pivot != k && j < n; ++j) std::swap(a(k, j), a(pivot, j));
      if (a(k, k) == 0.0) {
        if (info[i] == 0) info[i] = static_cast<int32_t>(k + 1);
        continue;
      }
      for (int64_t row = k + 1; row < m; ++row) {
        a(row, k) /= a(k, k);
        for (int64_t j = k + 1; j < n; ++j) a(row, j) -= a(row, k) * a(k, j);
      }
    }
    a.Write(to + i * m * n);
  });
}

template <typename T>
void LuPermutation(const CpuContext& /*context*/, const DenseTensor& lu, const DenseTensor& pivots, DenseTensor* out) {
  const int rank = lu.shape().rank();
  const int64_t m = lu.shape()[rank - 2];
  const int64_t steps = pivots.shape().back();
  const std::vector<int64_t> rows = IntsOf(pivots);
  T* to = out->mutable_data<T>();
  std::fill_n(to, out->numel(), Store<T>(0.0));
  for (int64_t i = 0; i < lu.shape().numel(0, rank - 2); ++i) {
    std::vector<int64_t> order(static_cast<size_t>(m));
    std::iota(order.begin(), order.end(), 0);
    for (int64_t k = 0; k < steps; ++k) {
      const int64_t row = rows[static_cast<size_t>(i * steps + k)] - 1;
      WHERRY_ENFORCE(k < m && row >= 0 && row < m, kInvalidArgument, "pivot ", row + 1, " of a matrix of ", m, " rows");
      std::swap(order[static_cast<size_t>(k)], order[static_cast<size_t>(row)]);
    }
    for (int64_t k = 0; k < m; ++k) to[(i * m + order[static_cast<size_t>(k)]) * m + k] = Store<T>(1.0);
  }
}

}  // namespace

REGISTER_KERNEL(qr, ref, kHost, kNCHW, Qr, WHERRY_REF_FLOATS);
REGISTER_KERNEL(svd, ref, kHost, kNCHW, Svd, WHERRY_REF_FLOATS);
REGISTER_KERNEL(lu, ref, kHost, kNCHW, Lu, WHERRY_REF_FLOATS);
REGISTER_KERNEL(lu_permutation, ref, kHost, kNCHW, LuPermutation, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
