#include "ir/layered_layout.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wherry {
namespace {

constexpr LayoutSize kBox{80, 30};

bool Overlap(const LayoutPoint& a, const LayoutPoint& b) {
  return std::abs(a.x - b.x) < kBox.width && std::abs(a.y - b.y) < kBox.height;
}

TEST(LayeredLayout, NothingAndOne) {
  EXPECT_TRUE(LayOut({}, {}).centres.empty());
  const LayeredLayout one = LayOut({kBox}, {});
  EXPECT_EQ(one.centres[0].x, 40);
  EXPECT_EQ(one.centres[0].y, 15);
  EXPECT_EQ(one.size.width, 80);
}

TEST(LayeredLayout, AChainIsStraight) {
  const LayeredLayout layout = LayOut({kBox, {20, 30}, kBox}, {{0, 1}, {1, 2}});
  EXPECT_NEAR(layout.centres[0].x, layout.centres[1].x, 1e-6);
  EXPECT_NEAR(layout.centres[0].x, layout.centres[2].x, 1e-6);
  EXPECT_LT(layout.centres[0].y, layout.centres[1].y);
  EXPECT_LT(layout.centres[1].y, layout.centres[2].y);
}

// An edge past a chain runs beside the chain's nodes, not through them.
TEST(LayeredLayout, LanesKeepClearOfNodes) {
  const LayeredLayout layout = LayOut({kBox, kBox, kBox, kBox}, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  const std::vector<LayoutPoint>& route = layout.routes[3];
  ASSERT_EQ(route.size(), 6U);
  for (size_t i = 1; i + 1 < route.size(); ++i) {
    for (const LayoutPoint& centre : layout.centres)
      EXPECT_FALSE(std::abs(route[i].x - centre.x) < 40 && std::abs(route[i].y - centre.y) < 15) << i;
  }
}

TEST(LayeredLayout, TenThousandNodesWithManyReadersOfOne) {
  std::vector<LayoutSize> nodes(10000, kBox);
  std::vector<LayoutEdge> edges;
  for (int i = 1; i < 10000; ++i) {
    edges.push_back({i - 1, i});
    if (i % 3 == 0) edges.push_back({0, i});
    if (i > 7 && i % 5 == 0) edges.push_back({i - 7, i});
  }
  const LayeredLayout layout = LayOut(nodes, edges);
  ASSERT_EQ(layout.centres.size(), nodes.size());
  for (size_t i = 1; i < nodes.size(); ++i) ASSERT_FALSE(Overlap(layout.centres[i - 1], layout.centres[i])) << i;
  size_t points = 0;
  for (const auto& route : layout.routes) points += route.size();
  EXPECT_LT(points, nodes.size() * 32);
}

TEST(LayeredLayout, WideLayersDoNotOverlap) {
  std::vector<LayoutSize> nodes(202, kBox);
  std::vector<LayoutEdge> edges;
  for (int i = 1; i <= 200; ++i) {
    edges.push_back({0, i});
    edges.push_back({i, 201});
  }
  const LayeredLayout layout = LayOut(nodes, edges);
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) ASSERT_FALSE(Overlap(layout.centres[i], layout.centres[j])) << i << " " << j;
  }
}

}  // namespace
}  // namespace wherry
