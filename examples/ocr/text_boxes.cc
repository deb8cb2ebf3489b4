#include "text_boxes.h"

#include <algorithm>

#include "bend.h"
#include "min_area_rect.h"

namespace ocr {

namespace {

constexpr float kLeastSide = 3;        // of a region, in cells
constexpr float kUprightRatio = 1.5F;  // a box that much higher than wide holds text that runs down
constexpr float kBentRatio = 3;        // something shorter is no bent line

// With some room around a line, its recognition finds spaces and full stops that it misses in a tight box (a third of
// the errors on 17 pages went away); with much room, it sees parts of the next lines.
constexpr float kRoomAcross = 0.2F;  // of the height
constexpr float kRoomAlong = 0.1F;

void Unclip(float ratio, RotatedRect* rect) {
  const float offset = rect->width * rect->height * ratio / (2 * (rect->width + rect->height));
  const float height = rect->height + 2 * offset;
  rect->width += 2 * offset + height * kRoomAlong;
  rect->height = height * (1 + kRoomAcross);
}

}  // namespace

Quad TextBox::Around() const {
  Quad around = quad;
  const Point shift = (quad[3] - quad[0]) * bend;
  const size_t first = bend > 0 ? 2 : 0;  // of the corners below the text, or above it
  for (const size_t corner : {first, first + 1}) around[corner] = around[corner] + shift;
  return around;
}

std::vector<TextBox> FindTextBoxes(const ProbabilityMap& map, const TextBoxOptions& options) {
  std::vector<TextBox> boxes;
  for (const Region& region : FindRegions(map, options.threshold)) {
    RotatedRect rect = MinAreaRect(region.Outline());
    if (std::min(rect.width, rect.height) < kLeastSide) continue;
    if (rect.height >= kUprightRatio * rect.width) rect = {rect.center, rect.height, rect.width, rect.down()};
    float score = MeanInside(map, rect);
    float bend = 0;
    if (score < options.box_threshold) {
      score = Mean(map, region);
      if (score < options.box_threshold || rect.width < kBentRatio * rect.height) continue;
      const BentStrip strip = FitBentStrip(region, rect);
      rect = strip.rect;
      bend = strip.bend;
    }
    const float height = rect.height;
    Unclip(options.unclip_ratio, &rect);
    boxes.push_back({rect.Corners(), bend * height / rect.height, score});
  }
  return boxes;
}

}  // namespace ocr
