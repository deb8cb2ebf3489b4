// How the scores and weights of an attention come about: what stands between its two products.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "ir/ssa_graph.h"

namespace wherry::mir {

// A mask, and the dimensions of the scores that it meets.
struct Mask {
  Node* arg;
  std::vector<Dim> scores;
};

// How the scores come about, from the softmax back to the product.
struct Scores {
  Node* product = nullptr;  // the statement
  double scale = 1.0;
  Node* head_scale = nullptr;  // [heads, 1, 1], or with dimensions of 1 before
  std::vector<Mask> masks;     // several: all are added
  bool chooses = false;        // the one mask is boolean
  bool inverted = false;       // a boolean mask: whether true, rather than false, gives masked_score
  double masked_score = -std::numeric_limits<double>::infinity();
  std::vector<Node*> stmts;  // that it replaces, the last first
};

// Reads the scores backwards from `value`; nothing if something else is in between.
std::optional<Scores> ReadScores(const SSAGraph& graph, Node* value, Scores scores = {});

// What stands between the softmax and the product with the values.
struct Weights {
  Node* product;
  bool zero_masked_rows = false;
  std::vector<Node*> stmts;  // the last first
};

// Reads the weights forwards from the softmax; nothing likewise.
std::optional<Weights> ReadWeights(const SSAGraph& graph, Node* softmax);

}  // namespace wherry::mir
