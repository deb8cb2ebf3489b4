// Diagonals, transforms and factors of matrices.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/promote.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

// Of two different axes.
std::pair<int, int> TwoAxes(int axis1, int axis2, int rank) {
  WHERRY_ENFORCE(rank >= 2, kInvalidArgument, "x has rank ", rank, ", expected at least 2");
  const int first = NormalizeAxis(axis1, rank, "the first axis");
  const int second = NormalizeAxis(axis2, rank, "the second axis");
  WHERRY_ENFORCE(first != second, kInvalidArgument, "both axes are ", first);
  return {first, second};
}

constexpr int64_t kFarthest = int64_t{1} << 40;
void CheckOffset(int64_t offset) {
  WHERRY_ENFORCE(offset > -kFarthest && offset < kFarthest, kInvalidArgument, "offset is ", offset);
}

bool AreMatrices(const MetaTensor& x, const char* name) {
  if (!x.rank_known) return false;
  WHERRY_ENFORCE(x.rank() >= 2, kInvalidArgument, name, " is ", x.DebugString(), ", expected matrices");
  return true;
}

bool AreSquare(const MetaTensor& x, const char* name) {
  if (!AreMatrices(x, name)) return false;
  WHERRY_ENFORCE(!Conflict(x.dims[x.dims.size() - 2], x.dims.back()), kInvalidArgument, name, " is ", x.DebugString(),
                 ", expected square matrices");
  return true;
}

}  // namespace

MetaTensor DiagonalInferMeta(const MetaTensor& x, int64_t offset, int axis1, int axis2) {
  CheckOffset(offset);
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  const auto [first, second] = TwoAxes(axis1, axis2, x.rank());
  const Dim rows = x.dims[static_cast<size_t>(first)];
  const Dim columns = x.dims[static_cast<size_t>(second)];
  const Dim length =
      offset == 0
          ? Min(rows, columns)
          : Max(Min(offset < 0 ? rows + Dim(offset) : rows, offset > 0 ? columns - Dim(offset) : columns), Dim(0));
  std::vector<Dim> dims = x.dims;
  dims.erase(dims.begin() + std::max(first, second));
  dims.erase(dims.begin() + std::min(first, second));
  dims.push_back(length);
  return MetaTensor(x.dtype, std::move(dims));
}

MetaTensor DiagEmbedInferMeta(const MetaTensor& x, int64_t offset, int dim1, int dim2) {
  CheckOffset(offset);
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  WHERRY_ENFORCE(x.rank() >= 1, kInvalidArgument, "x is a scalar");
  const auto [first, second] = TwoAxes(dim1, dim2, x.rank() + 1);
  const Dim size = x.dims.back() + Dim(offset < 0 ? -offset : offset);
  std::vector<Dim> dims(x.dims.begin(), x.dims.end() - 1);
  dims.insert(dims.begin() + std::min(first, second), size);
  dims.insert(dims.begin() + std::max(first, second), size);
  return MetaTensor(x.dtype, std::move(dims));
}

MetaTensor TrilTriuInferMeta(const MetaTensor& x) {
  return AreMatrices(x, "x") ? MetaTensor(x.dtype, x.dims) : MetaTensor::UnknownRank(x.dtype);
}

MetaTensor DftInferMeta(const MetaTensor& x, const SymScalar& length, const SymScalar& axis, bool inverse,
                        bool onesided) {
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  const bool fits = x.rank() >= 2 && (!x.dims.back().known() || x.dims.back() == Dim(1) || x.dims.back() == Dim(2));
  WHERRY_ENFORCE(fits, kInvalidArgument, "x is ", x.DebugString(), ", expected a last dimension of 1 or 2");
  if (!length.known() || !axis.known()) return MetaTensor::UnknownRank(x.dtype);
  const Dim given = axis.dim ? *axis.dim : Dim(axis.value->to<int64_t>());
  if (!given.known()) return MetaTensor::UnknownRank(x.dtype);
  const int along = NormalizeAxis(given.value(), x.rank(), "axis");
  WHERRY_ENFORCE(along + 1 < x.rank(), kInvalidArgument, "axis ", along, " is that of the parts of numbers");
  const Dim wanted = length.dim ? *length.dim : Dim(length.value->to<int64_t>());
  WHERRY_ENFORCE(!wanted.known() || (wanted.value() >= 0 && wanted.value() < kFarthest), kInvalidArgument, "length is ",
                 wanted.DebugString());
  MetaTensor out(x.dtype, x.dims);
  Dim& extent = out.dims[static_cast<size_t>(along)];
  if (wanted != Dim(0)) {
    extent = wanted;
  } else if (inverse && onesided) {
    extent = extent * Dim(2) - Dim(2);
  }
  if (onesided && !inverse) extent = FloorDiv(extent, Dim(2)) + Dim(1);
  out.dims.back() = onesided && inverse ? Dim(1) : Dim(2);
  return out;
}

