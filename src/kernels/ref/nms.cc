// Boxes of which the best of each group that overlaps stay.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "core/buffer.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/boxes.h"
#include "kernels/ref/element.h"
#include "kernels/ref/floats.h"

namespace wherry::ref {
namespace {

template <typename T>
Box BoxAt(const T* boxes, int64_t i) {
  return {Load(boxes[4 * i]), Load(boxes[4 * i + 1]), Load(boxes[4 * i + 2]), Load(boxes[4 * i + 3])};
}

// The numbers of the scores over a threshold, the best first, equal ones in their order; at most `most` unless that is
// negative.
template <typename T>
std::vector<int64_t> Ranked(const T* scores, int64_t count, double threshold, int64_t most) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) {
    if (Load(scores[i]) > threshold) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return Load(scores[a]) > Load(scores[b]); });
  if (most >= 0 && static_cast<int64_t>(order.size()) > most) order.resize(static_cast<size_t>(most));
  return order;
}

// A box with its corners in order.
Box FromCorners(const Box& box) {
  return {std::min(box.x1, box.x2), std::min(box.y1, box.y2), std::max(box.x1, box.x2), std::max(box.y1, box.y2)};
}
// Of a center, width and height.
Box FromCenter(const Box& box) {
  return {box.x1 - box.x2 / 2.0, box.y1 - box.y2 / 2.0, box.x1 + box.x2 / 2.0, box.y1 + box.y2 / 2.0};
}

template <typename T>
void Nms(const CpuContext& /*context*/, const DenseTensor& boxes, const DenseTensor& scores, const Scalar& max_output,
         const Scalar& iou_threshold, const Scalar& score_threshold, bool center_point, DenseTensor* out) {
  const int64_t classes = scores.shape()[1];
  const int64_t count = scores.shape()[2];
  const auto most = max_output.to<int64_t>();
  const double limit = iou_threshold.to<double>();
  std::vector<std::array<int64_t, 3>> rows;
  for (int64_t batch = 0; batch < scores.shape()[0]; ++batch) {
    const T* const of_batch = boxes.data<T>() + batch * count * 4;
    for (int64_t c = 0; c < classes; ++c) {
      const T* const score = scores.data<T>() + (batch * classes + c) * count;
      std::vector<Box> kept;
      for (const int64_t i : Ranked(score, count, score_threshold.to<double>(), -1)) {
        if (static_cast<int64_t>(kept.size()) >= most) break;
        const Box box = center_point ? FromCenter(BoxAt(of_batch, i)) : FromCorners(BoxAt(of_batch, i));
        const bool overlaps = std::any_of(kept.begin(), kept.end(),
                                          [&](const Box& better) { return BoxOverlap(box, better, 0.0) > limit; });
        if (overlaps) continue;
        kept.push_back(box);
        rows.push_back({batch, c, i});
      }
    }
  }
  out->Allocate(HostAllocator(), TensorMeta{DataType::kInt64, Shape{static_cast<int64_t>(rows.size()), 3}});
  int64_t* to = out->mutable_data<int64_t>();
  for (const auto& row : rows) to = std::copy(row.begin(), row.end(), to);
}

struct Detection {
  int64_t label;
  double score;
  int64_t box;  // its number among all
};

// The boxes of one class of an image; the i-th is number first + i * step of all.
template <typename T>
struct Candidates {
  const T* boxes;
  const T* scores;
  int64_t count;
  int64_t first;
  int64_t step;
};

// What images have: boxes [images, n, 4] of all classes with scores [images, classes, n], or, where rois_num says how
// many rows each image has, boxes [rows, classes, 4] with scores [rows, classes].
template <typename T>
class Images {
 public:
  Images(const DenseTensor& boxes, const DenseTensor& scores, const DenseTensor* rois_num)
      : boxes_(boxes), scores_(scores), by_rows_(rois_num != nullptr) {
    if (!by_rows_) return;
    for (const int64_t rows : IntsOf(*rois_num)) {
      WHERRY_ENFORCE(rows >= 0 && rows <= boxes.shape()[0] - starts_.back(), kInvalidArgument,
                     "rois_num gives an image ", rows, " of ", boxes.shape()[0], " rows, of which ", starts_.back(),
                     " are others'");
      starts_.push_back(starts_.back() + rows);
    }
  }

