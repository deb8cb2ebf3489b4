// LSTM and GRU cells as exporters spell them out, found in a graph.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/ssa_graph.h"
#include "op/recurrent.h"
#include "passes/fuse/linear_sum.h"

namespace wherry::mir {

// With the gates z = x W + h R + biases, each on columns of its own:
//   LSTM: c = sigmoid(forget) c_before + sigmoid(input) tanh(cell), h = sigmoid(output) tanh(c);
//   GRU:  h = (1 - u) tanh(hidden) + u h_before for u = sigmoid(update), where the reset gate multiplies h_before in
//         the hidden gate, or, linear before reset, what that is multiplied to.
struct RecurrentCell {
  // What is multiplied by the weights, and for each gate, in the order of the operator rnn, by which part of them.
  struct Operand {
    Node* value = nullptr;
    std::vector<WeightBlock> gates;
    bool SameWeights(const Operand& other) const { return gates == other.gates; }
  };

  RnnCell kind = RnnCell::kLstm;
  bool linear_before_reset = false;
  int64_t hidden = 0;
  Node* h = nullptr;
  Node* c = nullptr;         // of an LSTM
  Node* c_before = nullptr;  // of an LSTM
  Operand x;
  Operand state;
  bool told_apart = false;                   // x and state are not just in the order they were found
  std::vector<std::vector<Columns>> biases;  // of each gate, for x; then for the state
  NodeList stmts;                            // all that it consists of
  int before = -1;                           // the cell that it continues; for who connects them

  // What one cell hands to the next.
  Node* carried() const { return c != nullptr ? c : h; }
  Node* carried_before() const { return c != nullptr ? c_before : state.value; }
  bool SameLayer(const RecurrentCell& other) const {
    return kind == other.kind && linear_before_reset == other.linear_before_reset && x.SameWeights(other.x) &&
           state.SameWeights(other.state) && biases == other.biases;
  }
};

// The cell whose new state (c of an LSTM, h of a GRU) the addition gives, if it is one: f32 of rank 2, with nothing of
// it used elsewhere but c and h.
std::optional<RecurrentCell> FindRecurrentCell(const SSAGraph& graph, Node* add);

}  // namespace wherry::mir
