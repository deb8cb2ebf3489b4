// LSTM and GRU cells spelled out, one or a sequence of them unrolled, become one layer; so does a loop whose body is
// such a layer of one step. Cells with the same weights are steps of one layer when each takes its state from the one
// before alone, and no x comes out of the layer itself.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "op/control_flow.h"
#include "pass/pass_registry.h"
#include "passes/fuse/recurrent_cell.h"
#include "passes/fuse/recurrent_loop.h"

namespace wherry::mir {
namespace {

class RecurrentFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    FuseCells(graph.get());
    const NodeList owners = graph->StmtsWithBlocks();
    const auto loops = std::count_if(owners.begin(), owners.end(), [&](Node* stmt) {
      return IsLoop(stmt->AsStmt().schema()) && FuseRecurrentLoop(graph.get(), stmt);
    });
    if (loops > 0) Note(StrCat(loops, " loops over a recurrent cell"));
  }

 private:
  void FuseCells(SSAGraph* graph) {
    const NodeList order = graph->StmtTopologicalOrder();
    place_.clear();
    rows_.clear();
    biases_.clear();
    for (size_t i = 0; i < order.size(); ++i) place_.emplace(order[i], i);
    std::vector<RecurrentCell> cells = Cells(*graph, order);
    if (cells.empty()) return;
    Connect(*graph, &cells);
    std::vector<std::vector<RecurrentCell>> layers;
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
    for (const std::vector<RecurrentCell>& layer : layers) {
      if (layer.size() == 1 || !FeedsItself(layer)) {
        Replace(graph, layer);
        continue;
      }
      for (const RecurrentCell& cell : layer) Replace(graph, {cell});
    }
    Note(StrCat(cells.size(), " recurrent cells in ", layers.size(), " layers"));
  }

  static std::vector<RecurrentCell> Cells(const SSAGraph& graph, const NodeList& order) {
    std::vector<RecurrentCell> cells;
    for (Node* stmt : order) {
      if (stmt->AsStmt().op_type() != "add") continue;
      if (std::optional<RecurrentCell> cell = FindRecurrentCell(graph, stmt)) cells.push_back(std::move(*cell));
    }
    return cells;
  }

  // Tells x from h, and which cell continues which.
  static void Connect(const SSAGraph& graph, std::vector<RecurrentCell>* cells) {
    std::unordered_map<const Node*, int> by_state;
    std::vector<int> before(cells->size(), -1);
    for (size_t i = 0; i < cells->size(); ++i) {
      RecurrentCell& cell = (*cells)[i];
      by_state.emplace(cell.carried(), static_cast<int>(i));
      const auto found = by_state.find(cell.carried_before());
      if (found == by_state.end()) continue;
      const RecurrentCell& first = (*cells)[static_cast<size_t>(found->second)];
      if (cell.kind != first.kind) continue;
      if (cell.x.value == first.h && cell.state.value != first.h) std::swap(cell.x, cell.state);
      if (cell.state.value != first.h || cell.state.gates[0].rows != cell.hidden) continue;
      cell.told_apart = true;
      before[i] = found->second;
    }
    // The first cell's state is multiplied by what the second's is, else by whatever has the right size.
    for (size_t i = cells->size(); i-- > 0;) {
      RecurrentCell& cell = (*cells)[i];
      if (!cell.told_apart && cell.state.gates[0].rows != cell.hidden) std::swap(cell.x, cell.state);
      if (before[i] < 0) continue;
      RecurrentCell& first = (*cells)[static_cast<size_t>(before[i])];
      if (!first.told_apart && first.x.SameWeights(cell.state)) std::swap(first.x, first.state);
      first.told_apart = true;
    }
    std::set<int> continued;
    for (size_t i = 0; i < cells->size(); ++i) {
      if (before[i] < 0) continue;
      RecurrentCell& cell = (*cells)[i];
      const RecurrentCell& first = (*cells)[static_cast<size_t>(before[i])];
      // An LSTM's c: read by its own tanh and by the next cell.
      const bool hands_on = first.c == nullptr || (first.c->outlinks().size() == 2 && !graph.IsOutput(first.c));
      if (hands_on && continued.count(before[i]) == 0 && cell.SameLayer(first) &&
          cell.x.value->AsArg().type.dims == first.x.value->AsArg().type.dims) {
        cell.before = before[i];
        continued.insert(before[i]);
      }
    }
  }

