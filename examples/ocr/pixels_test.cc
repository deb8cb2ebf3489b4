// Resize, Crop, DrawQuad and Upright: what they do to pixels.
#include <gtest/gtest.h>

#include <string>

#include "batches.h"
#include "crop.h"
#include "draw.h"
#include "exif.h"
#include "jpeg_segments.h"
#include "resize.h"

namespace ocr {
namespace {

// Red grows to the right, green downwards.
Image Gradient(int width, int height) {
  Image image(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.At(x, y)[0] = static_cast<uint8_t>(10 + 2 * x);
      image.At(x, y)[1] = static_cast<uint8_t>(10 + 2 * y);
    }
  }
  return image;
}

TEST(Resize, KeepsAPlane) {
  const Image image = Gradient(60, 40);
  for (const auto& [width, height] : {std::pair{120, 80}, {30, 20}, {60, 10}, {17, 91}}) {
    const Image out = Resize(image, width, height);
    ASSERT_EQ(out.width, width);
    ASSERT_EQ(out.height, height);
    // Away from the edges, where the filter is cut off.
    for (int y = height / 4; y < height * 3 / 4; ++y) {
      for (int x = width / 4; x < width * 3 / 4; ++x) {
        EXPECT_NEAR(out.At(x, y)[0], 9 + 2 * (x + 0.5) * 60 / width, 1) << width << " " << x;
        EXPECT_NEAR(out.At(x, y)[1], 9 + 2 * (y + 0.5) * 40 / height, 1) << height << " " << y;
      }
    }
  }
}

TEST(Resize, SkipsNothingWhenItShrinks) {
  Image image(64, 1);
  for (int x = 0; x < 64; x += 2) image.At(x, 0)[0] = 200;  // thin lines
  const Image out = Resize(image, 8, 1);
  for (int x = 1; x < 7; ++x) EXPECT_NEAR(out.At(x, 0)[0], 100, 3);
  EXPECT_EQ(Resize(image, 1, 1).width, 1);
}

TEST(Crop, AtOnceAndTurned) {
  const Image image = Gradient(60, 40);
  const Quad quad{{{10, 5}, {30, 5}, {30, 15}, {10, 15}}};
  const Image upright = Crop(image, quad);
  ASSERT_EQ(upright.width, 20);
  ASSERT_EQ(upright.height, 10);
  const Image turned = Crop(image, Turned(quad, 2));
  const Image quarter = Crop(image, Turned(quad, 1));
  ASSERT_EQ(quarter.width, 10);
  for (int y = 0; y < 10; ++y) {
    for (int x = 0; x < 20; ++x) {
      EXPECT_EQ(upright.At(x, y)[0], image.At(10 + x, 5 + y)[0]);
      EXPECT_EQ(turned.At(19 - x, 9 - y)[1], image.At(10 + x, 5 + y)[1]);
      EXPECT_EQ(quarter.At(y, 19 - x)[0], image.At(10 + x, 5 + y)[0]);
    }
  }
}

TEST(Crop, BeyondTheEdgeAndFarAway) {
  const Image image = Gradient(60, 40);
  const Image edge = Crop(image, {{{-20, 0}, {10, 0}, {10, 10}, {-20, 10}}});
  EXPECT_EQ(edge.At(0, 5)[0], 10);
  EXPECT_EQ(edge.At(29, 5)[0], image.At(9, 5)[0]);
  const Image far = Crop(image, {{{1e9F, 1e9F}, {1e9F, 1e9F}, {1e9F, 1e9F}, {1e9F, 1e9F}}});
  ASSERT_EQ(far.width, 1);
  EXPECT_EQ(far.At(0, 0)[0], image.At(59, 39)[0]);
}

TEST(Crop, StraightensABentLine) {
  Image image(101, 60);
  for (int x = 0; x < 101; ++x) {  // a line that sags by 20 pixels
    const double part = (x + 0.5) / 101;
    const int middle = static_cast<int>(20 + 20 * 4 * part * (1 - part));
    for (int y = middle - 3; y <= middle + 3; ++y) image.At(x, y)[0] = 255;
  }
  const Image out = Crop(image, {{{0, 10}, {101, 10}, {101, 30}, {0, 30}}}, 1.0F);
  for (int x = 0; x < 101; ++x) EXPECT_GT(out.At(x, 10)[0], 250) << x;
}

TEST(DrawQuad, StaysInTheImage) {
  Image image(20, 10);
  DrawQuad({{{2, 2}, {17, 2}, {17, 7}, {2, 7}}}, {1, 2, 3}, &image);
  EXPECT_EQ(image.At(5, 2)[2], 3);
  EXPECT_EQ(image.At(5, 7)[1], 2);
  EXPECT_EQ(image.At(5, 5)[0], 0);
  DrawQuad({{{-5, -5}, {30, -5}, {30, 30}, {-5, 30}}}, {9, 9, 9}, &image);
  for (const uint8_t value : image.rgb) EXPECT_NE(value, 9);
}

// The first two rows of JPEG files with that orientation: SOI, then an APP1 segment with a TIFF directory of one entry.
std::string JpegHead(const std::string& byte_order, int orientation) {
  const bool big = byte_order == "MM";
  const auto number = [big](unsigned value, int size) {
    std::string out;
    for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * (big ? size - 1 - i : i)) & 255U);
    return out;
  };
  const std::string tiff = byte_order + number(42, 2) + number(8, 4) + number(1, 2) + number(0x0112, 2) + number(3, 2) +
                           number(1, 4) + number(static_cast<unsigned>(orientation), 2) + number(0, 2);
  const std::string exif = std::string("Exif\0\0", 6) + tiff;
  const std::string other("\xFF\xE0\x00\x04xy", 6);
  return "\xFF\xD8" + other + "\xFF\xE1" + std::string(1, '\0') + static_cast<char>(exif.size() + 2) + exif +
         "\xFF\xDA";
}

