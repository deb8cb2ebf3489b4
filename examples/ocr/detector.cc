#include "detector.h"

#include <algorithm>
#include <cmath>

#include "resize.h"

namespace ocr {

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

std::vector<TextBox> Detector::Find(const Image& image, const TextBoxOptions& options) {
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

}  // namespace ocr