  bool by_rows() const { return by_rows_; }
  int64_t count() const { return by_rows_ ? static_cast<int64_t>(starts_.size()) - 1 : boxes_.shape()[0]; }
  int64_t classes() const { return scores_.shape()[1]; }

  // Valid until it is called again.
  Candidates<T> Of(int64_t image, int64_t label) {
    const T* const boxes = boxes_.data<T>();
    const T* const scores = scores_.data<T>();
    if (!by_rows_) {
      const int64_t n = boxes_.shape()[1];
      return {boxes + image * n * 4, scores + (image * classes() + label) * n, n, image * n, 1};
    }
    const int64_t begin = starts_[static_cast<size_t>(image)];
    const int64_t rows = starts_[static_cast<size_t>(image) + 1] - begin;
    own_boxes_.clear();
    own_scores_.clear();
    const int64_t first = begin * classes() + label;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t number = first + i * classes();
      own_boxes_.insert(own_boxes_.end(), boxes + number * 4, boxes + number * 4 + 4);
      own_scores_.push_back(scores[number]);
    }
    return {own_boxes_.data(), own_scores_.data(), rows, first, classes()};
  }

 private:
  const DenseTensor& boxes_;
  const DenseTensor& scores_;
  const bool by_rows_;
  std::vector<int64_t> starts_ = {0};  // of the rows of each image, and the end of the last
  std::vector<T> own_boxes_;
  std::vector<T> own_scores_;
};

// What is left of the images, as rows of label, score and box.
template <typename T>
void Write(const DenseTensor& boxes, const std::vector<std::vector<Detection>>& images, DenseTensor* out,
           DenseTensor* index, DenseTensor* counts) {
  int64_t rows = 0;
  for (const auto& image : images) rows += static_cast<int64_t>(image.size());
  out->Allocate(HostAllocator(), TensorMeta{boxes.dtype(), Shape{rows, 6}});
  index->Allocate(HostAllocator(), TensorMeta{DataType::kInt32, Shape{rows, 1}});
  counts->Allocate(HostAllocator(), TensorMeta{DataType::kInt32, Shape{static_cast<int64_t>(images.size())}});
  T* to = out->mutable_data<T>();
  int32_t* at = index->mutable_data<int32_t>();
  for (size_t i = 0; i < images.size(); ++i) {
    counts->mutable_data<int32_t>()[i] = static_cast<int32_t>(images[i].size());
    for (const Detection& found : images[i]) {
      *to++ = Store<T>(static_cast<double>(found.label));
      *to++ = Store<T>(found.score);
      to = std::copy_n(boxes.data<T>() + found.box * 4, 4, to);
      *at++ = static_cast<int32_t>(found.box);
    }
  }
}

