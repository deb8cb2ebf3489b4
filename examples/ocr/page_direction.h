// The way a page lies.
#pragma once

#include <vector>

#include "geometry.h"

namespace ocr {

// The direction of most of the text, of length 1: of the lines' directions, the one in the middle when weighted with
// their lengths. {1, 0} without lines.
Point PageDirection(const std::vector<Quad>& quads);

}  // namespace ocr
