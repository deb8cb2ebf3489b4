// Regions of images: found, and pooled.
#include <string>
#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

void CheckRegions(const MetaTensor& x, const MetaTensor& rois, const MetaTensor* rois_num, int64_t pooled_height,
                  int64_t pooled_width) {
  WHERRY_ENFORCE(pooled_height > 0 && pooled_width > 0, kInvalidArgument, "the parts are ", pooled_height, " x ",
                 pooled_width);
  WHERRY_ENFORCE(!x.rank_known || x.rank() == 4, kInvalidArgument, "x is ", x.DebugString(), ", expected [n, c, h, w]");
  WHERRY_ENFORCE(!rois.rank_known || (rois.rank() == 2 && !Conflict(rois.dims[1], Dim(4))), kInvalidArgument,
                 "rois are ", rois.DebugString(), ", expected [regions, 4]");
  const bool counted =
      rois_num == nullptr || rois_num->dtype == DataType::kInt32 || rois_num->dtype == DataType::kInt64;
  WHERRY_ENFORCE(counted, kInvalidArgument, "rois_num is ", rois_num->DebugString(), ", expected integers");
}

Dim RegionsOf(const MetaTensor& rois) { return rois.rank_known ? rois.dims[0] : Dim(); }

}  // namespace

std::vector<MetaTensor> RoiPoolInferMeta(const MetaTensor& x, const MetaTensor& rois, const MetaTensor* rois_num,
                                         int64_t pooled_height, int64_t pooled_width) {
  CheckRegions(x, rois, rois_num, pooled_height, pooled_width);
  if (!x.rank_known) return {MetaTensor::UnknownRank(x.dtype), MetaTensor::UnknownRank(DataType::kInt64)};
  const std::vector<Dim> dims = {RegionsOf(rois), x.dims[1], Dim(pooled_height), Dim(pooled_width)};
  return {MetaTensor(x.dtype, dims), MetaTensor(DataType::kInt64, dims)};
}

MetaTensor PsroiPoolInferMeta(const MetaTensor& x, const MetaTensor& rois, const MetaTensor* rois_num,
                              int64_t pooled_height, int64_t pooled_width, int64_t output_channels) {
  CheckRegions(x, rois, rois_num, pooled_height, pooled_width);
  constexpr int64_t kMost = int64_t{1} << 20;
  WHERRY_ENFORCE(output_channels > 0 && output_channels <= kMost && pooled_height <= kMost && pooled_width <= kMost,
                 kInvalidArgument, "output_channels is ", output_channels, " for ", pooled_height, " x ", pooled_width,
                 " parts");
  const Dim channels = Dim(output_channels) * Dim(pooled_height * pooled_width);
  WHERRY_ENFORCE(!x.rank_known || !Conflict(x.dims[1], channels), kInvalidArgument, "x is ", x.DebugString(),
                 ", expected ", channels.DebugString(), " channels");
  return MetaTensor(x.dtype, {RegionsOf(rois), Dim(output_channels), Dim(pooled_height), Dim(pooled_width)});
}

