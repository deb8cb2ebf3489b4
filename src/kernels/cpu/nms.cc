// nms: the boxes of each class by the digits of their scores, with the areas of those kept at hand.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/cancellation.h"
#include "base/check.h"
#include "core/buffer.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/sort/ordered_key.h"
#include "kernels/cpu/sort/record_sort.h"

namespace wherry::cpu {
namespace {

// In double as in the reference, which decides what is kept.
struct Box {
  double x1, y1, x2, y2;
  double area;
};

Box BoxAt(const float* boxes, int64_t i, bool center_point) {
  std::array<double, 4> p;
  std::copy_n(boxes + 4 * i, 4, p.begin());
  Box box{};
  if (center_point) {
    box = {p[0] - p[2] / 2.0, p[1] - p[3] / 2.0, p[0] + p[2] / 2.0, p[1] + p[3] / 2.0, 0.0};
  } else {
    box = {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3]), 0.0};
  }
  if (!(box.x2 < box.x1 || box.y2 < box.y1)) box.area = (box.x2 - box.x1) * (box.y2 - box.y1);
  return box;
}

// The intersection of two boxes over their union.
double Overlap(const Box& a, const Box& b) {
  if (b.x1 > a.x2 || b.x2 < a.x1 || b.y1 > a.y2 || b.y2 < a.y1) return 0.0;
  const double width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  const double height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
  const double shared = width * height;
  const double all = a.area + b.area - shared;
  return all > 0.0 ? shared / all : 0.0;
}

struct Rule {
  int64_t most;
  double iou_threshold;
  double score_threshold;
  bool center_point;
};

// Memory of a worker.
struct Workspace {
  ShortRecord* records;  // two for each box
  Box* kept;             // as many as are wanted
};

// Writes which boxes are kept of one class, and returns how many.
int64_t KeepBest(const float* boxes, const float* scores, int64_t count, const Rule& rule, const Workspace& workspace,
                 const std::atomic<bool>* cancelled, int64_t* numbers) {
  int64_t ranked = 0;
  for (int64_t i = 0; i < count; ++i) {
    workspace.records[ranked] = {~OrderedKey(scores[i]), static_cast<uint32_t>(i)};
    if (static_cast<double>(scores[i]) > rule.score_threshold) ++ranked;
  }
  const ShortRecord* const order = SortRecords(workspace.records, workspace.records + count, ranked, cancelled);
  int64_t kept = 0;
  for (int64_t r = 0; r < ranked && kept < rule.most; ++r) {
    ThrowIfCancelled(cancelled);
    const auto number = static_cast<int64_t>(order[r].index);
    const Box box = BoxAt(boxes, number, rule.center_point);
    const bool overlaps = std::any_of(workspace.kept, workspace.kept + kept,
                                      [&](const Box& better) { return Overlap(box, better) > rule.iou_threshold; });
    if (overlaps) continue;
    workspace.kept[kept] = box;
    numbers[kept++] = number;
  }
  return kept;
}

template <typename T>
void Nms(const CpuContext& context, const DenseTensor& boxes, const DenseTensor& scores, const Scalar& max_output,
         const Scalar& iou_threshold, const Scalar& score_threshold, bool center_point, DenseTensor* out) {
  const int64_t classes = scores.shape()[1];
  const int64_t count = scores.shape()[2];
  const int64_t lists = scores.shape()[0] * classes;
  WHERRY_ENFORCE(count <= std::numeric_limits<uint32_t>::max(), kUnsupported, count, " boxes");
  const Rule rule{std::clamp<int64_t>(max_output.to<int64_t>(), 0, count), iou_threshold.to<double>(),
                  score_threshold.to<double>(), center_point};
  std::vector<int64_t> numbers(static_cast<size_t>(lists * rule.most));
  std::vector<int64_t> kept(static_cast<size_t>(lists));
  const int64_t workers = std::min<int64_t>(lists, context.threads());
  const size_t record_bytes = 2 * static_cast<size_t>(count) * sizeof(ShortRecord);
  const size_t bytes_each = record_bytes + static_cast<size_t>(rule.most) * sizeof(Box);
  char* const scratch = static_cast<char*>(context.Scratch(static_cast<size_t>(workers) * bytes_each));
  const std::atomic<bool>* const cancelled = ScopedCancellation::Flag();
  ShareOut(context.pool(), workers, lists, [&](int64_t worker, const auto& next) {
    char* const mine = scratch + static_cast<size_t>(worker) * bytes_each;
    const Workspace workspace{reinterpret_cast<ShortRecord*>(mine), reinterpret_cast<Box*>(mine + record_bytes)};
    for (int64_t i = next(); i >= 0; i = next()) {
      kept[static_cast<size_t>(i)] = KeepBest(boxes.data<T>() + i / classes * count * 4, scores.data<T>() + i * count,
                                              count, rule, workspace, cancelled, numbers.data() + i * rule.most);
    }
  });
  int64_t rows = 0;
  for (const int64_t of_list : kept) rows += of_list;
  out->Allocate(HostAllocator(), TensorMeta{DataType::kInt64, Shape{rows, 3}});
  int64_t* to = out->mutable_data<int64_t>();
  for (int64_t i = 0; i < lists; ++i) {
    for (int64_t k = 0; k < kept[static_cast<size_t>(i)]; ++k) {
      *to++ = i / classes;
      *to++ = i % classes;
      *to++ = numbers[static_cast<size_t>(i * rule.most + k)];
    }
  }
}

}  // namespace

REGISTER_KERNEL(nms, cpu, kNative, kNCHW, Nms, float);

}  // namespace wherry::cpu
