// Images on disk: JPEG, PNG, BMP and PNM in, PNG out.
#pragma once

#include <string>

#include "image.h"

namespace ocr {

// As it is meant to be seen: turned as a photo's EXIF data says; what is transparent lies on white, or on black when
// the opaque pixels are light. std::runtime_error with one line that names the file when it is not there, is no such
// image, is damaged, or has more than 100 million pixels.
Image ReadImage(const std::string& path);

// std::runtime_error when it cannot be written.
void WritePng(const Image& image, const std::string& path);

}  // namespace ocr
