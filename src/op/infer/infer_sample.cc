// Operators that sample images, and roll.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"
#include "op/infer/patches.h"
#include "op/unknown_dim.h"

namespace wherry {

MetaTensor GridSampleInferMeta(const MetaTensor& x, const MetaTensor& grid, const std::string& mode,
                               const std::string& padding_mode, bool /*align_corners*/) {
  WHERRY_ENFORCE(mode == "nearest" || mode == "linear" || mode == "cubic", kInvalidArgument, "mode is '", mode,
                 "', expected 'nearest', 'linear' or 'cubic'");
  WHERRY_ENFORCE(padding_mode == "zeros" || padding_mode == "border" || padding_mode == "reflection", kInvalidArgument,
                 "padding_mode is '", padding_mode, "', expected 'zeros', 'border' or 'reflection'");
  if (!x.rank_known || !grid.rank_known) return MetaTensor::UnknownRank(x.dtype);
  WHERRY_ENFORCE(x.rank() >= 3 && grid.rank() == x.rank(), kInvalidArgument, "x is ", x.DebugString(), ", grid is ",
                 grid.DebugString(), ": expected [batch, channels, ...] and as many axes");
  WHERRY_ENFORCE(!Conflict(grid.dims.back(), Dim(x.rank() - 2)) && !Conflict(grid.dims[0], x.dims[0]), kInvalidArgument,
                 "grid ", DimsText(grid.dims), " does not fit x ", DimsText(x.dims));
  MetaTensor out(x.dtype, {MergeDims(x.dims[0], grid.dims[0]), x.dims[1]});
  out.dims.insert(out.dims.end(), grid.dims.begin() + 1, grid.dims.end() - 1);
  return out;
}

MetaTensor AffineGridInferMeta(const MetaTensor& theta, const SymIntArray& size, bool /*align_corners*/) {
  WHERRY_ENFORCE(!theta.rank_known || theta.rank() == 3, kInvalidArgument, "theta is ", theta.DebugString(),
                 ", expected [batch, axes, axes + 1]");
  if (!theta.rank_known || !theta.dims[1].known()) return MetaTensor::UnknownRank(theta.dtype);
  const int64_t axes = theta.dims[1].value();
  constexpr int64_t kMostAxes = 8;
  WHERRY_ENFORCE(axes >= 1 && axes <= kMostAxes && !Conflict(theta.dims[2], Dim(axes + 1)), kInvalidArgument,
                 "theta is ", theta.DebugString(), ", expected [batch, axes, axes + 1]");
  MetaTensor out(theta.dtype, {theta.dims[0]});
  for (int64_t i = 0; i < axes; ++i) out.dims.emplace_back(kUnknownDim);
  out.dims.emplace_back(axes);
  if (!size.known()) return out;
  WHERRY_ENFORCE(static_cast<int64_t>(size.values->size()) == axes + 2, kInvalidArgument, "size is ",
                 DimsText(*size.values), ", expected the batch, the channels and ", axes, " extents");
  WHERRY_ENFORCE(!Conflict((*size.values)[0], theta.dims[0]), kInvalidArgument, "size is ", DimsText(*size.values),
                 ", theta is ", theta.DebugString());
  std::copy(size.values->begin() + 2, size.values->end(), out.dims.begin() + 1);
  return out;
}

MetaTensor RoiAlignInferMeta(const MetaTensor& x, const MetaTensor& rois, const MetaTensor* batch_index,
                             const MetaTensor* rois_num, int64_t pooled_height, int64_t pooled_width,
                             float spatial_scale, int64_t sampling_ratio, bool /*aligned*/, const std::string& mode) {
  WHERRY_ENFORCE(pooled_height >= 1 && pooled_width >= 1, kInvalidArgument, "the result would be ", pooled_height,
                 " x ", pooled_width);
  WHERRY_ENFORCE(mode == "avg" || mode == "max", kInvalidArgument, "mode is '", mode, "', expected 'avg' or 'max'");
  constexpr int64_t kMostSamples = 4096;
  WHERRY_ENFORCE(sampling_ratio <= kMostSamples, kInvalidArgument, "sampling_ratio is ", sampling_ratio);
  WHERRY_ENFORCE(std::isfinite(spatial_scale), kInvalidArgument, "spatial_scale is ", spatial_scale);
  WHERRY_ENFORCE(batch_index == nullptr || rois_num == nullptr, kInvalidArgument,
                 "batch_index and rois_num are both there");
  for (const MetaTensor* list : {batch_index, rois_num}) {
    WHERRY_ENFORCE(list == nullptr || list->dtype == DataType::kInt64 || list->dtype == DataType::kInt32,
                   kInvalidArgument, "the images of rois are ", list->DebugString(), ", expected i32 or i64");
  }
  WHERRY_ENFORCE(!x.rank_known || x.rank() == 4, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected [batch, channels, height, width]");
  WHERRY_ENFORCE(!rois.rank_known || (rois.rank() == 2 && !Conflict(rois.dims[1], Dim(4))), kInvalidArgument,
                 "rois is ", rois.DebugString(), ", expected [count, 4]");
  const Dim count = rois.rank_known ? rois.dims[0] : Dim(kUnknownDim);
  return MetaTensor(x.dtype, {count, x.rank_known ? x.dims[1] : Dim(kUnknownDim), pooled_height, pooled_width});
}

MetaTensor UnfoldInferMeta(const MetaTensor& x, const std::vector<int64_t>& kernel_sizes,
                           const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                           const std::vector<int64_t>& dilations) {
  const Patches patches = ParsePatches(kernel_sizes, strides, paddings, dilations);
  if (!x.rank_known) return MetaTensor(x.dtype, {kUnknownDim, kUnknownDim, kUnknownDim});
  WHERRY_ENFORCE(x.dims.size() == patches.axes.size() + 2, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected [batch, channels] and ", patches.axes.size(), " more axes");
  Dim count = 1;
  for (size_t i = 0; i < patches.axes.size(); ++i) count = count * PatchCount(patches.axes[i], x.dims[i + 2]);
  return MetaTensor(x.dtype, {x.dims[0], x.dims[1] * Dim(patches.elements), count});
}

MetaTensor FoldInferMeta(const MetaTensor& x, const SymIntArray& output_sizes, const SymIntArray& kernel_sizes,
                         const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                         const std::vector<int64_t>& dilations) {
  WHERRY_ENFORCE(!x.rank_known || x.rank() == 3, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected [batch, channels * elements of a patch, patches]");
  const std::optional<int64_t> axes = output_sizes.known() ? output_sizes.values->size() : kernel_sizes.count;
  if (!axes) return MetaTensor::UnknownRank(x.dtype);
  WHERRY_ENFORCE(*axes >= 1 && *axes <= Shape::kMaxRank - 2, kInvalidArgument, "patches have ", *axes, " axes");
  MetaTensor out(x.dtype, std::vector<Dim>(static_cast<size_t>(*axes) + 2, Dim(kUnknownDim)));
  if (x.rank_known) out.dims[0] = x.dims[0];
  if (output_sizes.known()) std::copy(output_sizes.values->begin(), output_sizes.values->end(), out.dims.begin() + 2);
  const std::optional<std::vector<int64_t>> kernel = KnownNumbers(kernel_sizes);
  if (!kernel) return out;
  const Patches patches = ParsePatches(*kernel, strides, paddings, dilations);
  WHERRY_ENFORCE(static_cast<int64_t>(kernel->size()) == *axes, kInvalidArgument, "kernel_sizes are ",
                 DimsText(*kernel_sizes.values), " for ", *axes, " axes");
  if (!x.rank_known) return out;
  WHERRY_ENFORCE(!x.dims[1].known() || x.dims[1].value() % patches.elements == 0, kInvalidArgument, "x ",
                 DimsText(x.dims), " does not have patches of ", patches.elements, " elements");
  out.dims[1] = FloorDiv(x.dims[1], patches.elements);
  if (!output_sizes.known()) return out;
  Dim count = 1;
  for (size_t i = 0; i < patches.axes.size(); ++i) count = count * PatchCount(patches.axes[i], out.dims[i + 2]);
  WHERRY_ENFORCE(!Conflict(count, x.dims[2]), kInvalidArgument, "x ", DimsText(x.dims), " has ",
                 x.dims[2].DebugString(), " patches, a result of ", DimsText(*output_sizes.values), " has ",
                 count.DebugString());
  return out;
}

MetaTensor RollInferMeta(const MetaTensor& x, const SymIntArray& shifts, const std::vector<int64_t>& axis) {
  const size_t count = axis.empty() ? 1 : axis.size();
  WHERRY_ENFORCE(!shifts.known() || shifts.values->size() == count, kInvalidArgument, "shifts are ",
                 DimsText(*shifts.values), " for ", count, " axes");
  if (x.rank_known) {
    for (const int64_t a : axis) NormalizeAxis(a, x.rank(), "axis");
  }
  MetaTensor out = x.WithoutValues();
  out.pixel_stride = 0;
  return out;
}

}  // namespace wherry
