// An LSTM cell as exporters spell it out, found in a graph.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ir/ssa_graph.h"

namespace wherry::mir {

// A value times rows [first_row, first_row + rows) of a weight of `gates` columns, whose transpose is stored or not.
struct Product {
  Node* value = nullptr;
  Node* weight = nullptr;
  bool transposed = false;
  int64_t first_row = 0;
  int64_t rows = 0;

  bool SameWeight(const Product& other) const {
    return weight == other.weight && transposed == other.transposed && first_row == other.first_row &&
           rows == other.rows;
  }
};

// c = sigmoid(f) c_before + sigmoid(i) tanh(g), h = sigmoid(o) tanh(c), with f, i, g and o the parts of
// x W + state R + biases.
struct LstmCell {
  Node* c = nullptr;
  Node* h = nullptr;
  Node* c_before = nullptr;
  std::array<int64_t, 4> gates{};  // where in z each begins: input, output, forget, cell, as the operator rnn has them
  int64_t hidden = 0;
  Product x;
  Product state;
  bool told_apart = false;  // x and state are not just in the order they were found
  NodeList biases;
  NodeList stmts;   // all that it consists of
  int before = -1;  // the cell that it continues

  bool SameLayer(const LstmCell& other) const {
    return x.SameWeight(other.x) && state.SameWeight(other.state) && biases == other.biases && gates == other.gates;
  }
};

// The cell whose new state the addition gives, if it is one: f32 of rank 2, with nothing of it used elsewhere but c and
// h. `before` is not set.
std::optional<LstmCell> FindLstmCell(const SSAGraph& graph, Node* add);

}  // namespace wherry::mir
