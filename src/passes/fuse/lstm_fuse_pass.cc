// LSTM cells spelled out, one or a sequence of them unrolled, become one layer:
//   z = x W + h R + b, split into four gates (in any order);  c' = sigmoid(f) c + sigmoid(i) tanh(g);
//   h' = sigmoid(o) tanh(c').
// W and R may be one matrix that x and h next to each other are multiplied by. Cells with the same weights are steps of
// one layer when each takes its state from the one before alone, and no x comes out of the layer itself.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "pass/pass_registry.h"
#include "passes/fuse/lstm_cell.h"

namespace wherry::mir {
namespace {

class LstmFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    const NodeList order = graph->StmtTopologicalOrder();
    place_.clear();
    rows_.clear();
    biases_.clear();
    for (size_t i = 0; i < order.size(); ++i) place_.emplace(order[i], i);
    std::vector<LstmCell> cells = Cells(*graph, order);
    if (cells.empty()) return;
    Connect(*graph, &cells);
    std::vector<std::vector<LstmCell>> layers;
    std::vector<int> layer_of(cells.size(), -1);
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].before >= 0) {
        layer_of[i] = layer_of[static_cast<size_t>(cells[i].before)];
        layers[static_cast<size_t>(layer_of[i])].push_back(cells[i]);
      } else {
        layer_of[i] = static_cast<int>(layers.size());
        layers.push_back({cells[i]});
      }
    }
    for (const std::vector<LstmCell>& layer : layers) {
      if (layer.size() == 1 || !FeedsItself(layer)) {
        Replace(graph.get(), layer);
        continue;
      }
      for (const LstmCell& cell : layer) Replace(graph.get(), {cell});
    }
    Note(StrCat(cells.size(), " LSTM cells in ", layers.size(), " layers"));
  }

 private:
  static std::vector<LstmCell> Cells(const SSAGraph& graph, const NodeList& order) {
    std::vector<LstmCell> cells;
    for (Node* stmt : order) {
      if (stmt->AsStmt().op_type() != "add") continue;
      if (std::optional<LstmCell> cell = FindLstmCell(graph, stmt)) cells.push_back(std::move(*cell));
    }
    return cells;
  }

  // Tells x from h, and which cell continues which.
  static void Connect(const SSAGraph& graph, std::vector<LstmCell>* cells) {
    std::unordered_map<const Node*, int> by_state;
    std::vector<int> before(cells->size(), -1);
    for (size_t i = 0; i < cells->size(); ++i) {
      LstmCell& cell = (*cells)[i];
      by_state.emplace(cell.c, static_cast<int>(i));
      const auto found = by_state.find(cell.c_before);
      if (found == by_state.end()) continue;
      Node* h = (*cells)[static_cast<size_t>(found->second)].h;
      if (cell.x.value == h && cell.state.value != h) std::swap(cell.x, cell.state);
      if (cell.state.value != h || cell.state.rows != cell.hidden) continue;
      cell.told_apart = true;
      before[i] = found->second;
    }
    // The first cell's state is multiplied by what the second's is, else by whatever has the right size.
    for (size_t i = cells->size(); i-- > 0;) {
      LstmCell& cell = (*cells)[i];
      if (!cell.told_apart && cell.state.rows != cell.hidden) std::swap(cell.x, cell.state);
      if (before[i] < 0) continue;
      LstmCell& first = (*cells)[static_cast<size_t>(before[i])];
      if (!first.told_apart && first.x.SameWeight(cell.state)) std::swap(first.x, first.state);
      first.told_apart = true;
    }
    for (size_t i = 0; i < cells->size(); ++i) {
      if (before[i] < 0) continue;
      LstmCell& cell = (*cells)[i];
      const LstmCell& first = (*cells)[static_cast<size_t>(before[i])];
      // Its state: read by its own tanh and by the next cell.
      const bool private_state = first.c->outlinks().size() == 2 && !graph.IsOutput(first.c);
      if (private_state && cell.SameLayer(first) &&
          cell.x.value->AsArg().type.dims == first.x.value->AsArg().type.dims) {
        cell.before = before[i];
      }
    }
  }

  // Whether an x follows from what the layer computes.
  bool FeedsItself(const std::vector<LstmCell>& layer) const {
    std::set<const Node*> own;
    size_t first = place_.size();
    for (const LstmCell& cell : layer) {
      for (const Node* stmt : cell.stmts) {
        own.insert(stmt);
        first = std::min(first, place_.at(stmt));
      }
    }
    std::set<const Node*> seen;
    NodeList left;
    for (const LstmCell& cell : layer) left.push_back(cell.x.value);
    while (!left.empty()) {
      const Node* producer = left.back()->producer();
      left.pop_back();
      if (producer == nullptr) continue;
      if (own.count(producer) != 0) return true;
      const auto place = place_.find(producer);  // new statements have none
      if (place != place_.end() && place->second < first) continue;
      if (!seen.insert(producer).second) continue;
      left.insert(left.end(), producer->inlinks().begin(), producer->inlinks().end());
    }
    return false;
  }

  // The gates' rows in the operator's order: [1, 4 H, columns].
  static DenseTensor GateRows(const SSAGraph& graph, const LstmCell& cell, const Product& product) {
    const DenseTensor& weight = graph.WeightTensor(product.weight);
    DenseTensor rows(HostAllocator(), TensorMeta{DataType::kFloat, Shape{1, 4 * cell.hidden, product.rows}});
    const auto* from = weight.data<float>();
    auto* to = rows.mutable_data<float>();
    const int64_t columns = weight.shape()[1];
    for (const int64_t begin : cell.gates) {
      for (int64_t unit = begin; unit < begin + cell.hidden; ++unit) {
        for (int64_t row = product.first_row; row < product.first_row + product.rows; ++row) {
          *to++ = product.transposed ? from[unit * columns + row] : from[row * columns + unit];
        }
      }
    }
    return rows;
  }

  // One for all layers that have it.
  Node* Rows(SSAGraph* graph, const LstmCell& cell, const Product& product) {
    Node*& made = rows_[{product.weight, product.transposed, product.first_row, cell.gates}];
    if (made == nullptr) made = graph->NewWeight(product.weight->AsArg().name, GateRows(*graph, cell, product));
    return made;
  }
  Node* Bias(SSAGraph* graph, const LstmCell& cell) {
    Node*& made = biases_[{cell.biases, cell.gates}];
    if (made == nullptr) made = graph->NewWeight(cell.biases[0]->AsArg().name, BiasSum(*graph, cell));
    return made;
  }

  // The biases' sum, for x; those for the state are 0.
  static DenseTensor BiasSum(const SSAGraph& graph, const LstmCell& cell) {
    DenseTensor bias(HostAllocator(), TensorMeta{DataType::kFloat, Shape{1, 8 * cell.hidden}});
    auto* to = bias.mutable_data<float>();
    std::fill_n(to, bias.numel(), 0.0F);
    for (const Node* node : cell.biases) {
      const auto* from = graph.WeightTensor(node).data<float>();
      for (size_t gate = 0; gate < 4; ++gate) {
        for (int64_t unit = 0; unit < cell.hidden; ++unit) {
          to[static_cast<int64_t>(gate) * cell.hidden + unit] += from[cell.gates[gate] + unit];
        }
      }
    }
    return bias;
  }

  void Replace(SSAGraph* graph, const std::vector<LstmCell>& layer) {
    const LstmCell& first = layer.front();
    const LstmCell& last = layer.back();
    std::set<const Node*> own;
    for (const LstmCell& cell : layer) own.insert(cell.stmts.begin(), cell.stmts.end());
    const auto used = [&](const Node* value) {
      const NodeList& readers = value->outlinks();
      return graph->IsOutput(value) ||
             std::any_of(readers.begin(), readers.end(), [&own](const Node* reader) { return own.count(reader) == 0; });
    };
    const Node* near = last.c->producer();
    const std::string name = last.h->AsArg().name;
    const auto make = [&](const char* op, const Binding& inputs, const AttributeMap& attrs) {
      Node* out = graph->NewArg(name + "." + op);
      InferStmt(graph, graph->NewStmt(op, inputs, {{"out", {out}}}, attrs, near));
      return out;
    };
    const AttributeMap front = {{"axis", IntArray({0})}};
    NodeList steps;
    for (const LstmCell& cell : layer) steps.push_back(cell.x.value);
    Node* x = steps.size() == 1 ? make("unsqueeze", {{"x", steps}}, front)
                                : make("stack", {{"x", steps}}, {{"axis", int64_t{0}}});
    Binding inputs = {{"x", {x}},
                      {"w", {Rows(graph, first, first.x)}},
                      {"r", {Rows(graph, first, first.state)}},
                      {"initial_h", {make("unsqueeze", {{"x", {first.state.value}}}, front)}},
                      {"initial_c", {make("unsqueeze", {{"x", {first.c_before}}}, front)}}};
    if (!first.biases.empty()) inputs["bias"] = {Bias(graph, first)};
    Binding outputs;
    const auto wants = [&](const char* output) {
      outputs[output] = {graph->NewArg(name + "." + output)};
      return outputs[output][0];
    };
    const bool all = std::any_of(layer.begin(), layer.end() - 1, [&](const LstmCell& cell) { return used(cell.h); });
    Node* y = all ? wants("y") : nullptr;
    Node* last_h = used(last.h) || !used(last.c) ? wants("last_h") : nullptr;
    Node* last_c = used(last.c) ? wants("last_c") : nullptr;
    Node* rnn = graph->NewStmt("rnn", inputs, outputs, {{"cell", std::string("lstm")}}, near);
    graph->SetLabel(rnn, last.h->producer()->AsStmt().label());
    InferStmt(graph, rnn);
    // The old results keep their names.
    const auto give = [&](Node* from, Node* to) {
      OpDesc desc("squeeze");
      desc.SetInput("x", {from->AsArg().name});
      desc.SetOutput("out", {to->AsArg().name});
      desc.SetAttr("axis", IntArray({0}));
      graph->NewStmt(desc, near);
    };
    if (last_h != nullptr) give(last_h, last.h);
    if (last_c != nullptr) give(last_c, last.c);
    if (y != nullptr) {
      Node* sequence = make("squeeze", {{"x", {y}}}, {{"axis", IntArray({1})}});
      for (size_t t = 0; t + 1 < layer.size(); ++t) {
        if (!used(layer[t].h)) continue;
        const auto at = static_cast<int64_t>(t);
        give(make("slice", {{"x", {sequence}}},
                  {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({at})}, {"ends", IntArray({at + 1})}}),
             layer[t].h);
      }
    }
    // The last first: what they hand on has no reader then.
    for (auto cell = layer.rbegin(); cell != layer.rend(); ++cell) {
      for (const Node* stmt : cell->stmts) place_.erase(stmt);
      EraseAll(graph, cell->stmts);
    }
  }

  static void EraseAll(SSAGraph* graph, NodeList stmts) {
    while (!stmts.empty()) {
      const size_t before = stmts.size();
      std::erase_if(stmts, [graph](Node* stmt) {
        const bool idle = std::all_of(stmt->outlinks().begin(), stmt->outlinks().end(), [graph](const Node* result) {
          return result->outlinks().empty() && !graph->IsOutput(result);
        });
        if (idle) graph->EraseStmt(stmt);
        return idle;
      });
      WHERRY_CHECK(stmts.size() < before, "a cell's statement is still used");
    }
  }

  using Gates = std::array<int64_t, 4>;
  // The layers' weights, by those they are made of; nothing depends on the order.
  std::map<std::tuple<const Node*, bool, int64_t, Gates>, Node*> rows_;
  std::map<std::pair<NodeList, Gates>, Node*> biases_;
  std::unordered_map<const Node*, size_t> place_;  // of the statements there were, in the order of the graph
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(lstm_fuse_pass, wherry::mir::LstmFusePass).BindTargets({TARGET(kAny)}).BindKernel("rnn");
