#include "pass/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace wherry {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Random {
  std::mt19937 generator{1};  // NOLINT: the same numbers each time
  size_t Below(size_t n) { return generator() % n; }
  std::vector<double> Costs(size_t n) {
    std::vector<double> costs(n);
    for (double& cost : costs) cost = static_cast<double>(Below(100));
    return costs;
  }
};

double LeastOfAll(const AssignmentProblem& problem, const std::vector<size_t>& alternatives) {
  std::vector<size_t> choice(alternatives.size());
  double least = kNever;
  while (true) {
    least = std::min(least, problem.CostOf(choice));
    size_t node = 0;
    while (node < choice.size() && ++choice[node] == alternatives[node]) choice[node++] = 0;
    if (node == choice.size()) return least;
  }
}

TEST(AssignmentTest, AConversionOnAnEdgeDecidesForBothEnds) {
  AssignmentProblem problem;
  const size_t a = problem.AddNode({10, 8});
  const size_t b = problem.AddNode({3, 7});
  problem.AddEdge(a, b, {0, 6, 6, 0});
  EXPECT_EQ(problem.Solve(), (std::vector<size_t>{0, 0}));  // 13; 8 + 6 + 3, 8 + 7 and 10 + 6 + 7 are more
  EXPECT_EQ(problem.CostOf({1, 1}), 15);
}

TEST(AssignmentTest, WhatMustNotBeIsNotChosen) {
  AssignmentProblem problem;
  const size_t a = problem.AddNode({0, 5, 6});
  const size_t b = problem.AddNode({kNever, 1});
  problem.AddEdge(b, a, {0, 0, 0, kNever, kNever, 100});
  EXPECT_EQ(problem.Solve(), (std::vector<size_t>{2, 1}));
}

TEST(AssignmentTest, ChainsTreesAndResidualBlocksAreSolvedExactly) {
  Random random;
  for (int round = 0; round < 200; ++round) {
    AssignmentProblem problem;
    std::vector<size_t> alternatives;
    for (size_t node = 0; node < 8; ++node) {
      alternatives.push_back(1 + random.Below(3));
      problem.AddNode(random.Costs(alternatives.back()));
      const auto connect = [&](size_t other) {
        problem.AddEdge(node, other, random.Costs(alternatives[node] * alternatives[other]));
      };
      if (node > 0) connect(node - 1 - (round % 2 == 0 ? 0 : random.Below(std::min<size_t>(node, 2))));
      if (node > 1 && node % 3 == 2 && round % 2 == 0) connect(node - 2);  // the skip of a block
    }
    EXPECT_EQ(problem.CostOf(problem.Solve()), LeastOfAll(problem, alternatives)) << round;
  }
}

TEST(AssignmentTest, DenseGraphsGetAGoodAnswer) {
  Random random;
  double found = 0;
  double least = 0;
  for (int round = 0; round < 100; ++round) {
    AssignmentProblem problem;
    const std::vector<size_t> alternatives(7, 3);
    for (size_t node = 0; node < alternatives.size(); ++node) {
      problem.AddNode(random.Costs(3));
      for (size_t other = 0; other < node; ++other) problem.AddEdge(other, node, random.Costs(9));
    }
    found += problem.CostOf(problem.Solve());
    least += LeastOfAll(problem, alternatives);
  }
  EXPECT_GE(found, least);
  EXPECT_LE(found, 1.25 * least);
}

TEST(AssignmentTest, ALongChainAndAWideFanOutAreQuick) {
  AssignmentProblem problem;
  const size_t hub = problem.AddNode({1, 0});
  size_t last = hub;
  for (int i = 0; i < 20000; ++i) {
    const size_t node = problem.AddNode({0, 1});
    problem.AddEdge(i % 2 == 0 ? last : hub, node, {0, 1, 1, 0});
    last = node;
  }
  const std::vector<size_t> choice = problem.Solve();
  EXPECT_EQ(problem.CostOf(choice), 1);
}

}  // namespace
}  // namespace wherry