  // Whether an x follows from what the layer computes.
  bool FeedsItself(const std::vector<RecurrentCell>& layer) const {
    std::set<const Node*> own;
    size_t first = place_.size();
    for (const RecurrentCell& cell : layer) {
      for (const Node* stmt : cell.stmts) {
        own.insert(stmt);
        first = std::min(first, place_.at(stmt));
      }
    }
    std::set<const Node*> seen;
    NodeList left;
    for (const RecurrentCell& cell : layer) left.push_back(cell.x.value);
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

  // The gates' rows below each other: [1, gates * hidden, columns].
  static DenseTensor GateRows(const SSAGraph& graph, const std::vector<WeightBlock>& gates, int64_t hidden) {
    const int64_t rows = static_cast<int64_t>(gates.size()) * hidden;
    DenseTensor stacked(HostAllocator(), TensorMeta{DataType::kFloat, Shape{1, rows, gates[0].rows}});
    auto* to = stacked.mutable_data<float>();
    for (const WeightBlock& gate : gates) {
      const DenseTensor& weight = graph.WeightTensor(gate.weight);
      const auto* from = weight.data<float>();
      const int64_t stride = weight.shape()[1];
      for (int64_t unit = gate.column; unit < gate.column + hidden; ++unit) {
        for (int64_t row = gate.row; row < gate.row + gate.rows; ++row)
          *to++ = gate.transposed ? from[unit * stride + row] : from[row * stride + unit];
      }
    }
    return stacked;
  }

  // Each gate's biases summed: [1, 2 * gates * hidden].
  static DenseTensor BiasSums(const SSAGraph& graph, const std::vector<std::vector<Columns>>& biases, int64_t hidden) {
    DenseTensor sums(HostAllocator(),
                     TensorMeta{DataType::kFloat, Shape{1, static_cast<int64_t>(biases.size()) * hidden}});
    auto* to = sums.mutable_data<float>();
    std::fill_n(to, sums.numel(), 0.0F);
    for (const std::vector<Columns>& gate : biases) {
      for (const Columns& bias : gate) {
        const auto* from = graph.WeightTensor(bias.value).data<float>() + bias.begin;
        std::transform(from, from + hidden, to, to, std::plus<float>());
      }
      to += hidden;
    }
    return sums;
  }

  // One for all layers that have it.
  Node* Rows(SSAGraph* graph, const RecurrentCell& cell, const RecurrentCell::Operand& operand) {
    Node*& made = rows_[operand.gates];
    if (made == nullptr) {
      const std::string& name = operand.gates[0].weight->AsArg().name;
      made = graph->NewWeight(name, GateRows(*graph, operand.gates, cell.hidden));
    }
    return made;
  }
  // Null: none.
  Node* Bias(SSAGraph* graph, const RecurrentCell& cell) {
    const auto some =
        std::find_if(cell.biases.begin(), cell.biases.end(), [](const auto& gate) { return !gate.empty(); });
    if (some == cell.biases.end()) return nullptr;
    Node*& made = biases_[cell.biases];
    if (made == nullptr)
      made = graph->NewWeight(some->at(0).value->AsArg().name, BiasSums(*graph, cell.biases, cell.hidden));
    return made;
  }

  void Replace(SSAGraph* graph, const std::vector<RecurrentCell>& layer) {
    const RecurrentCell& first = layer.front();
    const RecurrentCell& last = layer.back();
    std::set<const Node*> own;
    for (const RecurrentCell& cell : layer) own.insert(cell.stmts.begin(), cell.stmts.end());
    const auto used = [&](const Node* value) {
      const NodeList& readers = value->outlinks();
      return graph->IsOutput(value) ||
             std::any_of(readers.begin(), readers.end(), [&own](const Node* reader) { return own.count(reader) == 0; });
    };
    const Node* near = last.carried()->producer();
    const std::string name = last.h->AsArg().name;
    const auto make = [&](const char* op, const Binding& inputs, const AttributeMap& attrs) {
      Node* out = graph->NewArg(name + "." + op);
      InferStmt(graph, graph->NewStmt(op, inputs, {{"out", {out}}}, attrs, near));
      return out;
    };
    const AttributeMap front = {{"axis", IntArray({0})}};
    NodeList steps;
    for (const RecurrentCell& cell : layer) steps.push_back(cell.x.value);
    Node* x = steps.size() == 1 ? make("unsqueeze", {{"x", steps}}, front)
                                : make("stack", {{"x", steps}}, {{"axis", int64_t{0}}});
    Binding inputs = {{"x", {x}},
                      {"w", {Rows(graph, first, first.x)}},
                      {"r", {Rows(graph, first, first.state)}},
                      {"initial_h", {make("unsqueeze", {{"x", {first.state.value}}}, front)}}};
    if (first.c != nullptr) inputs["initial_c"] = {make("unsqueeze", {{"x", {first.c_before}}}, front)};
    if (Node* bias = Bias(graph, first)) inputs["bias"] = {bias};
    Binding outputs;
    const auto wants = [&](const char* output) {
      outputs[output] = {graph->NewArg(name + "." + output)};
      return outputs[output][0];
    };
    const bool all =
        std::any_of(layer.begin(), layer.end() - 1, [&](const RecurrentCell& cell) { return used(cell.h); });
    Node* y = all ? wants("y") : nullptr;
    Node* last_c = last.c != nullptr && used(last.c) ? wants("last_c") : nullptr;
    Node* last_h = used(last.h) || last_c == nullptr ? wants("last_h") : nullptr;
    const AttributeMap attrs = {{"cell", std::string(first.kind == RnnCell::kLstm ? "lstm" : "gru")},
                                {"linear_before_reset", first.linear_before_reset}};
    Node* rnn = graph->NewStmt("rnn", inputs, outputs, attrs, near);
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

  // The layers' weights, by those they are made of; nothing depends on the order.
  std::map<std::vector<WeightBlock>, Node*> rows_;
  std::map<std::vector<std::vector<Columns>>, Node*> biases_;
  std::unordered_map<const Node*, size_t> place_;  // of the statements there were, in the order of the graph
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(recurrent_fuse_pass, wherry::mir::RecurrentFusePass).BindTargets({TARGET(kAny)}).BindKernel("rnn");
