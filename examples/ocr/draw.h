// Marking what was found in an image.
#pragma once

#include <vector>

#include "geometry.h"
#include "image.h"

namespace ocr {

struct Color {
  unsigned char red = 0;
  unsigned char green = 0;
  unsigned char blue = 0;
};

// The quad's sides, and its first one (above the text) twice as thick. What lies outside the image is left out.
void DrawQuad(const Quad& quad, Color color, Image* image);

}  // namespace ocr
