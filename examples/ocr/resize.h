// Changing an image's size.
#pragma once

#include "image.h"

namespace ocr {

// Bilinear where the image grows; where it shrinks the filter widens with it, so that nothing is skipped. Sizes > 0.
Image Resize(const Image& image, int width, int height);

}  // namespace ocr