int OrientationIn(const std::string& bytes) { return ExifOrientation(bytes, JpegSegments(bytes)); }

TEST(ExifOrientation, ReadsBothByteOrders) {
  for (const char* order : {"MM", "II"}) {
    for (int orientation = 1; orientation <= 8; ++orientation)
      EXPECT_EQ(OrientationIn(JpegHead(order, orientation)), orientation);
    EXPECT_EQ(OrientationIn(JpegHead(order, 9)), 1);
    // Any damage is safe.
    const std::string bytes = JpegHead(order, 6);
    for (size_t size = 0; size < bytes.size(); ++size) OrientationIn(bytes.substr(0, size));
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const char value : {'\x00', '\x7f', '\xff'}) {
        std::string damaged = bytes;
        damaged[at] = value;
        const int orientation = OrientationIn(damaged);
        EXPECT_TRUE(orientation >= 1 && orientation <= 8);
      }
    }
  }
  EXPECT_EQ(OrientationIn(""), 1);
  EXPECT_EQ(OrientationIn("\x89PNG"), 1);
}

// The picture's data, which holds 0xFF as 0xFF 0x00, may have tables after it; those of other files' thumbnails lie in
// other segments.
TEST(HuffmanTablesFit, InEachSegmentOfTables) {
  const auto segment = [](char marker, const std::string& content) {
    return std::string("\xFF") + marker + '\0' + static_cast<char>(content.size() + 2) + content;
  };
  const auto table = [](int codes) {
    std::string counts(16, '\0');
    counts[7] = static_cast<char>(codes > 200 ? 200 : codes);
    counts[15] = static_cast<char>(codes > 200 ? codes - 200 : 0);
    return '\x10' + counts;
  };
  const auto fits = [](const std::string& bytes) { return HuffmanTablesFit(bytes, JpegSegments(bytes)); };
  const std::string scan = segment('\xDA', "head") + std::string("data\xFF\0more\xFF\xD0", 12);
  const std::string good = table(3) + "abc" + table(2) + "de";
  EXPECT_EQ(JpegSegments("\xFF\xD8" + scan + segment('\xC4', good) + "\xFF\xD9" + scan).size(), 2U);
  EXPECT_TRUE(fits("\xFF\xD8" + segment('\xC4', good) + scan + "\xFF\xD9"));
  EXPECT_TRUE(fits("\xFF\xD8" + segment('\xE2', segment('\xC4', table(257))) + scan));
  EXPECT_FALSE(fits("\xFF\xD8" + segment('\xC4', table(257)) + scan));
  EXPECT_FALSE(fits("\xFF\xD8" + scan + segment('\xC4', good + table(300)) + scan));
  EXPECT_FALSE(fits("\xFF\xD8\xFF" + segment('\xC4', table(300))));
  EXPECT_TRUE(fits(""));
}

// A pixel at the scene's top left: where each orientation stores it.
TEST(Upright, PutsTheSceneUpright) {
  const int width = 5;
  const int height = 3;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const bool swapped = orientation >= 5;
    const int stored_width = swapped ? height : width;
    const int stored_height = swapped ? width : height;
    Image stored(stored_width, stored_height);
    const bool right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    const bool bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    stored.At(right ? stored_width - 1 : 0, bottom ? stored_height - 1 : 0)[0] = 255;
    const Image scene = Upright(stored, orientation);
    ASSERT_EQ(scene.width, width) << orientation;
    ASSERT_EQ(scene.height, height) << orientation;
    EXPECT_EQ(scene.At(0, 0)[0], 255) << orientation;
  }
}

TEST(MakeBatches, PutsLinesOfOneWidthTogether) {
  const std::vector<Image> lines = {Image(400, 20), Image(10, 20),  Image(398, 20), Image(30, 20),
                                    Image(900, 1),  Image(399, 20), Image(401, 20)};
  const std::vector<Batch> batches = MakeBatches(lines, 48, 160, 1000, 3);
  ASSERT_EQ(batches.size(), 4U);
  EXPECT_EQ(batches[0].width, 160);
  EXPECT_EQ(batches[0].lines, (std::vector<size_t>{1, 3}));
  EXPECT_EQ(batches[1].width, 960);
  EXPECT_EQ(batches[1].lines, (std::vector<size_t>{2, 5, 0}));
  EXPECT_EQ(batches[1].images[2].width, 960);
  EXPECT_EQ(batches[2].lines, (std::vector<size_t>{6}));
  EXPECT_EQ(batches[3].width, 1000);
  EXPECT_EQ(batches[3].images[0].width, 1000);
  EXPECT_EQ(batches[3].images[0].height, 48);
  EXPECT_TRUE(MakeBatches({}, 48, 160, 1000, 3).empty());
}

}  // namespace
}  // namespace ocr