std::vector<MetaTensor> GenerateProposalsInferMeta(const MetaTensor& scores, const MetaTensor& bbox_deltas,
                                                   const MetaTensor& im_shape, const MetaTensor& anchors,
                                                   const MetaTensor& variances) {
  for (const MetaTensor* x : {&bbox_deltas, &im_shape, &anchors, &variances}) {
    WHERRY_ENFORCE(x->dtype == scores.dtype, kInvalidArgument, "scores are ", scores.DebugString(), ", another input ",
                   x->DebugString(), ": expected one type");
  }
  const std::vector<MetaTensor> out = {MetaTensor::UnknownRank(scores.dtype), MetaTensor::UnknownRank(scores.dtype),
                                       MetaTensor::UnknownRank(DataType::kInt32)};
  if (!scores.rank_known || !bbox_deltas.rank_known || !im_shape.rank_known) return out;
  const auto same = [&](size_t i) { return !Conflict(scores.dims[i], bbox_deltas.dims[i]); };
  const bool fits = scores.rank() == 4 && bbox_deltas.rank() == 4 && same(0) && same(2) && same(3) &&
                    !Conflict(scores.dims[1] * Dim(4), bbox_deltas.dims[1]) && im_shape.rank() == 2 &&
                    !Conflict(im_shape.dims[0], scores.dims[0]) &&
                    (!im_shape.dims[1].known() || im_shape.dims[1].value() >= 2);
  WHERRY_ENFORCE(fits, kInvalidArgument, "scores are ", scores.DebugString(), ", bbox_deltas ",
                 bbox_deltas.DebugString(), ", im_shape ", im_shape.DebugString(),
                 ": expected [n, a, h, w], [n, 4 a, h, w] and [n, 2]");
  const Dim numbers = scores.dims[1] * scores.dims[2] * scores.dims[3] * Dim(4);
  for (const MetaTensor* x : {&anchors, &variances}) {
    WHERRY_ENFORCE(!x->rank_known || !Conflict(x->numel(), numbers), kInvalidArgument, "anchors are ",
                   anchors.DebugString(), ", their variances ", variances.DebugString(), " for scores ",
                   scores.DebugString());
  }
  return out;
}

std::vector<MetaTensor> BipartiteMatchInferMeta(const MetaTensor& distance, const std::string& match_type) {
  WHERRY_ENFORCE(match_type == "bipartite" || match_type == "per_prediction", kInvalidArgument, "match_type is '",
                 match_type, "', expected bipartite or per_prediction");
  WHERRY_ENFORCE(!distance.rank_known || distance.rank() == 2, kInvalidArgument, "distance is ", distance.DebugString(),
                 ", expected rank 2");
  if (!distance.rank_known) return {MetaTensor::UnknownRank(DataType::kInt32), MetaTensor::UnknownRank(distance.dtype)};
  const std::vector<Dim> dims = {Dim(1), distance.dims[1]};
  return {MetaTensor(DataType::kInt32, dims), MetaTensor(distance.dtype, dims)};
}

MetaTensor LocalityAwareNmsInferMeta(const MetaTensor& boxes, const MetaTensor& scores) {
  return MulticlassNmsInferMeta(boxes, scores, nullptr)[0];
}

std::vector<MetaTensor> FractionalMaxPoolInferMeta(const MetaTensor& x, const std::vector<int64_t>& output_size,
                                                   const std::vector<int64_t>& kernel_size, float u) {
  const size_t axes = output_size.size();
  WHERRY_ENFORCE((axes == 2 || axes == 3) && kernel_size.size() == axes, kInvalidArgument, "output_size has ", axes,
                 " numbers, kernel_size ", kernel_size.size(), ", expected 2 or 3");
  WHERRY_ENFORCE(u > 0.0F && u < 1.0F, kInvalidArgument, "u is ", u, ", expected a number between 0 and 1");
  if (!x.rank_known) return {MetaTensor::UnknownRank(x.dtype), MetaTensor::UnknownRank(DataType::kInt32)};
  WHERRY_ENFORCE(x.dims.size() == axes + 2, kInvalidArgument, "x is ", x.DebugString(), " for ", axes,
                 " numbers of output_size");
  std::vector<Dim> dims(x.dims.begin(), x.dims.begin() + 2);
  for (size_t i = 0; i < axes; ++i) {
    const Dim& extent = x.dims[i + 2];
    const bool fits = output_size[i] > 0 && kernel_size[i] >= 0 &&
                      (!extent.known() || (output_size[i] <= extent.value() && kernel_size[i] <= extent.value()));
    WHERRY_ENFORCE(fits, kInvalidArgument, "axis ", i + 2, " of x ", x.DebugString(), " cannot be pooled to ",
                   output_size[i], " with windows of ", kernel_size[i]);
    dims.emplace_back(output_size[i]);
  }
  return {MetaTensor(x.dtype, dims), MetaTensor(DataType::kInt32, dims)};
}

}  // namespace wherry
