// What the boxes that a detector starts from become: proposals, and matches.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/buffer.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/boxes.h"
#include "kernels/ref/floats.h"

namespace wherry::ref {
namespace {

struct Proposal {
  Box box;
  double score;
};

// What a proposal has to be, and how boxes are counted.
struct ProposalRules {
  int pre_nms_top_n;
  int post_nms_top_n;
  double nms_thresh;
  double least;
  double eta;
  double extra;  // 1 where the pixels at the right and bottom ends belong to a box
};

// An anchor moved and stretched by the network's four numbers, each times its variance.
Box Decoded(const double* anchor, const double* delta, const double* variance, double extra) {
  static const double kMostGrowth = std::log(1000.0 / 16.0);
  const double width = anchor[2] - anchor[0] + extra;
  const double height = anchor[3] - anchor[1] + extra;
  const double x = anchor[0] + 0.5 * width + variance[0] * delta[0] * width;
  const double y = anchor[1] + 0.5 * height + variance[1] * delta[1] * height;
  const double half_width = std::exp(std::min(variance[2] * delta[2], kMostGrowth)) * width / 2.0;
  const double half_height = std::exp(std::min(variance[3] * delta[3], kMostGrowth)) * height / 2.0;
  return {x - half_width, y - half_height, x + half_width - extra, y + half_height - extra};
}

bool LargeEnough(const Box& box, double image_height, double image_width, const ProposalRules& rules) {
  const double width = box.x2 - box.x1 + rules.extra;
  const double height = box.y2 - box.y1 + rules.extra;
  if (!(width >= rules.least && height >= rules.least)) return false;
  return rules.extra == 0.0 || (box.x1 + width / 2.0 <= image_width && box.y1 + height / 2.0 <= image_height);
}

// Of proposals with falling scores those that overlap no better one too much.
std::vector<Proposal> WithoutOverlaps(const std::vector<Proposal>& proposals, const ProposalRules& rules) {
  std::vector<Proposal> kept;
  double threshold = rules.nms_thresh;
  for (const Proposal& proposal : proposals) {
    const bool overlaps = std::any_of(kept.begin(), kept.end(), [&](const Proposal& better) {
      return !(BoxOverlap(proposal.box, better.box, rules.extra) <= threshold);
    });
    if (overlaps) continue;
    kept.push_back(proposal);
    if (rules.eta < 1.0 && threshold > 0.5) threshold *= rules.eta;
  }
  if (rules.post_nms_top_n > 0 && kept.size() > static_cast<size_t>(rules.post_nms_top_n)) {
    kept.resize(static_cast<size_t>(rules.post_nms_top_n));
  }
  return kept;
}

template <typename T>
void GenerateProposals(const CpuContext& /*context*/, const DenseTensor& scores, const DenseTensor& bbox_deltas,
                       const DenseTensor& im_shape, const DenseTensor& anchors, const DenseTensor& variances,
                       int pre_nms_top_n, int post_nms_top_n, float nms_thresh, float min_size, float eta,
                       bool pixel_offset, DenseTensor* rois, DenseTensor* probabilities, DenseTensor* counts) {
  const ProposalRules rules{pre_nms_top_n,
                            post_nms_top_n,
                            static_cast<double>(nms_thresh),
                            static_cast<double>(std::max(min_size, 1.0F)),
                            static_cast<double>(eta),
                            pixel_offset ? 1.0 : 0.0};
  const int64_t images = scores.shape()[0];
  const int64_t kinds = scores.shape()[1];
  const int64_t places = scores.shape()[2] * scores.shape()[3];
  const std::vector<double> score = FloatsOf(scores);
  const std::vector<double> delta = FloatsOf(bbox_deltas);
  const std::vector<double> anchor = FloatsOf(anchors);
  const std::vector<double> variance = FloatsOf(variances);
  const std::vector<double> sizes = FloatsOf(im_shape);
  const int64_t size_stride = im_shape.shape()[1];
  counts->Allocate(HostAllocator(), TensorMeta{DataType::kInt32, Shape{images}});
  std::vector<Proposal> all;
  for (int64_t image = 0; image < images; ++image) {
    // Anchors are numbered by place, then kind.
    const auto score_of = [&](int64_t i) {
      return score[static_cast<size_t>((image * kinds + i % kinds) * places + i / kinds)];
    };
    std::vector<int64_t> order(static_cast<size_t>(kinds * places));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return score_of(a) > score_of(b); });
    if (pre_nms_top_n > 0 && order.size() > static_cast<size_t>(pre_nms_top_n)) {
      order.resize(static_cast<size_t>(pre_nms_top_n));
    }
    const double height = sizes[static_cast<size_t>(image * size_stride)];
    const double width = sizes[static_cast<size_t>(image * size_stride + 1)];
    std::vector<Proposal> found;
    for (const int64_t i : order) {
      std::array<double, 4> four;
      for (int64_t k = 0; k < 4; ++k) {
        four[static_cast<size_t>(k)] =
            delta[static_cast<size_t>((image * kinds * 4 + i % kinds * 4 + k) * places + i / kinds)];
      }
      Box box =
          Decoded(&anchor[static_cast<size_t>(4 * i)], four.data(), &variance[static_cast<size_t>(4 * i)], rules.extra);
      const auto inside = [&](double at, double extent) { return std::max(std::min(at, extent - rules.extra), 0.0); };
      box = {inside(box.x1, width), inside(box.y1, height), inside(box.x2, width), inside(box.y2, height)};
      if (LargeEnough(box, height, width, rules)) found.push_back({box, score_of(i)});
    }
    if (found.empty()) {
      found.push_back({{0.0, 0.0, 0.0, 0.0}, 0.0});
    } else if (rules.nms_thresh > 0.0) {
      found = WithoutOverlaps(found, rules);
    }
    counts->mutable_data<int32_t>()[image] = static_cast<int32_t>(found.size());
    all.insert(all.end(), found.begin(), found.end());
  }
  const auto rows = static_cast<int64_t>(all.size());
  rois->Allocate(HostAllocator(), TensorMeta{scores.dtype(), Shape{rows, 4}});
  probabilities->Allocate(HostAllocator(), TensorMeta{scores.dtype(), Shape{rows, 1}});
  T* to = rois->mutable_data<T>();
  T* probability = probabilities->mutable_data<T>();
  for (const Proposal& proposal : all) {
    for (const double at : {proposal.box.x1, proposal.box.y1, proposal.box.x2, proposal.box.y2}) *to++ = Store<T>(at);
    *probability++ = Store<T>(proposal.score);
  }
}

