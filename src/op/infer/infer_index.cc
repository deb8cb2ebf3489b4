// Selections by position, and new tensors.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/checked_math.h"
#include "base/strings.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"
#include "op/infer/slice_range.h"
#include "op/unknown_dim.h"

namespace wherry {
namespace {

// A symbolic dimension of which elements from `start` to `end` are taken one by one. Exact whatever the symbol's value.
Dim SymbolicExtent(const Dim& dim, const Dim& start, const Dim& end) {
  // A position counts from the end when it is known to be negative, is cut off at the ends, and INT64_MAX and its kin
  // mean "the end".
  const auto position = [&dim](const Dim& at) {
    if (!at.known()) return Min(at, dim);
    if (at.value() >= INT32_MAX) return dim;
    return at.value() < 0 ? Max(dim + at, Dim(0)) : Min(at, dim);
  };
  if (start == Dim(0)) return position(end);
  if (end.known() && end.value() >= INT32_MAX) {
    if (!start.known()) return Max(dim - start, Dim(0));
    return start.value() < 0 ? Min(dim, Dim(0) - start) : Max(dim - start, Dim(0));
  }
  return Max(position(end) - position(start), Dim(0));
}

void CheckIndexType(const MetaTensor& index, const char* name) {
  WHERRY_ENFORCE(index.dtype == DataType::kInt32 || index.dtype == DataType::kInt64, kInvalidArgument, name, " is ",
                 index.DebugString(), ", expected i32 or i64");
}

}  // namespace

MetaTensor SliceInferMeta(const MetaTensor& x, const std::vector<int64_t>& axes, const SymIntArray& starts,
                          const SymIntArray& ends, const std::vector<int64_t>& steps) {
  for (const int64_t step : steps) {
    WHERRY_ENFORCE(step != 0 && step > INT64_MIN, kInvalidArgument, "steps are [", Join(steps, ", "),
                   "], expected no 0");
  }
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  const std::vector<int> normalized = NormalizeAxes(axes, x.rank(), "axes");
  const auto check = [&axes](const char* name, size_t count) {
    WHERRY_ENFORCE(count == axes.size(), kInvalidArgument, name, " have ", count, " entries for ", axes.size(),
                   " axes");
  };
  if (starts.known()) check("starts", starts.values->size());
  if (ends.known()) check("ends", ends.values->size());
  if (!steps.empty()) check("steps", steps.size());
  MetaTensor out(x.dtype, x.dims);
  out.layout = x.layout;
  if (!axes.empty() && (!starts.known() || !ends.known())) {
    for (const int axis : normalized) out.dims[static_cast<size_t>(axis)] = kUnknownDim;
    return out;
  }
  for (size_t i = 0; i < normalized.size(); ++i) {
    Dim& dim = out.dims[static_cast<size_t>(normalized[i])];
    const Dim& start = (*starts.values)[i];
    const Dim& end = (*ends.values)[i];
    const int64_t step = steps.empty() ? 1 : steps[i];
    if (dim.known() && start.known() && end.known()) {
      const SliceRange range = ResolveSlice(dim.value(), start.value(), end.value(), step);
      dim = range.count;
      if (x.values && x.rank() == 1) {
        std::vector<Dim> values;
        for (int64_t k = 0; k < range.count; ++k)
          values.push_back((*x.values)[static_cast<size_t>(range.start + k * range.step)]);
        SetValues(&out, std::move(values));
      }
    } else if (step > 0) {
      dim = CeilDiv(SymbolicExtent(dim, start, end), step);
    } else if (step == -1 && start == Dim(-1) && end.known() && end.value() <= INT32_MIN) {
      // All of it, backwards: the extent stays.
    } else {
      dim = kUnknownDim;
    }
  }
  if (axes.empty()) out.values = x.values;
  return out;
}

MetaTensor GatherInferMeta(const MetaTensor& x, const MetaTensor& index, int axis) {
  CheckIndexType(index, "index");
  if (!x.rank_known || !index.rank_known) return MetaTensor::UnknownRank(x.dtype);
  WHERRY_ENFORCE(!x.dims.empty(), kInvalidArgument, "x is a scalar, which has no axis to select along");
  const int along = NormalizeAxis(axis, x.rank(), "axis");
  MetaTensor out(x.dtype, std::vector<Dim>(x.dims.begin(), x.dims.begin() + along));
  out.dims.insert(out.dims.end(), index.dims.begin(), index.dims.end());
  out.dims.insert(out.dims.end(), x.dims.begin() + along + 1, x.dims.end());
  if (!x.values || !index.values || x.rank() != 1) return out;
  std::vector<Dim> values;
  const int64_t extent = x.dims[0].value();
  for (const Dim& position : *index.values) {
    if (!position.known()) return out;
    const int64_t at = position.value() < 0 ? position.value() + extent : position.value();
    WHERRY_ENFORCE(at >= 0 && at < extent, kInvalidArgument, "index ", position.value(), " lies outside x ",
                   DimsText(x.dims));
    values.push_back((*x.values)[static_cast<size_t>(at)]);
  }
  SetValues(&out, std::move(values));
  return out;
}

MetaTensor EmbeddingInferMeta(const MetaTensor& x, const MetaTensor& weight, int64_t /*padding_idx*/) {
  CheckIndexType(x, "x");
  WHERRY_ENFORCE(!weight.rank_known || weight.rank() == 2, kInvalidArgument, "weight is ", weight.DebugString(),
                 ", expected [rows, columns]");
  if (!x.rank_known || !weight.rank_known) return MetaTensor::UnknownRank(weight.dtype);
  MetaTensor out(weight.dtype, x.dims);
  out.dims.push_back(weight.dims[1]);
  return out;
}

MetaTensor NonzeroInferMeta(const MetaTensor& /*x*/) { return MetaTensor::UnknownRank(DataType::kInt64); }

MetaTensor ShapeInferMeta(const MetaTensor& x, DataType dtype) {
  WHERRY_ENFORCE(dtype == DataType::kInt64 || dtype == DataType::kInt32, kInvalidArgument, "dtype is ", ToString(dtype),
                 ", expected i32 or i64");
  if (!x.rank_known) return MetaTensor::UnknownRank(dtype);
  MetaTensor out(dtype, {Dim(x.rank())});
  SetValues(&out, x.dims);
  return out;
}

namespace {

// The value as an integer of the type, where that is certain.
std::optional<Dim> FillValue(const SymScalar& value, DataType dtype) {
  if (value.dim && !(dtype == DataType::kBool)) return value.dim;
  if (!value.value) return std::nullopt;
  if (dtype == DataType::kBool) return Dim(value.value->to<bool>() ? 1 : 0);
  return Dim(value.value->to<int64_t>());
}

}  // namespace

MetaTensor FullInferMeta(const SymIntArray& shape, const SymScalar& value, DataType dtype) {
  WHERRY_ENFORCE(dtype != DataType::kUndefined && dtype != DataType::kAny, kInvalidArgument, "dtype is ",
                 ToString(dtype), ", not a data type");
  if (!shape.known()) return MetaTensor::UnknownRank(dtype);
  for (const Dim& dim : *shape.values) {
    WHERRY_ENFORCE(!dim.known() || dim.value() >= 0, kInvalidArgument, "shape is ", DimsText(*shape.values));
  }
  MetaTensor out(dtype, *shape.values);
  const std::optional<Dim> fill = FillValue(value, dtype);
  if (fill && MayHaveValues(out)) SetValues(&out, std::vector<Dim>(static_cast<size_t>(out.shape().numel()), *fill));
  return out;
}

MetaTensor FullLikeInferMeta(const MetaTensor& x, DataType dtype, DataLayout layout) {
  MetaTensor out = x.WithoutValues();
  out.pixel_stride = 0;
  if (dtype != DataType::kUndefined) out.dtype = dtype;
  if (layout != DataLayout::kUndefined && layout != DataLayout::kAny) out.layout = layout;
  return out;
}

MetaTensor ArangeInferMeta(const SymScalar& start, const SymScalar& end, const SymScalar& step, DataType dtype) {
  WHERRY_ENFORCE(IsInteger(dtype) || IsFloating(dtype), kInvalidArgument, "dtype is ", ToString(dtype),
                 ", expected a number type");
  if (!start.known() || !end.known() || !step.known()) return MetaTensor(dtype, {Dim(kUnknownDim)});
  if (start.value && end.value && step.value) {
    MetaTensor out(dtype, {Dim(ArangeCount(*start.value, *end.value, *step.value))});
    if (IsInteger(dtype) && MayHaveValues(out)) {
      std::vector<Dim> values;
      for (int64_t i = 0; i < out.dims[0].value(); ++i)
        values.emplace_back(ArangeElement(*start.value, *step.value, i));
      SetValues(&out, std::move(values));
    }
    return out;
  }
  const auto dim_of = [](const SymScalar& scalar) -> std::optional<Dim> {
    if (scalar.dim) return scalar.dim;
    if (scalar.value->is_floating()) return std::nullopt;
    return Dim(scalar.value->to<int64_t>());
  };
  const std::optional<Dim> first = dim_of(start);
  const std::optional<Dim> last = dim_of(end);
  const std::optional<Dim> by = dim_of(step);
  if (!first || !last || !by || !by->known() || by->value() == 0) return MetaTensor(dtype, {Dim(kUnknownDim)});
  const Dim room = by->value() > 0 ? *last - *first : *first - *last;
  const int64_t magnitude = by->value() > 0 ? by->value() : CheckedSub(int64_t{0}, by->value(), "step");
  return MetaTensor(dtype, {CeilDiv(Max(room, Dim(0)), Dim(magnitude))});
}

MetaTensor LinspaceInferMeta(const SymScalar& num, DataType dtype) {
  WHERRY_ENFORCE(IsInteger(dtype) || IsFloating(dtype), kInvalidArgument, "dtype is ", ToString(dtype),
                 ", expected a number type");
  if (!num.known()) return MetaTensor(dtype, {Dim(kUnknownDim)});
  const Dim count = num.dim ? *num.dim : Dim(num.value->to<int64_t>());
  WHERRY_ENFORCE(!count.known() || count.value() > 0, kInvalidArgument, "num is ", count.DebugString());
  return MetaTensor(dtype, {count});
}

}  // namespace wherry
