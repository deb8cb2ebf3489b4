// The segments of a JPEG file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ocr {

struct JpegSegment {
  unsigned marker = 0;  // 0xE1: APP1, ...
  size_t begin = 0;     // of the content, in the file; it ends in the file
  size_t size = 0;
};

// From the file's beginning to its end or that of the picture; between them lies the picture's data. Empty if this is
// no JPEG file. Any bytes are safe.
std::vector<JpegSegment> JpegSegments(const std::string& bytes);

// Whether every Huffman table has at most the 256 codes that the standard allows. stb (before version 2.29) writes past
// its own tables if not.
bool HuffmanTablesFit(const std::string& bytes, const std::vector<JpegSegment>& segments);

}  // namespace ocr
