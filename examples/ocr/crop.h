// Cutting a line of text out of an image, upright.
#pragma once

#include "geometry.h"
#include "image.h"

namespace ocr {

// The quad's area as an image of its width and height (rounded, at least 1 x 1), the text reading left to right. A bent
// line's middle lies `bend` of its height further down than its ends do. Bicubic; beyond the image's edge its outermost
// pixels go on.
Image Crop(const Image& image, const Quad& quad, float bend = 0);

}  // namespace ocr
