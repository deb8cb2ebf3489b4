#include <algorithm>
#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

MetaTensor Reduce(const MetaTensor& x, const SymIntArray& axis, bool keepdim, DataType dtype) {
  const std::optional<std::vector<int64_t>> numbers = KnownNumbers(axis);
  if (!x.rank_known || !numbers) {
    // All axes, nothing kept: a scalar whatever the rank.
    if (numbers && numbers->empty() && !keepdim) return MetaTensor(dtype, {});
    return MetaTensor::UnknownRank(dtype);
  }
  const std::vector<int> axes = NormalizeAxes(*numbers, x.rank(), "axis");
  MetaTensor out(dtype, {});
  for (int i = 0; i < x.rank(); ++i) {
    const bool reduced = axes.empty() || std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!reduced) {
      out.dims.push_back(x.dims[static_cast<size_t>(i)]);
    } else if (keepdim) {
      out.dims.emplace_back(1);
    }
  }
  if (out.rank() == x.rank()) out.layout = x.layout;
  return out;
}

DataType SumType(DataType dtype) { return dtype == DataType::kBool ? DataType::kInt64 : dtype; }

// Folds the values of a vector (or scalar) into one: how models compute the number of elements of a shape.
template <typename Fold>
MetaTensor ReduceValues(const MetaTensor& x, const SymIntArray& axis, bool keepdim, int64_t start, Fold fold) {
  MetaTensor out = Reduce(x, axis, keepdim, SumType(x.dtype));
  if (!x.values || x.rank() > 1 || !out.rank_known || !(out.dims.empty() || out.dims[0] == Dim(1))) return out;
  try {
    Dim result = start;
    for (const Dim& value : *x.values) result = fold(result, value);
    SetValues(&out, std::vector<Dim>{result});
  } catch (const Error&) {
    out.values.reset();  // beyond 64 bits
  }
  return out;
}

}  // namespace

MetaTensor ReduceInferMeta(const MetaTensor& x, const SymIntArray& axis, bool keepdim) {
  return Reduce(x, axis, keepdim, x.dtype);
}

MetaTensor SumInferMeta(const MetaTensor& x, const SymIntArray& axis, bool keepdim) {
  return ReduceValues(x, axis, keepdim, 0, [](const Dim& a, const Dim& b) { return a + b; });
}

MetaTensor ProdInferMeta(const MetaTensor& x, const SymIntArray& axis, bool keepdim) {
  return ReduceValues(x, axis, keepdim, 1, [](const Dim& a, const Dim& b) { return a * b; });
}

MetaTensor ArgMinMaxInferMeta(const MetaTensor& x, int64_t axis, bool keepdims, bool flatten, DataType dtype,
                              bool /*select_last*/) {
  WHERRY_ENFORCE(dtype == DataType::kInt64 || dtype == DataType::kInt32, kInvalidArgument, "dtype is ", ToString(dtype),
                 ", expected i32 or i64");
  if (!x.rank_known) return flatten && !keepdims ? MetaTensor(dtype, {}) : MetaTensor::UnknownRank(dtype);
  if (flatten) {
    WHERRY_ENFORCE(std::find(x.dims.begin(), x.dims.end(), Dim(0)) == x.dims.end(), kInvalidArgument, "x ",
                   DimsText(x.dims), " is empty: there is no extreme element");
    return MetaTensor(dtype, std::vector<Dim>(keepdims ? x.dims.size() : 0, Dim(1)));
  }
  const size_t reduced = static_cast<size_t>(NormalizeAxis(axis, x.dims.empty() ? 1 : x.rank(), "axis"));
  MetaTensor out(dtype, x.dims);
  if (out.dims.empty()) return out;
  WHERRY_ENFORCE(out.dims[reduced] != Dim(0), kInvalidArgument, "x ", DimsText(x.dims), " is empty along axis ",
                 reduced, ": there is no extreme element");
  if (keepdims) {
    out.dims[reduced] = 1;
  } else {
    out.dims.erase(out.dims.begin() + static_cast<std::ptrdiff_t>(reduced));
  }
  return out;
}

}  // namespace wherry
