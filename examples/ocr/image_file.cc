#include "image_file.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "exif.h"
#include "jpeg_segments.h"

// stb in this file only, and only the formats that photos and scans come in.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_PNM
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>

namespace ocr {

namespace {

constexpr int64_t kMostPixels = 100'000'000;

[[noreturn]] void Fail(const std::string& path, const std::string& why) {
  throw std::runtime_error("'" + path + "': " + why);
}

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) Fail(path, std::string("cannot open the image: ") + std::strerror(errno));
  std::ostringstream bytes;
  if (!(bytes << file.rdbuf())) Fail(path, "cannot read the image: is it an empty file or a folder?");
  return bytes.str();
}

// Puts RGBA pixels onto black if what can be seen of them is light, else onto white.
void Flatten(const uint8_t* rgba, Image* image) {
  const size_t count = image->rgb.size() / 3;
  uint64_t light = 0;
  uint64_t opacity = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* from = rgba + 4 * i;
    light += uint64_t{from[3]} * (from[0] + from[1] + from[2]);
    opacity += from[3];
  }
  const bool opaque = opacity == count * 255;
  const unsigned ground = light > opacity * 3 * 128 ? 0 : 255;
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* from = rgba + 4 * i;
    for (size_t c = 0; c < 3; ++c) {
      const unsigned alpha = opaque ? 255 : from[3];
      image->rgb[3 * i + c] = static_cast<uint8_t>((from[c] * alpha + ground * (255 - alpha) + 127) / 255);
    }
  }
}

}  // namespace

Image ReadImage(const std::string& path) {
  const std::string bytes = ReadBytes(path);
  if (bytes.size() > INT_MAX) Fail(path, "the file is larger than 2 GiB");
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  // Two faults of stb that write or read past its memory: of PNM files it converts 16 bits as 8, and see
  // HuffmanTablesFit.
  if (size > 0 && bytes[0] == 'P' && stbi_is_16_bit_from_memory(data, size) != 0)
    Fail(path, "PNM with 16 bits is not read");
  const std::vector<JpegSegment> segments = JpegSegments(bytes);
  if (!HuffmanTablesFit(bytes, segments)) Fail(path, "the image is damaged (Huffman tables)");
  int width = 0;
  int height = 0;
  int channels = 0;
  if (stbi_info_from_memory(data, size, &width, &height, &channels) == 0 || width <= 0 || height <= 0)
    Fail(path, "this is no JPEG, PNG, BMP or PNM image");
  if (int64_t{width} * height > kMostPixels)
    Fail(path, "the image has " + std::to_string(width) + " x " + std::to_string(height) +
                   " pixels; more than 100 million are not read");
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load_from_memory(data, size, &width, &height, &channels, 4), &stbi_image_free);
  if (pixels == nullptr) {
    const std::string reason = stbi_failure_reason();
    Fail(path, "the image is damaged (" + (reason == "outofdata" ? "it ends too early" : reason) + ")");
  }
  Image image(width, height);
  Flatten(pixels.get(), &image);
  const int orientation = ExifOrientation(bytes, segments);
  return orientation == 1 ? image : Upright(image, orientation);
}

void WritePng(const Image& image, const std::string& path) {
  std::string png;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<size_t>(size));
  };
  if (stbi_write_png_to_func(append, &png, image.width, image.height, 3, image.rgb.data(), 3 * image.width) == 0)
    Fail(path, "the image cannot be made a PNG");
  // Not stbi_write_png, which does not see that a disk is full.
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << png;
  file.close();
  if (!file) Fail(path, std::string("cannot write the image: ") + std::strerror(errno));
}

}  // namespace ocr
