#include <numeric>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/floats.h"
#include "kernels/ref/strided.h"
#include "op/infer/resample.h"

namespace wherry::ref {
namespace {

struct Axis {
  int axis;
  int64_t stride;  // in x
  ResampleTable table;
};

// The sum over the taps of axes[depth] and those after it of the element at `out`, from `from` on.
template <typename T>
double Blend(const T* from, const std::vector<Axis>& axes, size_t depth, const Odometer<1>& out) {
  if (depth == axes.size()) return static_cast<double>(Load(*from));
  const auto& [axis, stride, table] = axes[depth];
  const int64_t first = out.position(axis) * table.taps;
  double sum = 0.0;
  for (int64_t t = first; t < first + table.taps; ++t) {
    const double weight = table.weight[static_cast<size_t>(t)];
    // An axis that stays as it is must not bring in the infinities and NaN of its neighbours, 0 times which is NaN.
    if (weight == 0.0) continue;
    sum += weight * Blend(from + table.index[static_cast<size_t>(t)] * stride, axes, depth + 1, out);
  }
  return sum;
}

template <typename T>
void Interpolate(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor* roi,
                 const DenseTensor* scale_tensor, const IntArray& size, const std::vector<int64_t>& axes,
                 const std::vector<double>& scale, const std::string& mode, const std::string& coordinates,
                 const std::string& nearest_mode, const std::string& keep_aspect_ratio, bool recompute_scale,
                 float cubic_coefficient, bool exclude_outside, bool antialias, float extrapolation_value,
                 DenseTensor* out) {
  const ResampleRule rule = ParseResampleRule(mode, coordinates, nearest_mode, keep_aspect_ratio, recompute_scale,
                                              cubic_coefficient, exclude_outside, antialias);
  const int rank = x.shape().rank();
  std::vector<int> resampled(axes.empty() ? static_cast<size_t>(rank) : axes.size());
  std::iota(resampled.begin(), resampled.end(), 0);
  for (size_t i = 0; i < axes.size(); ++i) resampled[i] = static_cast<int>(axes[i] < 0 ? axes[i] + rank : axes[i]);
  const std::vector<double> scales = scale_tensor == nullptr ? scale : FloatsOf(*scale_tensor);
  const std::vector<double> rois = roi == nullptr ? std::vector<double>() : FloatsOf(*roi);
  const std::vector<int64_t> sizes(size.begin(), size.end());
  const Strides strides = RowMajorStrides(x.shape());
  std::vector<Axis> tables;
  for (ResampleAxis& axis : ResolveResampleAxes(rule, resampled, x.shape(), sizes, scales)) {
    if (roi != nullptr) {
      axis.roi_begin = rois[tables.size()];
      axis.roi_end = rois[tables.size() + resampled.size()];
    }
    tables.push_back({axis.axis, strides[static_cast<size_t>(axis.axis)], MakeResampleTable(rule, axis)});
  }
  // What is not resampled is walked.
  Strides walked = strides;
  for (const int axis : resampled) walked[static_cast<size_t>(axis)] = 0;
  const T extrapolated = FromDouble<T>(static_cast<double>(extrapolation_value));
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  Odometer<1> at(out->shape(), {walked});
  for (int64_t i = 0, count = out->numel(); i < count; ++i, at.Next()) {
    int64_t offset = at.offset(0);
    bool outside = false;
    for (const Axis& axis : tables) {
      const auto position = static_cast<size_t>(at.position(axis.axis));
      outside = outside || axis.table.outside[position] != 0;
      if (rule.mode == ResampleMode::kNearest) offset += axis.table.index[position] * axis.stride;
    }
    if (outside) {
      to[i] = extrapolated;
    } else if (rule.mode == ResampleMode::kNearest) {
      to[i] = from[offset];
    } else {
      to[i] = FromDouble<T>(Blend(from + offset, tables, 0, at));
    }
  }
}

}  // namespace

REGISTER_KERNEL(interpolate, ref, kHost, kNCHW, Interpolate, WHERRY_REF_ALL);

}  // namespace wherry::ref
