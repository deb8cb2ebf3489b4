// The same elements under another shape, and transpose.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

MetaTensor WithDims(const MetaTensor& x, std::vector<Dim> dims) {
  MetaTensor out(x.dtype, std::move(dims));
  out.values = x.values;
  return out;
}

// What -1 stands for: the elements of x over the product of the other entries. Dimensions that both have (copied zeros
// above all) are struck out first, so that an empty or symbolic one among them does not leave the answer open.
Dim RestDim(const MetaTensor& x, std::vector<Dim> others, const std::vector<Dim>& shape) {
  std::vector<Dim> elements;
  for (const Dim& dim : x.dims) {
    const auto same = std::find(others.begin(), others.end(), dim);
    if (same == others.end()) {
      elements.push_back(dim);
    } else {
      others.erase(same);
    }
  }
  const Dim total = Product(elements);
  const Dim divisor = Product(others);
  if (divisor.known() && divisor.value() == 0) {
    Throw(ErrorCode::kInvalidArgument, "x ", DimsText(x.dims), " as ", DimsText(shape),
          ": -1 could be anything beside an empty dimension");
  }
  if (total.known() && divisor.known()) {
    WHERRY_ENFORCE(total.value() % divisor.value() == 0, kInvalidArgument, "x ", DimsText(x.dims), " as ",
                   DimsText(shape), ": ", total.value(), " elements are no multiple of ", divisor.value());
    return total.value() / divisor.value();
  }
  const std::optional<Dim> exact = ExactDiv(total, divisor);
  return exact ? *exact : FloorDiv(total, divisor);  // it divides, or running it is an Error
}

}  // namespace

MetaTensor ReshapeInferMeta(const MetaTensor& x, const SymIntArray& shape, bool allow_zero) {
  if (!shape.known()) return MetaTensor::UnknownRank(x.dtype);
  const std::vector<Dim>& wanted = *shape.values;
  std::vector<Dim> dims;
  std::optional<size_t> rest;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Dim& entry = wanted[i];
    if (entry == Dim(-1)) {
      WHERRY_ENFORCE(!rest, kInvalidArgument, "shape ", DimsText(wanted), " has -1 twice");
      rest = i;
      dims.emplace_back(1);
    } else if (entry == Dim(0) && !allow_zero) {
      if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
      WHERRY_ENFORCE(i < x.dims.size(), kInvalidArgument, "shape ", DimsText(wanted), " copies dimension ", i, " of x ",
                     DimsText(x.dims));
      dims.push_back(x.dims[i]);
    } else {
      WHERRY_ENFORCE(!entry.known() || entry.value() >= 0, kInvalidArgument, "shape ", DimsText(wanted), " has ",
                     entry.DebugString());
      dims.push_back(entry);
    }
  }
  if (rest) {
    // Only a copied 0 can be struck out against x.
    WHERRY_ENFORCE(!allow_zero || std::find(dims.begin(), dims.end(), Dim(0)) == dims.end(), kInvalidArgument, "shape ",
                   DimsText(wanted), " has -1 beside an empty dimension");
    if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
    std::vector<Dim> others = dims;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*rest));
    dims[*rest] = RestDim(x, std::move(others), wanted);
  } else if (x.rank_known) {
    WHERRY_ENFORCE(!Conflict(x.numel(), Product(dims)), kInvalidArgument, "x ", DimsText(x.dims), " has ",
                   x.numel().DebugString(), " elements, shape ", DimsText(wanted), " has ",
                   Product(dims).DebugString());
  }
  return WithDims(x, std::move(dims));
}

