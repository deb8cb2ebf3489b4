// Elements picked out or put in by their positions.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"
#include "op/infer/slice_range.h"

namespace wherry {
namespace {

void CheckIndexType(const MetaTensor& index) {
  WHERRY_ENFORCE(index.dtype == DataType::kInt32 || index.dtype == DataType::kInt64, kInvalidArgument, "index is ",
                 index.DebugString(), ", expected i32 or i64");
}

void CheckSameType(const MetaTensor& x, const MetaTensor& value, const char* name) {
  WHERRY_ENFORCE(x.dtype == value.dtype, kInvalidArgument, name, " is ", value.DebugString(), ", x is ",
                 x.DebugString(), ": expected one type");
}

bool SameDims(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Dim& left, const Dim& right) { return !Conflict(left, right); });
}

// The dimensions that the positions in `index` leave of x; nullopt when they are not known.
std::optional<std::vector<Dim>> PartDims(const MetaTensor& x, const MetaTensor& index, int batch) {
  if (!x.rank_known || !index.rank_known) return std::nullopt;
  WHERRY_ENFORCE(!index.dims.empty(), kInvalidArgument, "index is a scalar");
  WHERRY_ENFORCE(batch >= 0 && batch < index.rank() && batch <= x.rank(), kInvalidArgument, "batch_dims is ", batch,
                 " for x ", DimsText(x.dims), " and index ", DimsText(index.dims));
  const Dim& depth = index.dims.back();
  if (!depth.known()) return std::nullopt;
  WHERRY_ENFORCE(depth.value() <= x.rank() - batch, kInvalidArgument, "index ", DimsText(index.dims), " has ",
                 depth.value(), " positions for each part of x ", DimsText(x.dims));
  for (int i = 0; i < batch; ++i) {
    const auto at = static_cast<size_t>(i);
    WHERRY_ENFORCE(!Conflict(x.dims[at], index.dims[at]), kInvalidArgument, "x ", DimsText(x.dims), " and index ",
                   DimsText(index.dims), " differ in the first ", batch, " dimensions");
  }
  return std::vector<Dim>(x.dims.begin() + batch + depth.value(), x.dims.end());
}

// The axis; checks that index has the rank of x and is nowhere larger elsewhere.
void CheckAlongAxis(const MetaTensor& x, const MetaTensor& index, int axis) {
  CheckIndexType(index);
  if (!x.rank_known || !index.rank_known) return;
  WHERRY_ENFORCE(x.rank() == index.rank() && x.rank() > 0, kInvalidArgument, "index ", DimsText(index.dims),
                 " does not have the rank of x ", DimsText(x.dims));
  const int along = NormalizeAxis(axis, x.rank(), "axis");
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& have = x.dims[static_cast<size_t>(i)];
    const Dim& want = index.dims[static_cast<size_t>(i)];
    const bool fits = i == along || !have.known() || !want.known() || want.value() <= have.value();
    WHERRY_ENFORCE(fits, kInvalidArgument, "index ", DimsText(index.dims), " is larger than x ", DimsText(x.dims),
                   " along axis ", i);
  }
}

MetaTensor Copied(const MetaTensor& x) {
  return x.rank_known ? MetaTensor(x.dtype, x.dims) : MetaTensor::UnknownRank(x.dtype);
}

void CheckReduce(const std::string& reduce, const std::vector<std::string>& known) {
  WHERRY_ENFORCE(std::find(known.begin(), known.end(), reduce) != known.end(), kInvalidArgument, "reduce is ",
                 Quote(reduce), ", expected one of ", Join(known, ", "));
}

// x's values at the positions of index, where both are lists that are known.
std::optional<std::vector<Dim>> PickedValues(const MetaTensor& x, const MetaTensor& index) {
  if (!x.values || !index.values || x.rank() != 1) return std::nullopt;
  const auto extent = static_cast<int64_t>(x.values->size());
  std::vector<Dim> values;
  for (const Dim& position : *index.values) {
    if (!position.known()) return std::nullopt;
    const int64_t at = position.value() < 0 ? position.value() + extent : position.value();
    WHERRY_ENFORCE(at >= 0 && at < extent, kInvalidArgument, "index ", position.value(), " lies outside x ",
                   DimsText(x.dims));
    values.push_back((*x.values)[static_cast<size_t>(at)]);
  }
  return values;
}

}  // namespace

MetaTensor GatherNdInferMeta(const MetaTensor& x, const MetaTensor& index, int batch_dims) {
  CheckIndexType(index);
  const auto part = PartDims(x, index, batch_dims);
  if (!part) return MetaTensor::UnknownRank(x.dtype);
  MetaTensor out(x.dtype, std::vector<Dim>(index.dims.begin(), index.dims.end() - 1));
  out.dims.insert(out.dims.end(), part->begin(), part->end());
  if (batch_dims == 0 && index.dims.back() == Dim(1)) SetValues(&out, PickedValues(x, index));
  return out;
}

