#include "reading_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace ocr {
namespace {

using Order = std::vector<size_t>;

Quad Box(float left, float top, float right, float bottom) {
  return {{{left, top}, {right, top}, {right, bottom}, {left, bottom}}};
}

// The quads in their right order; they are found again from any order, and on a page at any angle.
void ExpectOrder(const std::vector<Quad>& quads) {
  std::mt19937 random(5);
  for (const double degrees : {0.0, 4.0, -12.0, 90.0, 180.0, 250.0}) {
    const auto c = static_cast<float>(std::cos(degrees * 3.14159265 / 180));
    const auto s = static_cast<float>(std::sin(degrees * 3.14159265 / 180));
    Order where(quads.size());
    std::iota(where.begin(), where.end(), size_t{0});
    std::shuffle(where.begin(), where.end(), random);
    std::vector<Quad> turned;
    for (const size_t i : where) {
      Quad quad = quads[i];
      for (Point& point : quad) point = {c * point.x - s * point.y, s * point.x + c * point.y};
      turned.push_back(quad);
    }
    Order found;
    for (const size_t i : ReadingOrder(turned)) found.push_back(where[i]);
    Order expected(quads.size());
    std::iota(expected.begin(), expected.end(), size_t{0});
    EXPECT_EQ(found, expected) << degrees << " degrees";
  }
}

std::vector<Quad> Column(float left, float right, float top, int lines) {
  std::vector<Quad> quads;
  for (int i = 0; i < lines; ++i) {
    const float y = top + 24 * static_cast<float>(i);
    quads.push_back(Box(left, y, i == lines - 1 ? (left + right) / 2 : right, y + 22));
  }
  return quads;
}

void Append(const std::vector<Quad>& more, std::vector<Quad>* quads) {
  quads->insert(quads->end(), more.begin(), more.end());
}

TEST(ReadingOrder, RowsFromLeftToRight) {
  ExpectOrder(
      {Box(10, 10, 200, 30), Box(10, 40, 90, 60), Box(100, 43, 150, 62), Box(160, 38, 300, 59), Box(10, 66, 300, 88)});
  EXPECT_TRUE(ReadingOrder({}).empty());
  EXPECT_EQ(ReadingOrder({Box(1, 1, 1, 1)}), Order{0});
}

TEST(ReadingOrder, OverlappingBoxesOfCloseLines) {
  ExpectOrder({Box(10, 10, 300, 40), Box(10, 32, 300, 62), Box(10, 54, 180, 84)});
}

TEST(ReadingOrder, ColumnsOfTextUnderATitleAndAboveAFooter) {
  std::vector<Quad> quads = {Box(150, 10, 650, 50)};
  Append(Column(20, 390, 80, 12), &quads);
  Append(Column(420, 790, 91, 11), &quads);
  quads.push_back(Box(100, 400, 700, 420));
  ExpectOrder(quads);
}

TEST(ReadingOrder, ThreeColumns) {
  std::vector<Quad> quads;
  for (const float left : {10.0F, 260.0F, 510.0F}) Append(Column(left, left + 220, 20, 9), &quads);
  ExpectOrder(quads);
}

TEST(ReadingOrder, TablesByRows) {
  std::vector<Quad> quads;
  for (int row = 0; row < 5; ++row) {
    const float y = 20 + 30 * static_cast<float>(row);
    quads.push_back(Box(20, y, 200, y + 24));
    quads.push_back(Box(320, y + 2, 380, y + 25));
  }
  ExpectOrder(quads);
}

}  // namespace
}  // namespace ocr
