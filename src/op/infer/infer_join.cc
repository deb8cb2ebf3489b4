// Joins, parts and repetitions.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "core/promote.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"
#include "op/infer/pad_mode.h"
#include "op/unknown_dim.h"

namespace wherry {
namespace {

DataType JoinedType(const std::vector<const MetaTensor*>& x) {
  WHERRY_ENFORCE(!x.empty(), kInvalidArgument, "x is an empty list, expected at least one tensor");
  DataType dtype = x[0]->dtype;
  for (const MetaTensor* part : x) dtype = PromoteTypes(dtype, part->dtype);
  return dtype;
}

// The values of all parts one after another; nullopt when one of them is not known.
std::optional<std::vector<Dim>> JoinedValues(const std::vector<const MetaTensor*>& x) {
  std::vector<Dim> values;
  for (const MetaTensor* part : x) {
    if (part->values) {
      values.insert(values.end(), part->values->begin(), part->values->end());
    } else if (part->numel() != Dim(0)) {
      return std::nullopt;
    }
  }
  return values;
}

bool RanksKnown(const std::vector<const MetaTensor*>& x) {
  return std::all_of(x.begin(), x.end(), [](const MetaTensor* part) { return part->rank_known; });
}

// The dimensions that all parts have, but for `except`.
std::vector<Dim> CommonDims(const std::vector<const MetaTensor*>& x, size_t except) {
  std::vector<Dim> dims = x[0]->dims;
  for (size_t i = 1; i < x.size(); ++i) {
    const std::vector<Dim>& own = x[i]->dims;
    bool fits = own.size() == dims.size();
    for (size_t d = 0; fits && d < dims.size(); ++d) {
      fits = d == except || !Conflict(own[d], dims[d]);
      if (d != except) dims[d] = MergeDims(dims[d], own[d]);
    }
    WHERRY_ENFORCE(fits, kInvalidArgument, "x[0] ", DimsText(x[0]->dims), " and x[", i, "] ", DimsText(own),
                   " do not fit together");
  }
  return dims;
}

}  // namespace

MetaTensor ConcatInferMeta(const std::vector<const MetaTensor*>& x, int axis) {
  const DataType dtype = JoinedType(x);
  if (!RanksKnown(x)) return MetaTensor::UnknownRank(dtype);
  WHERRY_ENFORCE(!x[0]->dims.empty(), kInvalidArgument, "x[0] is a scalar, which has no axis to join along");
  const size_t along = static_cast<size_t>(NormalizeAxis(axis, x[0]->rank(), "axis"));
  MetaTensor out(dtype, CommonDims(x, along));
  Dim total = 0;
  for (const MetaTensor* part : x) total = total + part->dims[along];
  out.dims[along] = total;
  out.layout = x[0]->layout;
  for (const MetaTensor* part : x) {
    if (part->layout != out.layout) out.layout = DataLayout::kNCHW;
  }
  if (along == 0 && MayHaveValues(out)) SetValues(&out, JoinedValues(x));
  return out;
}

MetaTensor StackInferMeta(const std::vector<const MetaTensor*>& x, int axis) {
  const DataType dtype = JoinedType(x);
  if (!RanksKnown(x)) return MetaTensor::UnknownRank(dtype);
  const int at = NormalizeAxis(axis, x[0]->rank() + 1, "axis");
  MetaTensor out(dtype, CommonDims(x, x[0]->dims.size()));
  out.dims.insert(out.dims.begin() + at, Dim(static_cast<int64_t>(x.size())));
  if (at == 0 && MayHaveValues(out)) SetValues(&out, JoinedValues(x));
  return out;
}

std::vector<MetaTensor> SplitInferMeta(const MetaTensor& x, const SymIntArray& sections, int axis) {
  WHERRY_ENFORCE(sections.known() || sections.count, kInvalidArgument, "the number of sections is not known");
  // Nothing bounds the length of a tensor whose values are not known.
  constexpr int64_t kMostSections = 1 << 16;
  WHERRY_ENFORCE(sections.known() || *sections.count <= kMostSections, kUnsupported, *sections.count,
                 " sections, at most ", kMostSections, " are supported");
  if (!sections.known() || !x.rank_known) {
    const int64_t count = sections.known() ? static_cast<int64_t>(sections.values->size()) : *sections.count;
    MetaTensor piece = MetaTensor::UnknownRank(x.dtype);
    if (x.rank_known) {
      piece = MetaTensor(x.dtype, x.dims);
      piece.dims[static_cast<size_t>(NormalizeAxis(axis, x.rank(), "axis"))] = kUnknownDim;
    }
    return std::vector<MetaTensor>(static_cast<size_t>(count), piece);
  }
  const size_t along = static_cast<size_t>(NormalizeAxis(axis, x.rank(), "axis"));
  std::vector<Dim> sizes = *sections.values;
  std::optional<size_t> rest;
  Dim total = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == Dim(-1)) {
      WHERRY_ENFORCE(!rest, kInvalidArgument, "sections ", DimsText(*sections.values), " have -1 twice");
      rest = i;
      continue;
    }
    WHERRY_ENFORCE(!sizes[i].known() || sizes[i].value() >= 0, kInvalidArgument, "sections are ",
                   DimsText(*sections.values));
    total = total + sizes[i];
  }
  const Dim extent = x.dims[along];
  if (rest) sizes[*rest] = extent - total;
  const bool fits = rest ? !sizes[*rest].known() || sizes[*rest].value() >= 0 : !Conflict(total, extent);
  WHERRY_ENFORCE(fits, kInvalidArgument, "sections ", DimsText(*sections.values), " do not make up axis ", along,
                 " of x ", DimsText(x.dims));
  std::vector<MetaTensor> outs;
  size_t begin = 0;
  for (const Dim& size : sizes) {
    MetaTensor out(x.dtype, x.dims);
    out.dims[along] = size;
    out.layout = x.layout;
    if (x.values && x.rank() == 1) {  // then all sizes are numbers
      const size_t end = begin + static_cast<size_t>(size.value());
      SetValues(&out, std::vector<Dim>(x.values->begin() + static_cast<std::ptrdiff_t>(begin),
                                       x.values->begin() + static_cast<std::ptrdiff_t>(end)));
      begin = end;
    }
    outs.push_back(std::move(out));
  }
  return outs;
}