MetaTensor SqueezeInferMeta(const MetaTensor& x, const SymIntArray& axis) {
  const std::optional<std::vector<int64_t>> numbers = KnownNumbers(axis);
  if (!x.rank_known || !numbers) return MetaTensor::UnknownRank(x.dtype);
  if (x.dims.empty()) return WithDims(x, {});
  const std::vector<int> axes = NormalizeAxes(*numbers, x.rank(), "axis");
  std::vector<Dim> dims;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& dim = x.dims[static_cast<size_t>(i)];
    // Whether a symbol is 1 cannot be known: one that is not named leaves the rank open.
    if (axes.empty() && !dim.known()) return MetaTensor::UnknownRank(x.dtype);
    const bool named = axes.empty() || std::find(axes.begin(), axes.end(), i) != axes.end();
    // A symbol that is named is taken to be 1: the model would be wrong otherwise.
    if (named && (!dim.known() || dim.value() == 1)) continue;
    dims.push_back(dim);
  }
  return WithDims(x, std::move(dims));
}

MetaTensor UnsqueezeInferMeta(const MetaTensor& x, const SymIntArray& axis) {
  const std::optional<std::vector<int64_t>> numbers = KnownNumbers(axis);
  if (!x.rank_known || !numbers) return MetaTensor::UnknownRank(x.dtype);
  const size_t rank = x.dims.size() + numbers->size();
  const std::vector<int> axes = NormalizeAxes(*numbers, static_cast<int>(rank), "axis");
  std::vector<Dim> dims(rank);
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    const bool added = std::find(axes.begin(), axes.end(), static_cast<int>(i)) != axes.end();
    dims[i] = added ? Dim(1) : x.dims[next++];
  }
  return WithDims(x, std::move(dims));
}

MetaTensor FlattenInferMeta(const MetaTensor& x, int start_axis, int stop_axis) {
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  const int rank = std::max(x.rank(), 1);
  const int start = NormalizeAxis(start_axis, rank, "start_axis");
  const int stop = NormalizeAxis(stop_axis, rank, "stop_axis");
  WHERRY_ENFORCE(start <= stop, kInvalidArgument, "start_axis ", start_axis, " lies behind stop_axis ", stop_axis,
                 " for x ", DimsText(x.dims));
  if (x.dims.empty()) return WithDims(x, {Dim(1)});
  std::vector<Dim> dims(x.dims.begin(), x.dims.begin() + start);
  dims.push_back(Product(std::vector<Dim>(x.dims.begin() + start, x.dims.begin() + stop + 1)));
  dims.insert(dims.end(), x.dims.begin() + stop + 1, x.dims.end());
  return WithDims(x, std::move(dims));
}

MetaTensor ShuffleChannelInferMeta(const MetaTensor& x, int groups) {
  WHERRY_ENFORCE(groups >= 1, kInvalidArgument, "groups is ", groups, ", expected at least 1");
  MetaTensor out = UnaryInferMeta(x);
  if (!x.rank_known) return out;
  WHERRY_ENFORCE(x.rank() >= 2, kInvalidArgument, "x has rank ", x.rank(), ", expected channels on axis 1");
  const Dim& channels = x.dims[1];
  WHERRY_ENFORCE(!channels.known() || channels.value() % groups == 0, kInvalidArgument, channels.DebugString(),
                 " channels are no multiple of ", groups, " groups");
  return out;
}

MetaTensor TransposeInferMeta(const MetaTensor& x, const std::vector<int64_t>& perm) {
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  std::vector<Dim> dims(x.dims.rbegin(), x.dims.rend());
  if (!perm.empty()) {
    WHERRY_ENFORCE(perm.size() == x.dims.size(), kInvalidArgument, "perm [", Join(perm, ", "), "] has ", perm.size(),
                   " entries for x ", DimsText(x.dims));
    const std::vector<int> axes = NormalizeAxes(perm, x.rank(), "perm");
    for (size_t i = 0; i < axes.size(); ++i) dims[i] = x.dims[static_cast<size_t>(axes[i])];
  }
  MetaTensor out(x.dtype, std::move(dims));
  if (out.rank() < 2) out.values = x.values;
  return out;
}

}  // namespace wherry
