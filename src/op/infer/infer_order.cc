// Order, rank, and what gathers up along an axis.
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/promote.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

void CheckIndexType(DataType dtype) {
  WHERRY_ENFORCE(dtype == DataType::kInt32 || dtype == DataType::kInt64, kInvalidArgument, "dtype is ", ToString(dtype),
                 ", expected i32 or i64");
}

// An axis of x; a scalar has one of 1.
int AxisOf(const MetaTensor& x, int64_t axis) { return NormalizeAxis(axis, x.dims.empty() ? 1 : x.rank(), "axis"); }

MetaTensor SameShape(const MetaTensor& x, DataType dtype) {
  return x.rank_known ? MetaTensor(dtype, x.dims) : MetaTensor::UnknownRank(dtype);
}

}  // namespace

std::vector<MetaTensor> TopkInferMeta(const MetaTensor& x, const SymScalar& k, int axis) {
  std::optional<Dim> wanted = k.dim;
  if (k.value) wanted = Dim(k.value->to<int64_t>());
  if (!x.rank_known || !wanted) return {MetaTensor::UnknownRank(x.dtype), MetaTensor::UnknownRank(DataType::kInt64)};
  const auto along = static_cast<size_t>(AxisOf(x, axis));
  const Dim extent = x.dims.empty() ? Dim(1) : x.dims[along];
  const bool fits =
      !wanted->known() || (wanted->value() >= 0 && (!extent.known() || wanted->value() <= extent.value()));
  WHERRY_ENFORCE(fits, kInvalidArgument, "k is ", wanted->DebugString(), " for axis ", axis, " of x ",
                 DimsText(x.dims));
  std::vector<Dim> dims = x.dims;
  if (!dims.empty()) dims[along] = *wanted;
  return {MetaTensor(x.dtype, dims), MetaTensor(DataType::kInt64, dims)};
}

std::vector<MetaTensor> ArgsortInferMeta(const MetaTensor& x, int axis) {
  if (x.rank_known) AxisOf(x, axis);
  return {SameShape(x, x.dtype), SameShape(x, DataType::kInt64)};
}

std::vector<MetaTensor> ModeInferMeta(const MetaTensor& x, int axis, bool keepdim) {
  if (!x.rank_known) return {MetaTensor::UnknownRank(x.dtype), MetaTensor::UnknownRank(DataType::kInt64)};
  const int along = AxisOf(x, axis);
  std::vector<Dim> dims = x.dims;
  if (!dims.empty()) {
    WHERRY_ENFORCE(dims[static_cast<size_t>(along)] != Dim(0), kInvalidArgument, "axis ", axis, " of x ",
                   DimsText(x.dims), " is empty");
    if (keepdim) {
      dims[static_cast<size_t>(along)] = 1;
    } else {
      dims.erase(dims.begin() + along);
    }
  }
  return {MetaTensor(x.dtype, dims), MetaTensor(DataType::kInt64, dims)};
}

std::vector<MetaTensor> UniqueInferMeta(const MetaTensor& x, const std::vector<int64_t>& axis, DataType dtype) {
  CheckIndexType(dtype);
  WHERRY_ENFORCE(axis.size() <= 1, kInvalidArgument, "there are ", axis.size(), " axes, expected at most one");
  if (x.rank_known && !axis.empty()) NormalizeAxis(axis[0], x.rank(), "axis");
  const MetaTensor index = MetaTensor::UnknownRank(dtype);
  return {MetaTensor::UnknownRank(x.dtype), index, index, index};
}

MetaTensor SearchSortedInferMeta(const MetaTensor& sequence, const MetaTensor& values, DataType dtype) {
  CheckIndexType(dtype);
  if (sequence.rank_known) {
    WHERRY_ENFORCE(!sequence.dims.empty(), kInvalidArgument, "sequence is a scalar");
    bool fits = true;
    if (values.rank_known && sequence.rank() > 1) {
      fits = values.rank() == sequence.rank();
      for (size_t i = 0; fits && i + 1 < values.dims.size(); ++i) fits = !Conflict(sequence.dims[i], values.dims[i]);
    }
    WHERRY_ENFORCE(fits, kInvalidArgument, "sequence ", DimsText(sequence.dims), " does not have the rows of values ",
                   DimsText(values.dims));
  }
  return SameShape(values, dtype);
}

MetaTensor CumulateInferMeta(const MetaTensor& x, const SymScalar& axis, bool flatten) {
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  if (flatten) return MetaTensor(x.dtype, {x.numel()});
  if (axis.value) AxisOf(x, axis.value->to<int64_t>());
  return MetaTensor(x.dtype, x.dims);
}

std::vector<MetaTensor> CumulativeExtremeInferMeta(const MetaTensor& x, int axis, DataType dtype) {
  CheckIndexType(dtype);
  if (x.rank_known) AxisOf(x, axis);
  return {SameShape(x, x.dtype), SameShape(x, dtype)};
}

}  // namespace wherry
