#include "detector.h"

#include <algorithm>
#include <cmath>

#include "crop.h"
#include "page_direction.h"
#include "resize.h"

namespace ocr {

namespace {

// The rectangle with a side along `right` that holds the image.
RotatedRect RectAround(const Image& image, Point right) {
  const auto width = static_cast<float>(image.width);
  const auto height = static_cast<float>(image.height);
  const float along = std::abs(right.x) * width + std::abs(right.y) * height;
  const float across = std::abs(right.y) * width + std::abs(right.x) * height;
  return {{width / 2, height / 2}, along, across, right};
}

}  // namespace

Size DetectionSize(int width, int height) {
  // Small text is found better when it is enlarged, and a large image takes long: RapidOCR's bounds.
  constexpr double kLeastShortSide = 736;
  constexpr double kMostLongSide = 2000;
  const double shorter = std::min(width, height);
  const double longer = std::max(width, height);
  const double scale = std::min(std::max(kLeastShortSide / shorter, 1.0), kMostLongSide / longer);
  const auto side = [scale](int pixels) {
    return std::max(static_cast<int>(std::lround(pixels * scale / 32)) * 32, 32);
  };
  return {side(width), side(height)};
}

std::vector<TextBox> Detector::FindOnce(const Image& image, const TextBoxOptions& options) {
  const Size size = DetectionSize(image.width, image.height);
  const Image scaled = Resize(image, size.width, size.height);
  const wherry::Tensor output = network_.Run({&scaled}, size.height, size.width);
  const wherry::Shape shape = output.shape();
  if (shape.rank() != 4 || shape.numel() != int64_t{size.width} * size.height || shape[3] != size.width)
    network_.RefuseOutput("text detector", output);
  std::vector<TextBox> boxes = FindTextBoxes({output.data<float>(), size.width, size.height}, options);
  const float x_scale = static_cast<float>(image.width) / static_cast<float>(size.width);
  const float y_scale = static_cast<float>(image.height) / static_cast<float>(size.height);
  for (TextBox& box : boxes) {
    for (Point& corner : box.quad) corner = {corner.x * x_scale, corner.y * y_scale};
  }
  return boxes;
}

std::vector<TextBox> Detector::Find(const Image& image, const TextBoxOptions& options) {
  std::vector<TextBox> boxes = FindOnce(image, options);
  std::vector<Quad> quads;
  for (const TextBox& box : boxes) quads.push_back(box.quad);
  const Point right = PageDirection(quads);
  constexpr float kLevel = 0.17F;  // the sine of 10 degrees
  if (std::min(std::abs(right.x), std::abs(right.y)) < kLevel) return boxes;
  const RotatedRect page = RectAround(image, right);
  const Image level = Crop(image, page.Corners());
  boxes = FindOnce(level, options);
  const Point corner = page.Corners()[0];
  for (TextBox& box : boxes) {
    for (Point& point : box.quad) point = corner + right * point.x + page.down() * point.y;
  }
  return boxes;
}

}  // namespace ocr
