#include "orienter.h"

#include <algorithm>

#include "batches.h"

namespace ocr {

namespace {

constexpr int kHeight = 48;
constexpr int kWidth = 192;  // longer lines are judged by their squeezed whole
constexpr size_t kBatch = 6;

}  // namespace

std::vector<float> Orienter::UpsideDown(const std::vector<Image>& lines) {
  std::vector<float> upside_down(lines.size());
  for (const Batch& batch : MakeBatches(lines, kHeight, kWidth, kWidth, kBatch)) {
    const wherry::Tensor output = network_.Run(batch.Pointers(), kHeight, kWidth);
    if (output.shape() != wherry::Shape({static_cast<int64_t>(batch.lines.size()), 2}))
      network_.RefuseOutput("network for the direction of text", output);
    const float* probabilities = output.data<float>();
    for (size_t i = 0; i < batch.lines.size(); ++i) upside_down[batch.lines[i]] = probabilities[2 * i + 1];
  }
  return upside_down;
}

}  // namespace ocr