MetaTensor ExpandInferMeta(const MetaTensor& x, const SymIntArray& shape) {
  if (!x.rank_known || (!shape.known() && (!shape.count || *shape.count > Shape::kMaxRank)))
    return MetaTensor::UnknownRank(x.dtype);
  if (!shape.known()) {
    const size_t rank = std::max(x.dims.size(), static_cast<size_t>(*shape.count));
    return MetaTensor(x.dtype, std::vector<Dim>(rank, Dim(kUnknownDim)));
  }
  std::vector<Dim> wanted = *shape.values;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == Dim(-1)) {
      const size_t from_end = wanted.size() - i;
      wanted[i] = from_end <= x.dims.size() ? x.dims[x.dims.size() - from_end] : Dim(1);
    }
    WHERRY_ENFORCE(!wanted[i].known() || wanted[i].value() >= 0, kInvalidArgument, "shape is ",
                   DimsText(*shape.values));
  }
  MetaTensor out(x.dtype, BroadcastDims(x, MetaTensor(x.dtype, std::move(wanted)), "x", "shape"));
  if (x.values && MayHaveValues(out)) {
    std::vector<Dim> values;
    for (const size_t index : BroadcastIndices(out.dims, x.dims)) values.push_back((*x.values)[index]);
    SetValues(&out, std::move(values));
  }
  return out;
}

MetaTensor TileInferMeta(const MetaTensor& x, const SymIntArray& repeats) {
  if (!x.rank_known || !repeats.known()) return MetaTensor::UnknownRank(x.dtype);
  std::vector<Dim> times = *repeats.values;
  std::vector<Dim> dims = x.dims;
  const size_t rank = std::max(times.size(), dims.size());
  times.insert(times.begin(), rank - times.size(), Dim(1));
  dims.insert(dims.begin(), rank - dims.size(), Dim(1));
  for (size_t i = 0; i < rank; ++i) {
    WHERRY_ENFORCE(!times[i].known() || times[i].value() >= 0, kInvalidArgument, "repeats are ",
                   DimsText(*repeats.values));
    dims[i] = dims[i] * times[i];
  }
  return MetaTensor(x.dtype, std::move(dims));
}

MetaTensor PadInferMeta(const MetaTensor& x, const SymIntArray& paddings, const std::string& mode) {
  const bool repeats = ParsePadMode(mode) != PadMode::kConstant;
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  if (!paddings.known()) return MetaTensor(x.dtype, std::vector<Dim>(x.dims.size(), Dim(kUnknownDim)));
  const std::vector<Dim>& amounts = *paddings.values;
  const size_t rank = x.dims.size();
  WHERRY_ENFORCE(amounts.size() == 2 * rank, kInvalidArgument, "paddings are ", DimsText(amounts), ", expected ",
                 2 * rank, " numbers for x ", DimsText(x.dims));
  MetaTensor out(x.dtype, x.dims);
  for (size_t i = 0; i < rank; ++i) {
    const Dim& before = amounts[i];
    const Dim& after = amounts[rank + i];
    out.dims[i] = x.dims[i] + (before + after);
    WHERRY_ENFORCE(!out.dims[i].known() || out.dims[i].value() >= 0, kInvalidArgument, "paddings ", DimsText(amounts),
                   " crop more than axis ", i, " of x ", DimsText(x.dims), " has");
    const bool grows = (before.known() && before.value() > 0) || (after.known() && after.value() > 0);
    WHERRY_ENFORCE(!(repeats && grows && x.dims[i] == Dim(0)), kInvalidArgument, "mode ", mode,
                   " has nothing to repeat along axis ", i, " of x ", DimsText(x.dims));
  }
  out.layout = x.layout;
  return out;
}

}  // namespace wherry
