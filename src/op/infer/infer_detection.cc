// Boxes that detectors start from and find.
#include <utility>
#include <vector>

#include "base/check.h"
#include "op/infer/aspect_ratios.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

// boxes [n, m, 4] with scores [n, classes, m].
void CheckBoxes(const MetaTensor& boxes, const MetaTensor& scores) {
  WHERRY_ENFORCE(boxes.dtype == scores.dtype, kInvalidArgument, "boxes are ", boxes.DebugString(), ", scores ",
                 scores.DebugString(), ": expected one type");
  if (!boxes.rank_known || !scores.rank_known) return;
  const bool fits = boxes.rank() == 3 && scores.rank() == 3 && !Conflict(boxes.dims[0], scores.dims[0]) &&
                    !Conflict(boxes.dims[1], scores.dims[2]) && !Conflict(boxes.dims[2], Dim(4));
  WHERRY_ENFORCE(fits, kInvalidArgument, "boxes are ", DimsText(boxes.dims), ", expected [n, m, 4]; scores ",
                 DimsText(scores.dims), ", expected [n, classes, m]");
}

// boxes [rows, classes, 4] with scores [rows, classes].
void CheckBoxRows(const MetaTensor& boxes, const MetaTensor& scores, const MetaTensor& rois_num) {
  WHERRY_ENFORCE(boxes.dtype == scores.dtype, kInvalidArgument, "boxes are ", boxes.DebugString(), ", scores ",
                 scores.DebugString(), ": expected one type");
  WHERRY_ENFORCE(rois_num.dtype == DataType::kInt32 || rois_num.dtype == DataType::kInt64, kInvalidArgument,
                 "rois_num is ", rois_num.DebugString(), ", expected i32 or i64");
  if (!boxes.rank_known || !scores.rank_known) return;
  const bool fits = boxes.rank() == 3 && scores.rank() == 2 && !Conflict(boxes.dims[0], scores.dims[0]) &&
                    !Conflict(boxes.dims[1], scores.dims[1]) && !Conflict(boxes.dims[2], Dim(4));
  WHERRY_ENFORCE(fits, kInvalidArgument, "boxes are ", DimsText(boxes.dims), ", expected [rows, classes, 4]; scores ",
                 DimsText(scores.dims), ", expected [rows, classes]");
}

}  // namespace

MetaTensor NmsInferMeta(const MetaTensor& boxes, const MetaTensor& scores) {
  CheckBoxes(boxes, scores);
  return MetaTensor::UnknownRank(DataType::kInt64);
}

std::vector<MetaTensor> MulticlassNmsInferMeta(const MetaTensor& boxes, const MetaTensor& scores,
                                               const MetaTensor* rois_num) {
  if (rois_num == nullptr) {
    CheckBoxes(boxes, scores);
  } else {
    CheckBoxRows(boxes, scores, *rois_num);
  }
  const MetaTensor index = MetaTensor::UnknownRank(DataType::kInt32);
  return {MetaTensor::UnknownRank(boxes.dtype), index, index};
}

std::vector<MetaTensor> MatrixNmsInferMeta(const MetaTensor& boxes, const MetaTensor& scores) {
  return MulticlassNmsInferMeta(boxes, scores, nullptr);
}

std::vector<MetaTensor> YoloBoxInferMeta(const MetaTensor& x, const MetaTensor& img_size,
                                         const std::vector<int64_t>& anchors, int class_num, bool iou_aware) {
  const auto kinds = static_cast<int64_t>(anchors.size() / 2);
  WHERRY_ENFORCE(kinds > 0 && anchors.size() % 2 == 0 && class_num > 0, kInvalidArgument, "there are ", anchors.size(),
                 " numbers of anchors and ", class_num, " classes");
  WHERRY_ENFORCE(img_size.dtype == DataType::kInt32, kInvalidArgument, "img_size is ", img_size.DebugString(),
                 ", expected i32");
  if (!x.rank_known) return {MetaTensor::UnknownRank(x.dtype), MetaTensor::UnknownRank(x.dtype)};
  const int64_t channels = kinds * (5 + int64_t{class_num} + (iou_aware ? 1 : 0));
  WHERRY_ENFORCE(x.rank() == 4 && !Conflict(x.dims[1], Dim(channels)), kInvalidArgument, "x is ", DimsText(x.dims),
                 ", expected [n, ", channels, ", h, w]");
  WHERRY_ENFORCE(
      !img_size.rank_known ||
          (img_size.rank() == 2 && !Conflict(img_size.dims[0], x.dims[0]) && !Conflict(img_size.dims[1], Dim(2))),
      kInvalidArgument, "img_size is ", img_size.DebugString(), ", expected [n, 2] for x ", DimsText(x.dims));
  const Dim places = x.dims[2] * x.dims[3] * Dim(kinds);
  return {MetaTensor(x.dtype, {x.dims[0], places, Dim(4)}), MetaTensor(x.dtype, {x.dims[0], places, Dim(class_num)})};
}

std::vector<MetaTensor> PriorBoxInferMeta(const MetaTensor& input, const MetaTensor& image,
                                          const std::vector<double>& min_sizes, const std::vector<double>& max_sizes,
                                          const std::vector<double>& aspect_ratios,
                                          const std::vector<double>& variances, bool flip) {
  WHERRY_ENFORCE(!min_sizes.empty() && (max_sizes.empty() || max_sizes.size() == min_sizes.size()), kInvalidArgument,
                 "there are ", min_sizes.size(), " minimum and ", max_sizes.size(), " maximum sizes");
  WHERRY_ENFORCE(variances.size() == 4, kInvalidArgument, "there are ", variances.size(), " variances, expected 4");
  if (!input.rank_known || !image.rank_known)
    return {MetaTensor::UnknownRank(input.dtype), MetaTensor::UnknownRank(input.dtype)};
  WHERRY_ENFORCE(input.rank() == 4 && image.rank() == 4, kInvalidArgument, "input is ", DimsText(input.dims),
                 ", image ", DimsText(image.dims), ", expected rank 4");
  const size_t ratios = ExpandAspectRatios(aspect_ratios, flip).size();
  const size_t boxes = min_sizes.size() * ratios + max_sizes.size();
  const MetaTensor out(input.dtype, {input.dims[2], input.dims[3], Dim(static_cast<int64_t>(boxes)), Dim(4)});
  return {out, out};
}

}  // namespace wherry
