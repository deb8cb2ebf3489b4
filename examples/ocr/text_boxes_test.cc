#include "text_boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "bend.h"
#include "min_area_rect.h"

namespace ocr {
namespace {

// A map whose cells are 0.9 where their centre is inside, else 0.1.
struct TestMap {
  int width;
  int height;
  std::vector<float> data;

  TestMap(int w, int h, const std::function<bool(Point)>& inside) : width(w), height(h) {
    for (int y = 0; y < h; ++y) {
      for (int x = 0; x < w; ++x)
        data.push_back(inside({static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F}) ? 0.9F : 0.1F);
    }
  }
  ProbabilityMap View() const { return {data.data(), width, height}; }
};

bool IsInside(Point point, const RotatedRect& rect) {
  const Point offset = point - rect.center;
  return std::abs(Dot(offset, rect.right)) < rect.width / 2 && std::abs(Dot(offset, rect.down())) < rect.height / 2;
}

Point AtAngle(float degrees) {
  const float angle = degrees * 3.14159265F / 180;
  return {std::cos(angle), std::sin(angle)};
}

TEST(FindRegions, TouchingCellsAreOne) {
  const std::string picture =
      "##..#"
      "..#.#"  // joined at corners
      "....."
      "###.#";
  std::vector<float> data;
  for (const char c : picture) data.push_back(c == '#' ? 0.5F : 0.3F);
  const std::vector<Region> regions = FindRegions({data.data(), 5, 4}, 0.3F);
  ASSERT_EQ(regions.size(), 4U);
  EXPECT_EQ(regions[0].cells.size(), 3U);
  EXPECT_EQ(regions[1].cells.size(), 2U);
  EXPECT_EQ(regions[2].cells.size(), 3U);
  EXPECT_EQ(regions[3].cells.size(), 1U);
  const RotatedRect rect = MinAreaRect(regions[2].Outline());
  EXPECT_EQ(rect.width, 3);
  EXPECT_EQ(rect.height, 1);
  EXPECT_EQ(rect.center.x, 1.5F);
  EXPECT_EQ(rect.center.y, 3.5F);
  EXPECT_TRUE(FindRegions({data.data(), 5, 4}, 0.5F).empty());
  EXPECT_TRUE(FindRegions({nullptr, 0, 0}, 0.3F).empty());
}

TEST(FindRegions, OneThatFillsALargeMap) {
  const std::vector<float> data(1000 * 700, 1.0F);
  const std::vector<Region> regions = FindRegions({data.data(), 1000, 700}, 0.3F);
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(regions[0].cells.size(), data.size());
}

TEST(MeanInside, CountsCellsByTheirCentre) {
  const TestMap map(40, 40, [](Point p) { return p.x < 20; });
  EXPECT_NEAR(MeanInside(map.View(), {{20, 20}, 20, 10, {1, 0}}), 0.5, 1e-5);
  EXPECT_NEAR(MeanInside(map.View(), {{20, 20}, 20, 10, AtAngle(90)}), 0.5, 1e-5);
  EXPECT_NEAR(MeanInside(map.View(), {{10, 20}, 12, 6, AtAngle(30)}), 0.9, 1e-5);
  EXPECT_NEAR(MeanInside(map.View(), {{0, 0}, 200, 200, AtAngle(45)}), 0.5, 1e-5) << "beyond the map";
  EXPECT_EQ(MeanInside(map.View(), {{-50, -50}, 10, 10, {1, 0}}), 0) << "outside";
}

// Text in all directions: the box lies around the region, grown as the network was taught to shrink it, and a little
// more; text reads from left to right, and down in what is higher than wide.
TEST(FindTextBoxes, GrowsAndTurns) {
  for (int degrees = -85; degrees <= 90; degrees += 7) {
    const RotatedRect inner{{150, 150}, 200, 10, AtAngle(static_cast<float>(degrees))};
    const TestMap map(300, 300, [&](Point p) { return IsInside(p, inner); });
    const std::vector<TextBox> boxes = FindTextBoxes(map.View());
    ASSERT_EQ(boxes.size(), 1U) << degrees;
    const Quad& quad = boxes[0].quad;
    // The cells' corners stand out by up to one cell, which grows with the rest.
    const float offset = 200 * 10 * 1.6F / (2 * 210);
    EXPECT_NEAR(Width(quad), 200 + 2 * offset + 2.5F, 4) << degrees;
    EXPECT_NEAR(Height(quad), (10 + 2 * offset) * 1.2F, 5) << degrees;
    EXPECT_NEAR(Center(quad).x, 150, 1) << degrees;
    EXPECT_NEAR(Center(quad).y, 150, 1) << degrees;
    const Point direction = Direction(quad);
    EXPECT_GT(std::abs(degrees) <= 45 ? direction.x : direction.y, 0.6F) << degrees;
    EXPECT_NEAR(Cross(direction, inner.right), 0, 0.05) << degrees;
    EXPECT_EQ(boxes[0].bend, 0);
    EXPECT_GT(boxes[0].score, 0.7F);
  }
}

TEST(FindTextBoxes, LeavesOutWhatIsTooSmallOrTooFaint) {
  const TestMap small(50, 50, [](Point p) { return p.y > 10 && p.y < 12; });
  EXPECT_TRUE(FindTextBoxes(small.View()).empty());
  TestMap faint(50, 50, [](Point p) { return p.y > 10 && p.y < 20; });
  EXPECT_EQ(FindTextBoxes(faint.View()).size(), 1U);
  for (float& value : faint.data) value /= 2;
  EXPECT_TRUE(FindTextBoxes(faint.View()).empty());
  for (float& value : faint.data) value = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(FindTextBoxes(faint.View()).empty());
}

// A strip along a parabola, in any direction: its ends and its bend are found.
TEST(FitBentStrip, FollowsAParabola) {
  for (int degrees = -40; degrees <= 40; degrees += 10) {
    for (const float sagitta : {-20.0F, 0.0F, 12.0F}) {
      const Point right = AtAngle(static_cast<float>(degrees));
      const Point down{-right.y, right.x};
      const TestMap map(300, 300, [&](Point p) {
        const float s = Dot(p - Point{150, 150}, right) / 100;
        const float t = Dot(p - Point{150, 150}, down) - sagitta * (1 - s * s);
        return std::abs(s) < 1 && std::abs(t) < 5;
      });
      const std::vector<Region> regions = FindRegions(map.View(), 0.3F);
      ASSERT_EQ(regions.size(), 1U);
      const BentStrip strip = FitBentStrip(regions[0], MinAreaRect(regions[0].Outline()));
      EXPECT_NEAR(strip.rect.height, 11, 1.5) << degrees;
      EXPECT_NEAR(strip.rect.width, 200, 8) << degrees;
      EXPECT_NEAR(strip.bend * strip.rect.height, sagitta, 2) << degrees;
      EXPECT_NEAR(strip.rect.center.x, 150, 2) << degrees;
      EXPECT_NEAR(strip.rect.center.y, 150, 2) << degrees;
      EXPECT_NEAR(Cross(strip.rect.right, right), 0, 0.02) << degrees;
    }
  }
}

TEST(FindTextBoxes, FollowsABentLine) {
  const TestMap map(300, 100, [](Point p) {
    const float s = (p.x - 150) / 140;
    return std::abs(s) < 1 && std::abs(p.y - 30 - 35 * (1 - s * s)) < 5;
  });
  const std::vector<TextBox> boxes = FindTextBoxes(map.View());
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_NEAR(boxes[0].bend * Height(boxes[0].quad), 35, 4);
  EXPECT_NEAR(boxes[0].UpsideDown().bend, -boxes[0].bend, 1e-6);
  const Quad around = boxes[0].Around();
  EXPECT_LT(around[0].y, 25);
  EXPECT_GT(around[2].y, 70);
  const Quad turned = boxes[0].UpsideDown().Around();
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(Length(turned[i] - around[(i + 2) % 4]), 0, 1e-3);
}

}  // namespace
}  // namespace ocr
