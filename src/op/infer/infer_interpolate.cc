#include <numeric>
#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"
#include "op/infer/resample.h"
#include "op/unknown_dim.h"

namespace wherry {
namespace {

void CheckFloats(const MetaTensor* tensor, const char* name, size_t count) {
  if (tensor == nullptr) return;
  WHERRY_ENFORCE(tensor->dtype == DataType::kFloat || tensor->dtype == DataType::kFP64, kInvalidArgument, name, " is ",
                 tensor->DebugString(), ", expected f32 or f64");
  WHERRY_ENFORCE(!tensor->rank_known || (tensor->rank() == 1 && !Conflict(tensor->dims[0], Dim(int64_t(count)))),
                 kInvalidArgument, name, " is ", tensor->DebugString(), ", expected ", count, " elements");
}

}  // namespace

MetaTensor InterpolateInferMeta(const MetaTensor& x, const MetaTensor* roi, const MetaTensor* scale_tensor,
                                const SymIntArray& size, const std::vector<int64_t>& axes,
                                const std::vector<double>& scale, const std::string& mode,
                                const std::string& coordinates, const std::string& nearest_mode,
                                const std::string& keep_aspect_ratio, bool recompute_scale, float cubic_coefficient,
                                bool exclude_outside, bool antialias, float /*extrapolation_value*/) {
  const ResampleRule rule = ParseResampleRule(mode, coordinates, nearest_mode, keep_aspect_ratio, recompute_scale,
                                              cubic_coefficient, exclude_outside, antialias);
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  std::vector<int> resampled = NormalizeAxes(axes, x.rank(), "axes");
  if (axes.empty()) {
    resampled.resize(x.dims.size());
    std::iota(resampled.begin(), resampled.end(), 0);
  }
  const size_t count = resampled.size();
  CheckFloats(roi, "roi", 2 * count);
  CheckFloats(scale_tensor, "scale_tensor", count);
  WHERRY_ENFORCE(scale.empty() || scale.size() == count, kInvalidArgument, "scale has ", scale.size(), " entries for ",
                 count, " axes");
  WHERRY_ENFORCE(scale.empty() || scale_tensor == nullptr, kInvalidArgument, "scale and scale_tensor are both there");
  const bool has_size = !size.known() || !size.values->empty();
  WHERRY_ENFORCE(has_size || !scale.empty() || count == 0, kInvalidArgument,
                 scale_tensor == nullptr ? "there is neither size nor scale" : "scale_tensor needs size");
  WHERRY_ENFORCE(!size.known() || size.values->empty() || size.values->size() == count, kInvalidArgument, "size is ",
                 DimsText(*size.values), " for ", count, " axes");

  MetaTensor out(x.dtype, x.dims);
  out.layout = x.layout;
  std::vector<int64_t> numbers;
  std::vector<int64_t> extents;
  for (size_t i = 0; i < count; ++i) {
    const Dim& in = x.dims[static_cast<size_t>(resampled[i])];
    Dim& dim = out.dims[static_cast<size_t>(resampled[i])];
    if (!has_size) {
      dim = ScaledExtent(in, scale[i]);
      continue;
    }
    if (!size.known()) {
      dim = kUnknownDim;
      continue;
    }
    dim = (*size.values)[i];
    WHERRY_ENFORCE(!dim.known() || dim.value() >= 0, kInvalidArgument, "size is ", DimsText(*size.values));
    WHERRY_ENFORCE(!(in == Dim(0)) || !dim.known() || dim == Dim(0), kInvalidArgument, "axis ", resampled[i], " of x ",
                   DimsText(x.dims), " is empty and would become ", dim.DebugString(), " elements");
    if (in.known() && dim.known()) {
      numbers.push_back(dim.value());
      extents.push_back(in.value());
    }
  }
  if (!has_size || !size.known() || rule.policy == AspectRatioPolicy::kStretch) return out;
  // The common scale needs all of them.
  if (numbers.size() == count) {
    std::vector<int> positions(count);
    std::iota(positions.begin(), positions.end(), 0);
    const std::vector<ResampleAxis> resolved =
        ResolveResampleAxes(rule, positions, Shape(extents.data(), extents.size()), numbers, scale);
    for (size_t i = 0; i < count; ++i) out.dims[static_cast<size_t>(resampled[i])] = resolved[i].out;
  } else {
    for (const int axis : resampled) out.dims[static_cast<size_t>(axis)] = kUnknownDim;
  }
  return out;
}

}  // namespace wherry
