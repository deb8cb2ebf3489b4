// Lines of text that are bent: on a page that does not lie flat, and in posters.
#pragma once

#include "geometry.h"
#include "regions.h"

namespace ocr {

// A strip along a parabola.
struct BentStrip {
  RotatedRect rect;  // from one end to the other, as high as the strip
  float bend = 0;    // how much further down its middle lies, as a part of its height
};

// The strip along the curve that fits the region best, as high as the region needs. The region lies in `rect`, and is
// longer along `rect.right` than across.
BentStrip FitBentStrip(const Region& region, const RotatedRect& rect);

}  // namespace ocr