template <typename T>
void BipartiteMatch(const CpuContext& /*context*/, const DenseTensor& distance, const std::string& match_type,
                    float dist_threshold, DenseTensor* indices, DenseTensor* distances) {
  const int64_t rows = distance.shape()[0];
  const int64_t columns = distance.shape()[1];
  constexpr double kNothing = 1e-6;  // as good as no match at all
  const T* const from = distance.data<T>();
  const auto at = [&](int64_t row, int64_t column) { return Load(from[row * columns + column]); };
  int32_t* const row_of = indices->mutable_data<int32_t>();
  T* const best = distances->mutable_data<T>();
  std::fill_n(row_of, columns, -1);
  std::fill_n(best, columns, Store<T>(0.0));
  const auto match = [&](int64_t row, int64_t column) {
    row_of[column] = static_cast<int32_t>(row);
    best[column] = from[row * columns + column];
  };
  std::vector<bool> used(static_cast<size_t>(rows), false);
  for (int64_t round = 0; round < rows; ++round) {
    int64_t best_row = -1;
    int64_t best_column = -1;
    for (int64_t column = 0; column < columns; ++column) {
      if (row_of[column] >= 0) continue;
      for (int64_t row = 0; row < rows; ++row) {
        if (used[static_cast<size_t>(row)] || !(at(row, column) >= kNothing)) continue;
        if (best_row < 0 || at(row, column) > at(best_row, best_column)) {
          best_row = row;
          best_column = column;
        }
      }
    }
    if (best_row < 0) break;
    used[static_cast<size_t>(best_row)] = true;
    match(best_row, best_column);
  }
  if (match_type != "per_prediction") return;
  const double least = std::max(static_cast<double>(dist_threshold), kNothing);
  for (int64_t column = 0; column < columns; ++column) {
    if (row_of[column] >= 0) continue;
    int64_t best_row = -1;
    for (int64_t row = 0; row < rows; ++row) {
      if (at(row, column) >= least && (best_row < 0 || at(row, column) > at(best_row, column))) best_row = row;
    }
    if (best_row >= 0) match(best_row, column);
  }
}

}  // namespace

REGISTER_KERNEL(generate_proposals, ref, kHost, kNCHW, GenerateProposals, WHERRY_REF_FLOATS);
REGISTER_KERNEL(bipartite_match, ref, kHost, kNCHW, BipartiteMatch, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
