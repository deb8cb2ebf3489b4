#include "pass/assignment.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/check.h"

namespace wherry {
namespace {

// Rows are the alternatives of one node, columns those of the other.
struct Matrix {
  size_t rows = 0;
  size_t columns = 0;
  std::vector<double> costs;

  double at(size_t i, size_t j) const { return costs[i * columns + j]; }
  double& at(size_t i, size_t j) { return costs[i * columns + j]; }
};

Matrix Transposed(const Matrix& m) {
  Matrix result{m.columns, m.rows, std::vector<double>(m.costs.size())};
  for (size_t i = 0; i < m.rows; ++i) {
    for (size_t j = 0; j < m.columns; ++j) result.at(j, i) = m.at(i, j);
  }
  return result;
}

size_t Least(const std::vector<double>& costs) {
  return static_cast<size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

class Solver {
 public:
  explicit Solver(std::vector<std::vector<double>> costs)
      : costs_(std::move(costs)), edges_(costs_.size()), present_(costs_.size(), true), choice_(costs_.size()) {}

  // Seen from a; `matrix` has a's alternatives as rows.
  void Connect(size_t a, size_t b, Matrix matrix) {
    const auto found = edges_[a].find(b);
    if (found == edges_[a].end()) {
      edges_[b].emplace(a, Transposed(matrix));
      edges_[a].emplace(b, std::move(matrix));
      return;
    }
    Matrix& back = edges_[b].at(a);
    for (size_t i = 0; i < matrix.rows; ++i) {
      for (size_t j = 0; j < matrix.columns; ++j) {
        found->second.at(i, j) += matrix.at(i, j);
        back.at(j, i) += matrix.at(i, j);
      }
    }
  }

  std::vector<size_t> Solve() {
    for (size_t node = 0; node < costs_.size(); ++node) Enqueue(node);
    for (size_t left = costs_.size(); left > 0; --left) Remove(Next());
    // Those taken away last know the choices of all their neighbours.
    for (auto taken = taken_.rbegin(); taken != taken_.rend(); ++taken) {
      std::vector<double> total = costs_[taken->node];
      for (const auto& [neighbour, matrix] : taken->edges) {
        for (size_t i = 0; i < total.size(); ++i) total[i] += matrix.at(i, choice_[neighbour]);
      }
      choice_[taken->node] = Least(total);
    }
    return choice_;
  }

 private:
  struct Taken {
    size_t node;
    std::map<size_t, Matrix> edges;  // to nodes taken later
  };

  void Enqueue(size_t node) {
    if (edges_[node].size() <= 2) few_.push_back(node);
  }

  size_t Next() {
    while (!few_.empty()) {
      const size_t node = few_.back();
      few_.pop_back();
      if (present_[node] && edges_[node].size() <= 2) return node;
    }
    size_t most = costs_.size();
    for (size_t node = 0; node < costs_.size(); ++node) {
      if (present_[node] && (most == costs_.size() || edges_[node].size() > edges_[most].size())) most = node;
    }
    return most;
  }

  // Takes a node away; what its best choice costs goes to its neighbours.
  void Remove(size_t node) {
    present_[node] = false;
    std::map<size_t, Matrix> edges = std::move(edges_[node]);
    edges_[node].clear();
    for (const auto& [neighbour, matrix] : edges) edges_[neighbour].erase(node);
    const std::vector<double>& costs = costs_[node];
    if (edges.size() == 1) {
      const auto& [neighbour, matrix] = *edges.begin();
      for (size_t j = 0; j < matrix.columns; ++j) {
        double best = std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < matrix.rows; ++i) best = std::min(best, costs[i] + matrix.at(i, j));
        costs_[neighbour][j] += best;
      }
    } else if (edges.size() == 2) {
      const auto& [a, to_a] = *edges.begin();
      const auto& [b, to_b] = *std::next(edges.begin());
      Matrix joined{to_a.columns, to_b.columns, std::vector<double>(to_a.columns * to_b.columns)};
      for (size_t i = 0; i < joined.rows; ++i) {
        for (size_t j = 0; j < joined.columns; ++j) {
          double best = std::numeric_limits<double>::infinity();
          for (size_t k = 0; k < costs.size(); ++k) best = std::min(best, costs[k] + to_a.at(k, i) + to_b.at(k, j));
          joined.at(i, j) = best;
        }
      }
      Connect(a, b, std::move(joined));
    } else if (edges.size() > 2) {
      Fix(node, edges);
      edges.clear();
    }
    for (const auto& [neighbour, matrix] : edges) Enqueue(neighbour);
    taken_.push_back({node, std::move(edges)});
  }

  // Chooses for a node with many neighbours, each of which answers with what is best for the two of them.
  void Fix(size_t node, const std::map<size_t, Matrix>& edges) {
    std::vector<double> total = costs_[node];
    for (const auto& [neighbour, matrix] : edges) {
      for (size_t i = 0; i < total.size(); ++i) {
        double best = std::numeric_limits<double>::infinity();
        for (size_t j = 0; j < matrix.columns; ++j) best = std::min(best, costs_[neighbour][j] + matrix.at(i, j));
        total[i] += best;
      }
    }
    const size_t choice = Least(total);
    // Nothing else is left to choose: the rest is what this choice costs.
    for (size_t i = 0; i < total.size(); ++i) {
      if (i != choice) costs_[node][i] = std::numeric_limits<double>::infinity();
    }
    for (const auto& [neighbour, matrix] : edges) {
      for (size_t j = 0; j < matrix.columns; ++j) costs_[neighbour][j] += matrix.at(choice, j);
      Enqueue(neighbour);
    }
  }

  std::vector<std::vector<double>> costs_;
  std::vector<std::map<size_t, Matrix>> edges_;
  std::vector<bool> present_;
  std::vector<size_t> choice_;
  std::vector<size_t> few_;  // perhaps with two neighbours or fewer
  std::vector<Taken> taken_;
};

}  // namespace

size_t AssignmentProblem::AddNode(std::vector<double> costs) {
  WHERRY_CHECK(!costs.empty(), "nothing to choose");
  nodes_.push_back(std::move(costs));
  return nodes_.size() - 1;
}

void AssignmentProblem::AddEdge(size_t a, size_t b, std::vector<double> costs) {
  WHERRY_CHECK(a != b && a < nodes_.size() && b < nodes_.size(), "an edge of nodes ", a, " and ", b);
  WHERRY_CHECK(costs.size() == nodes_[a].size() * nodes_[b].size(), "costs of an edge: ", costs.size());
  edges_.push_back({a, b, std::move(costs)});
}

std::vector<size_t> AssignmentProblem::Solve() const {
  Solver solver(nodes_);
  for (const Edge& edge : edges_) {
    solver.Connect(edge.a, edge.b, {nodes_[edge.a].size(), nodes_[edge.b].size(), edge.costs});
  }
  return solver.Solve();
}

double AssignmentProblem::CostOf(const std::vector<size_t>& choice) const {
  double cost = 0;
  for (size_t node = 0; node < nodes_.size(); ++node) cost += nodes_[node][choice[node]];
  for (const Edge& edge : edges_) cost += edge.costs[choice[edge.a] * nodes_[edge.b].size() + choice[edge.b]];
  return cost;
}

}  // namespace wherry
