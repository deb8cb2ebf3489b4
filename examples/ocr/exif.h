// The orientation that a camera writes into a JPEG file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "image.h"
#include "jpeg_segments.h"

namespace ocr {

// The EXIF orientation in a JPEG file's bytes, 1 to 8; 1 (as it lies) when there is none or it is damaged. Any bytes
// are safe.
int ExifOrientation(const std::string& bytes, const std::vector<JpegSegment>& segments);

// The image turned and mirrored so that it is upright: pixels as EXIF's orientation 1 has them.
Image Upright(const Image& image, int orientation);

}  // namespace ocr
