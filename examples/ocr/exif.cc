#include "exif.h"

#include <algorithm>
#include <cstddef>

namespace ocr {

namespace {

constexpr unsigned kOrientationTag = 0x0112;

// Bytes [begin, begin + size) as numbers; what lies outside reads as 0.
class Bytes {
 public:
  Bytes(const std::string& data, size_t begin, size_t size)
      : data_(data), begin_(begin), end_(std::min(data.size(), begin + size)) {}

  void set_big_endian(bool big) { big_ = big; }
  unsigned U8(size_t at) const { return at < end_ - begin_ ? static_cast<unsigned char>(data_[begin_ + at]) : 0; }
  unsigned U16(size_t at) const { return big_ ? U8(at) << 8U | U8(at + 1) : U8(at + 1) << 8U | U8(at); }
  unsigned U32(size_t at) const { return big_ ? U16(at) << 16U | U16(at + 2) : U16(at + 2) << 16U | U16(at); }

 private:
  const std::string& data_;
  size_t begin_;
  size_t end_;
  bool big_ = true;
};

// A TIFF header, and the first of its directories: 12 bytes an entry.
int TiffOrientation(Bytes tiff) {
  tiff.set_big_endian(tiff.U8(0) == 'M');
  if (tiff.U16(2) != 42) return 1;
  const size_t directory = tiff.U32(4);
  const unsigned count = tiff.U16(directory);
  for (unsigned i = 0; i < count; ++i) {
    const size_t entry = directory + 2 + size_t{12} * i;
    if (tiff.U16(entry) != kOrientationTag) continue;
    const unsigned value = tiff.U16(entry + 8);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace

int ExifOrientation(const std::string& bytes, const std::vector<JpegSegment>& segments) {
  constexpr unsigned kApp1 = 0xE1;
  const std::string head("Exif\0\0", 6);
  for (const JpegSegment& segment : segments) {
    if (segment.marker != kApp1 || segment.size < head.size()) continue;
    if (bytes.compare(segment.begin, head.size(), head) != 0) continue;
    return TiffOrientation(Bytes(bytes, segment.begin + head.size(), segment.size - head.size()));
  }
  return 1;
}

Image Upright(const Image& image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const bool swapped = orientation >= 5;
  Image out(swapped ? image.height : image.width, swapped ? image.width : image.height);
  // The side of the scene at which the stored picture's first row and first column lie (EXIF 2.3, tag Orientation).
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const int across = from_right ? out.width - 1 - x : x;
      const int down = from_bottom ? out.height - 1 - y : y;
      const uint8_t* from = swapped ? image.At(down, across) : image.At(across, down);
      std::copy_n(from, 3, out.At(x, y));
    }
  }
  return out;
}

}  // namespace ocr
