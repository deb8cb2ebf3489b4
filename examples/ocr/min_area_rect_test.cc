#include "min_area_rect.h"

#include <gtest/gtest.h>

#include <random>

namespace ocr {
namespace {

TEST(ConvexHull, LeavesOutWhatIsInsideOrOnASide) {
  const std::vector<Point> hull = ConvexHull({{0, 0}, {4, 0}, {2, 0}, {4, 3}, {2, 1}, {0, 3}, {0, 3}, {1, 2}});
  EXPECT_EQ(hull.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_GT(Cross(hull[(i + 1) % 4] - hull[i], hull[(i + 2) % 4] - hull[(i + 1) % 4]), 0) << "clockwise on a screen";
  }
  EXPECT_EQ(ConvexHull({{1, 1}, {2, 2}, {3, 3}}).size(), 2U);
  EXPECT_EQ(ConvexHull({{1, 1}, {1, 1}}).size(), 1U);
  EXPECT_TRUE(ConvexHull({}).empty());
}

// Random points in a turned rectangle, its corners among them: that rectangle is found again.
TEST(MinAreaRect, FindsATurnedRectangle) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> part(-0.5F, 0.5F);
  for (int degrees = -80; degrees <= 80; degrees += 5) {
    const float angle = static_cast<float>(degrees) * 3.14159265F / 180;
    const RotatedRect truth{{50, 40}, 30, 12, {std::cos(angle), std::sin(angle)}};
    const Quad corners = truth.Corners();
    std::vector<Point> points(corners.begin(), corners.end());
    for (int i = 0; i < 100; ++i) {
      points.push_back(truth.center + truth.right * (part(random) * 30) + truth.down() * (part(random) * 12));
    }
    const RotatedRect found = MinAreaRect(points);
    EXPECT_NEAR(found.width * found.height, 360, 0.1) << degrees;
    EXPECT_NEAR(found.center.x, 50, 0.01) << degrees;
    EXPECT_NEAR(found.center.y, 40, 0.01) << degrees;
    EXPECT_NEAR(Length(found.right), 1, 1e-5) << degrees;
    EXPECT_GE(found.right.x, std::abs(found.right.y) - 1e-5F) << degrees;
    EXPECT_NEAR(found.width, std::abs(degrees) < 45 ? 30 : 12, degrees % 45 == 0 ? 20 : 0.01) << degrees;
  }
}

TEST(MinAreaRect, OfPointsThatSpanNoArea) {
  EXPECT_EQ(MinAreaRect({}).width, 0);
  const RotatedRect point = MinAreaRect({{3, 4}});
  EXPECT_EQ(point.center.x, 3);
  EXPECT_EQ(point.width, 0);
  const RotatedRect line = MinAreaRect({{0, 0}, {2, 2}, {4, 4}});
  EXPECT_NEAR(line.width * line.height, 0, 1e-4);
  EXPECT_NEAR(std::max(line.width, line.height), 5.6569, 1e-3);
}

}  // namespace
}  // namespace ocr
