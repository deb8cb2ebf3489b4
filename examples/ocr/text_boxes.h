// From what a DB text detector puts out to the boxes of the lines of text.
#pragma once

#include <vector>

#include "geometry.h"
#include "regions.h"

namespace ocr {

// Defaults are those of RapidOCR 1.4.4.
struct TextBoxOptions {
  float threshold = 0.3F;      // a cell above it is text
  float box_threshold = 0.5F;  // a box with a lower mean is dropped
  float unclip_ratio = 1.6F;   // the network is trained on shrunken boxes: how far to grow them again
};

// Where a line of text is.
struct TextBox {
  Quad quad;
  float bend = 0;   // see Crop()
  float score = 0;  // the mean probability in it, before it grew

  TextBox UpsideDown() const { return {Turned(quad, 2), -bend, score}; }
  // The parallelogram around all of it.
  Quad Around() const;
};

// The network is trained to mark the inside of each line, shrunk by an offset of area * ratio / perimeter ("Real-time
// Scene Text Detection with Differentiable Binarization", 2019): each region's smallest rectangle is grown by that, or
// a bent strip where the region fills its rectangle badly. Boxes are in cells of the map and may reach over its edge.
// Text reads along its box: left to right, or down if the box is much higher than wide.
std::vector<TextBox> FindTextBoxes(const ProbabilityMap& map, const TextBoxOptions& options = {});

}  // namespace ocr
