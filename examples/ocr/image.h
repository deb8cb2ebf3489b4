// Image: pixels in memory. Everything in this example works on 8-bit RGB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ocr {

// Rows from the top, three bytes (red, green, blue) a pixel. Pixel (x, y) covers [x, x + 1) x [y, y + 1).
struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> rgb;

  Image() = default;
  Image(int w, int h) : width(w), height(h), rgb(static_cast<size_t>(w) * static_cast<size_t>(h) * 3) {}

  const uint8_t* At(int x, int y) const { return rgb.data() + Offset(x, y); }
  uint8_t* At(int x, int y) { return rgb.data() + Offset(x, y); }

 private:
  size_t Offset(int x, int y) const {
    return (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) * 3;
  }
};

}  // namespace ocr
