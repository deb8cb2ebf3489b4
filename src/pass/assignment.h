// Choosing one alternative for each of many things at once, where neighbours' choices cost something together: the
// partitioned boolean quadratic problem. Source: Anderson and Gregg, "Optimal DNN primitive selection with partitioned
// boolean quadratic programming", CGO 2018; the reductions are Scholz and Eckstein's, LCTES 2002.
#pragma once

#include <cstddef>
#include <vector>

namespace wherry {

// Costs are finite or infinity (must not be); not NaN, not negative infinity.
class AssignmentProblem {
 public:
  // A thing to choose an alternative for, each at this cost; there must be one at least. Its number: 0, 1, ...
  size_t AddNode(std::vector<double> costs);
  // What choices of a and b cost together: costs[i * (alternatives of b) + j]. a != b; again for a pair: added.
  void AddEdge(size_t a, size_t b, std::vector<double> costs);

  // A choice for each node of the least total cost where taking away nodes of one or two neighbours leaves none
  // (chains, trees, residual blocks); beyond that the node with most neighbours takes what is locally best. O(nodes +
  // edges) for bounded alternatives and neighbours.
  std::vector<size_t> Solve() const;
  double CostOf(const std::vector<size_t>& choice) const;

 private:
  struct Edge {
    size_t a;
    size_t b;
    std::vector<double> costs;
  };
  std::vector<std::vector<double>> nodes_;
  std::vector<Edge> edges_;
};

}  // namespace wherry