void SortByScore(std::vector<Detection>* found) {
  std::stable_sort(found->begin(), found->end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
}

// Calls work(candidates, label, found) for each class of each image but `background_label`, then finish(found).
template <typename T, typename Work, typename Finish>
std::vector<std::vector<Detection>> DetectEach(Images<T>* images, int background_label, Work work, Finish finish) {
  std::vector<std::vector<Detection>> found(static_cast<size_t>(images->count()));
  for (size_t image = 0; image < found.size(); ++image) {
    for (int64_t label = 0; label < images->classes(); ++label) {
      if (label == background_label) continue;
      work(images->Of(static_cast<int64_t>(image), label), label, &found[image]);
    }
    finish(&found[image]);
  }
  return found;
}

template <typename T>
void MulticlassNms(const CpuContext& /*context*/, const DenseTensor& boxes, const DenseTensor& scores,
                   const DenseTensor* rois_num, float score_threshold, int nms_top_k, int keep_top_k,
                   float nms_threshold, bool normalized, float nms_eta, int background_label, bool never_empty,
                   DenseTensor* out, DenseTensor* index, DenseTensor* counts) {
  Images<T> images(boxes, scores, rois_num);
  const double extra = normalized ? 0.0 : 1.0;
  const auto of_class = [&](const Candidates<T>& of, int64_t label, std::vector<Detection>* found) {
    double threshold = static_cast<double>(nms_threshold);
    std::vector<int64_t> kept;
    for (const int64_t i : Ranked(of.scores, of.count, static_cast<double>(score_threshold), nms_top_k)) {
      const Box box = BoxAt(of.boxes, i);
      const bool overlaps = std::any_of(kept.begin(), kept.end(), [&](int64_t better) {
        return !(BoxOverlap(box, BoxAt(of.boxes, better), extra) <= threshold);
      });
      if (overlaps) continue;
      kept.push_back(i);
      found->push_back({label, Load(of.scores[i]), of.first + i * of.step});
      if (nms_eta < 1.0F && threshold > 0.5) threshold *= static_cast<double>(nms_eta);
    }
  };
  const auto of_all = [&](std::vector<Detection>* found) {
    if (keep_top_k >= 0 && found->size() > static_cast<size_t>(keep_top_k)) {
      SortByScore(found);
      found->resize(static_cast<size_t>(keep_top_k));
    }
    std::stable_sort(found->begin(), found->end(), [&](const Detection& a, const Detection& b) {
      if (a.label != b.label) return a.label < b.label;
      return images.by_rows() && a.box < b.box;
    });
  };
  Write<T>(boxes, DetectEach(&images, background_label, of_class, of_all), out, index, counts);
  if (!never_empty || out->numel() > 0) return;
  out->Allocate(HostAllocator(), TensorMeta{boxes.dtype(), Shape{1, 1}});
  out->mutable_data<T>()[0] = Store<T>(-1.0);
}

template <typename T>
void MatrixNms(const CpuContext& /*context*/, const DenseTensor& boxes, const DenseTensor& scores,
               float score_threshold, int nms_top_k, int keep_top_k, float post_threshold, bool use_gaussian,
               float gaussian_sigma, int background_label, bool normalized, DenseTensor* out, DenseTensor* index,
               DenseTensor* counts) {
  Images<T> images(boxes, scores, nullptr);
  const double extra = normalized ? 0.0 : 1.0;
  const auto decay = [&](double overlap, double worst) {
    if (use_gaussian) return std::exp((worst * worst - overlap * overlap) * static_cast<double>(gaussian_sigma));
    return (1.0 - overlap) / (1.0 - worst);
  };
  const auto of_class = [&](const Candidates<T>& of, int64_t label, std::vector<Detection>* found) {
    const auto order = Ranked(of.scores, of.count, static_cast<double>(score_threshold), nms_top_k);
    std::vector<double> worst(order.size(), 0.0);  // of each, the largest overlap with a better one
    for (size_t i = 0; i < order.size(); ++i) {
      double least = 1.0;
      for (size_t j = 0; j < i; ++j) {
        const double overlap = BoxOverlap(BoxAt(of.boxes, order[i]), BoxAt(of.boxes, order[j]), extra);
        least = std::min(least, decay(overlap, worst[j]));
        worst[i] = std::max(worst[i], overlap);
      }
      const double decayed = least * Load(of.scores[order[i]]);
      if (decayed > static_cast<double>(post_threshold)) {
        found->push_back({label, decayed, of.first + order[i] * of.step});
      }
    }
  };
  const auto of_all = [&](std::vector<Detection>* found) {
    SortByScore(found);
    if (keep_top_k >= 0 && found->size() > static_cast<size_t>(keep_top_k)) {
      found->resize(static_cast<size_t>(keep_top_k));
    }
  };
  Write<T>(boxes, DetectEach(&images, background_label, of_class, of_all), out, index, counts);
}

// One box of a text detector, and its score.
struct ScoredBox {
  Box box;
  double score;
};

// Merges each box into the one before if they overlap by more than `threshold`. Returns which are left.
std::vector<int64_t> MergeNeighbours(std::vector<ScoredBox>* boxes, double threshold, double extra) {
  std::vector<int64_t> left;
  for (size_t i = 0; i < boxes->size(); ++i) {
    ScoredBox& next = (*boxes)[i];
    if (!left.empty()) {
      ScoredBox& last = (*boxes)[static_cast<size_t>(left.back())];
      if (BoxOverlap(next.box, last.box, extra) > threshold) {
        const double sum = next.score + last.score;
        const auto mean = [&](double a, double b) { return (a * next.score + b * last.score) / sum; };
        last.box = {mean(next.box.x1, last.box.x1), mean(next.box.y1, last.box.y1), mean(next.box.x2, last.box.x2),
                    mean(next.box.y2, last.box.y2)};
        last.score = sum;
        continue;
      }
    }
    left.push_back(static_cast<int64_t>(i));
  }
  return left;
}

template <typename T>
void LocalityAwareNms(const CpuContext& /*context*/, const DenseTensor& boxes, const DenseTensor& scores,
                      float score_threshold, int nms_top_k, int keep_top_k, float nms_threshold, bool normalized,
                      float nms_eta, int background_label, DenseTensor* out) {
  struct Row {
    int64_t label;
    ScoredBox found;
  };
  const int64_t count = boxes.shape()[1];
  const double extra = normalized ? 0.0 : 1.0;
  std::vector<Row> all;
  for (int64_t image = 0; image < boxes.shape()[0]; ++image) {
    std::vector<ScoredBox> merged;
    for (int64_t i = 0; i < count; ++i) merged.push_back({BoxAt(boxes.data<T>(), image * count + i), 0.0});
    std::vector<Row> rows;
    for (int64_t label = 0; label < scores.shape()[1]; ++label) {
      if (label == background_label) continue;
      const T* const score = scores.data<T>() + (image * scores.shape()[1] + label) * count;
      for (int64_t i = 0; i < count; ++i) merged[static_cast<size_t>(i)].score = Load(score[i]);
      double threshold = static_cast<double>(nms_threshold);
      std::vector<ScoredBox> best;
      for (const int64_t i : MergeNeighbours(&merged, threshold, extra)) {
        const ScoredBox& box = merged[static_cast<size_t>(i)];
        if (box.score > static_cast<double>(score_threshold)) best.push_back(box);
      }
      std::stable_sort(best.begin(), best.end(),
                       [](const ScoredBox& a, const ScoredBox& b) { return a.score > b.score; });
      if (nms_top_k >= 0 && best.size() > static_cast<size_t>(nms_top_k)) best.resize(static_cast<size_t>(nms_top_k));
      std::vector<ScoredBox> kept;
      for (const ScoredBox& box : best) {
        const bool overlaps = std::any_of(kept.begin(), kept.end(), [&](const ScoredBox& better) {
          return !(BoxOverlap(box.box, better.box, extra) <= threshold);
        });
        if (overlaps) continue;
        kept.push_back(box);
        rows.push_back({label, box});
        if (nms_eta < 1.0F && threshold > 0.5) threshold *= static_cast<double>(nms_eta);
      }
    }
    if (keep_top_k >= 0 && rows.size() > static_cast<size_t>(keep_top_k)) {
      std::stable_sort(rows.begin(), rows.end(),
                       [](const Row& a, const Row& b) { return a.found.score > b.found.score; });
      rows.resize(static_cast<size_t>(keep_top_k));
      std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.label < b.label; });
    }
    all.insert(all.end(), rows.begin(), rows.end());
  }
  const bool none = all.empty();
  out->Allocate(HostAllocator(),
                TensorMeta{boxes.dtype(), none ? Shape{1, 1} : Shape{static_cast<int64_t>(all.size()), 6}});
  T* to = out->mutable_data<T>();
  if (none) *to = Store<T>(-1.0);
  for (const Row& row : all) {
    const Box& box = row.found.box;
    for (const double value : {static_cast<double>(row.label), row.found.score, box.x1, box.y1, box.x2, box.y2}) {
      *to++ = Store<T>(value);
    }
  }
}

}  // namespace

REGISTER_KERNEL(nms, ref, kHost, kNCHW, Nms, WHERRY_REF_FLOATS);
REGISTER_KERNEL(multiclass_nms, ref, kHost, kNCHW, MulticlassNms, WHERRY_REF_FLOATS);
REGISTER_KERNEL(matrix_nms, ref, kHost, kNCHW, MatrixNms, WHERRY_REF_FLOATS);
REGISTER_KERNEL(locality_aware_nms, ref, kHost, kNCHW, LocalityAwareNms, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