MetaTensor ToRealInferMeta(const MetaTensor& x) {
  WHERRY_ENFORCE(x.dtype == DataType::kComplex64 || x.dtype == DataType::kComplex128, kInvalidArgument, "x is ",
                 x.DebugString(), ", expected complex numbers");
  const DataType part = x.dtype == DataType::kComplex64 ? DataType::kFloat : DataType::kFP64;
  if (!x.rank_known) return MetaTensor::UnknownRank(part);
  MetaTensor out(part, x.dims);
  out.dims.push_back(Dim(2));
  return out;
}

MetaTensor ToComplexInferMeta(const MetaTensor& x) {
  WHERRY_ENFORCE(x.dtype == DataType::kFloat || x.dtype == DataType::kFP64, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected f32 or f64");
  const DataType whole = x.dtype == DataType::kFloat ? DataType::kComplex64 : DataType::kComplex128;
  if (!x.rank_known) return MetaTensor::UnknownRank(whole);
  WHERRY_ENFORCE(x.rank() >= 1 && !Conflict(x.dims.back(), Dim(2)), kInvalidArgument, "x is ", x.DebugString(),
                 ", expected a last dimension of 2");
  return MetaTensor(whole, std::vector<Dim>(x.dims.begin(), x.dims.end() - 1));
}

MetaTensor MatrixInferMeta(const MetaTensor& x) {
  return AreSquare(x, "x") ? MetaTensor(x.dtype, x.dims) : MetaTensor::UnknownRank(x.dtype);
}

MetaTensor DetInferMeta(const MetaTensor& x) {
  if (!AreSquare(x, "x")) return MetaTensor::UnknownRank(x.dtype);
  return MetaTensor(x.dtype, std::vector<Dim>(x.dims.begin(), x.dims.end() - 2));
}

std::vector<MetaTensor> SlogdetInferMeta(const MetaTensor& x) {
  const MetaTensor out = DetInferMeta(x);
  return {out, out};
}

MetaTensor EigenvaluesInferMeta(const MetaTensor& x) {
  if (!AreSquare(x, "x")) return MetaTensor::UnknownRank(x.dtype);
  return MetaTensor(x.dtype, std::vector<Dim>(x.dims.begin(), x.dims.end() - 1));
}

MetaTensor SolveInferMeta(const MetaTensor& x, const MetaTensor& y) {
  WHERRY_ENFORCE(x.dtype == y.dtype, kInvalidArgument, "x is ", x.DebugString(), ", y ", y.DebugString(),
                 ": expected one type");
  if (!AreSquare(x, "x") || !AreMatrices(y, "y")) return MetaTensor::UnknownRank(x.dtype);
  WHERRY_ENFORCE(!Conflict(x.dims.back(), y.dims[y.dims.size() - 2]), kInvalidArgument, "x ", DimsText(x.dims),
                 " does not have the rows of y ", DimsText(y.dims));
  const MetaTensor x_batch(x.dtype, std::vector<Dim>(x.dims.begin(), x.dims.end() - 2));
  const MetaTensor y_batch(y.dtype, std::vector<Dim>(y.dims.begin(), y.dims.end() - 2));
  MetaTensor out(x.dtype, BroadcastDims(x_batch, y_batch, "x", "y"));
  out.dims.insert(out.dims.end(), y.dims.end() - 2, y.dims.end());
  return out;
}

}  // namespace wherry