MetaTensor ScatterNdInferMeta(const MetaTensor& x, const MetaTensor& index, const MetaTensor& updates,
                              const std::string& reduce) {
  CheckIndexType(index);
  CheckSameType(x, updates, "updates");
  CheckReduce(reduce, {"assign", "add", "mul", "max", "min"});
  const auto part = PartDims(x, index, 0);
  if (part && updates.rank_known) {
    std::vector<Dim> wanted(index.dims.begin(), index.dims.end() - 1);
    wanted.insert(wanted.end(), part->begin(), part->end());
    WHERRY_ENFORCE(SameDims(updates.dims, wanted), kInvalidArgument, "updates are ", DimsText(updates.dims),
                   ", expected ", DimsText(wanted), " for x ", DimsText(x.dims), " and index ", DimsText(index.dims));
  }
  return Copied(x);
}

MetaTensor TakeAlongAxisInferMeta(const MetaTensor& x, const MetaTensor& index, int axis) {
  CheckAlongAxis(x, index, axis);
  if (!x.rank_known || !index.rank_known) return MetaTensor::UnknownRank(x.dtype);
  MetaTensor out(x.dtype, index.dims);
  SetValues(&out, PickedValues(x, index));
  return out;
}

MetaTensor PutAlongAxisInferMeta(const MetaTensor& x, const MetaTensor& index, const MetaTensor& value, int axis,
                                 const std::string& reduce) {
  CheckAlongAxis(x, index, axis);
  CheckSameType(x, value, "value");
  CheckReduce(reduce, {"assign", "add", "mul", "max", "min", "mean"});
  WHERRY_ENFORCE(!value.rank_known || !index.rank_known || SameDims(value.dims, index.dims), kInvalidArgument,
                 "value is ", DimsText(value.dims), ", index ", DimsText(index.dims), ": expected one shape");
  return Copied(x);
}

MetaTensor GatherTreeInferMeta(const MetaTensor& ids, const MetaTensor& parents) {
  CheckSameType(ids, parents, "parents");
  WHERRY_ENFORCE(!ids.rank_known || ids.rank() == 3, kInvalidArgument, "ids are ", ids.DebugString(),
                 ", expected [time, batch, beam]");
  WHERRY_ENFORCE(!ids.rank_known || !parents.rank_known || SameDims(ids.dims, parents.dims), kInvalidArgument,
                 "ids are ", DimsText(ids.dims), ", parents ", DimsText(parents.dims), ": expected one shape");
  return Copied(ids);
}

MetaTensor SetValueInferMeta(const MetaTensor& x, const MetaTensor& value, const std::vector<int64_t>& axes,
                             const SymIntArray& starts, const SymIntArray& ends, const SymIntArray& steps) {
  CheckSameType(x, value, "value");
  const auto check = [&axes](const char* name, const SymIntArray& list) {
    WHERRY_ENFORCE(!list.known() || list.values->size() == axes.size(), kInvalidArgument, name, " have ",
                   list.values->size(), " entries for ", axes.size(), " axes");
  };
  check("starts", starts);
  check("ends", ends);
  check("steps", steps);
  if (const auto numbers = KnownNumbers(steps)) {
    for (const int64_t step : *numbers) {
      WHERRY_ENFORCE(step != 0 && step > INT64_MIN, kInvalidArgument, "steps are [", Join(*numbers, ", "),
                     "], expected no 0");
    }
  }
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  const std::vector<int> normalized = NormalizeAxes(axes, x.rank(), "axes");
  const auto first = KnownNumbers(starts);
  const auto last = KnownNumbers(ends);
  const auto by = KnownNumbers(steps);
  if (!first || !last || !by || !value.rank_known) return Copied(x);
  std::vector<Dim> part = x.dims;
  for (size_t i = 0; i < normalized.size(); ++i) {
    Dim& dim = part[static_cast<size_t>(normalized[i])];
    if (!dim.known()) return Copied(x);
    dim = ResolveSlice(dim.value(), (*first)[i], (*last)[i], (*by)[i]).count;
  }
  std::vector<Dim> given = value.dims;
  while (given.size() > part.size() && given.front() == Dim(1)) given.erase(given.begin());
  bool fits = given.size() <= part.size();
  for (size_t i = 1; fits && i <= given.size(); ++i) {
    const Dim& dim = given[given.size() - i];
    fits = dim == Dim(1) || !Conflict(dim, part[part.size() - i]);
  }
  // A part without elements takes nothing, whatever is given.
  fits = fits || std::find(part.begin(), part.end(), Dim(0)) != part.end();
  WHERRY_ENFORCE(fits, kInvalidArgument, "value ", DimsText(value.dims), " does not broadcast to the part ",
                 DimsText(part), " of x ", DimsText(x.dims));
  return Copied(x);
}

}  // namespace wherry
