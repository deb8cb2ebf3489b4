#include "jpeg_segments.h"

#include <algorithm>

namespace ocr {

namespace {

constexpr unsigned kHuffmanTables = 0xC4;
constexpr unsigned kEndOfImage = 0xD9;

unsigned ByteAt(const std::string& bytes, size_t at) {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
}

// Markers without content, and what stands for a byte 0xFF in the picture's data.
bool StandsAlone(unsigned marker) { return marker <= 0x01 || (marker >= 0xD0 && marker <= 0xD8) || marker == 0xFF; }

}  // namespace

std::vector<JpegSegment> JpegSegments(const std::string& bytes) {
  std::vector<JpegSegment> segments;
  if (ByteAt(bytes, 0) != 0xFF || ByteAt(bytes, 1) != 0xD8) return segments;
  // What is no marker between two segments is the picture's data, or ignored by decoders.
  for (size_t at = 2; at + 4 <= bytes.size();) {
    const unsigned marker = ByteAt(bytes, at + 1);
    if (ByteAt(bytes, at) != 0xFF || StandsAlone(marker)) {
      ++at;
      continue;
    }
    if (marker == kEndOfImage) break;
    const size_t length = ByteAt(bytes, at + 2) << 8U | ByteAt(bytes, at + 3);  // with its own two bytes
    const size_t size = std::min(std::max(length, size_t{2}) - 2, bytes.size() - (at + 4));
    segments.push_back({marker, at + 4, size});
    at += 4 + size;
  }
  return segments;
}

bool HuffmanTablesFit(const std::string& bytes, const std::vector<JpegSegment>& segments) {
  for (const JpegSegment& segment : segments) {
    if (segment.marker != kHuffmanTables) continue;
    // Tables: a byte of kind and number, 16 counts of codes by length, the codes' symbols.
    size_t at = segment.begin;
    while (at < segment.begin + segment.size) {
      unsigned codes = 0;
      for (size_t i = 1; i <= 16; ++i) codes += ByteAt(bytes, at + i);
      if (codes > 256) return false;
      at += 17 + codes;
    }
  }
  return true;
}

}  // namespace ocr
