#include "batches.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "resize.h"

namespace ocr {

std::vector<const Image*> Batch::Pointers() const {
  std::vector<const Image*> pointers;
  for (const Image& image : images) pointers.push_back(&image);
  return pointers;
}

std::vector<Batch> MakeBatches(const std::vector<Image>& lines, int height, int least_width, int most_width,
                               size_t most_lines) {
  const auto scaled_width = [&](size_t line) {
    const double width = std::ceil(static_cast<double>(height) * lines[line].width / lines[line].height);
    return static_cast<int>(std::clamp(width, 1.0, static_cast<double>(most_width)));
  };
  std::vector<size_t> order(lines.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scaled_width(a) < scaled_width(b); });
  std::vector<Batch> batches;
  for (const size_t line : order) {
    const int width = std::clamp((scaled_width(line) + 31) / 32 * 32, least_width, most_width);
    if (batches.empty() || batches.back().width != width || batches.back().lines.size() == most_lines) {
      batches.emplace_back();
      batches.back().width = width;
    }
    Batch& batch = batches.back();
    batch.lines.push_back(line);
    batch.images.push_back(Resize(lines[line], scaled_width(line), height));
  }
  return batches;
}

}  // namespace ocr
