#include "passes/fuse/recurrent_loop.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "ir/fuse_util.h"
#include "op/control_flow.h"

namespace wherry::mir {
namespace {

bool IsTrue(const SSAGraph& graph, const Node* value) {
  const DenseTensor* known = graph.TryWeight(value);
  return known != nullptr && known->dtype() == DataType::kBool && known->numel() == 1 && *known->data<bool>();
}

// Whether one is [1, ...] of the other.
bool IsOneOf(const Node* rows, const Node* row) {
  return HasRank(rows, 3) && HasRank(row, 2) && Dims(rows)[0] == Dim(1) && Dims(rows)[1] == Dims(row)[0] &&
         Dims(rows)[2] == Dims(row)[1];
}

constexpr const char* kLayerWeights[] = {"w", "r", "bias", "peephole"};

// A state of the layer: its parameter and result, and its place among the carried values.
struct State {
  const char* initial;
  const char* last;
  size_t carried;
};

// The loop, read backwards from the layer in its body, which recurrent_fuse_pass has made of a cell.
class LoopReader {
 public:
  LoopReader(const SSAGraph& graph, const Node::Stmt& loop) : graph_(graph), loop_(loop), body_(*loop.blocks()[0]) {}

  bool Read() {
    if (body_.stmt_count("rnn") != 1) return false;
    for (const Node* node : body_.nodes()) {
      if (node->IsStmt() && node->AsStmt().op_type() == "rnn") rnn_ = node;
    }
    parts_.insert(rnn_);
    const Node::Stmt& layer = rnn_->AsStmt();
    if (layer.input("sequence_lens") != nullptr || layer.input("initial_h") == nullptr ||
        layer.GetAttr<std::string>("direction") != "forward") {
      return false;
    }
    const bool has_c = layer.input("initial_c") != nullptr;
    return ReadState("initial_h", "last_h") && (!has_c || ReadState("initial_c", "last_c")) &&
           states_.size() == loop_.input_list("carried").size() && GivesStates() && ReadSequence() && RunsThrough() &&
           std::all_of(std::begin(kLayerWeights), std::end(kLayerWeights),
                       [&](const char* name) {
                         return layer.input(name) == nullptr || layer.input(name)->AsArg().is_weight;
                       }) &&
           parts_.size() == body_.stmt_count();
  }

  const SSAGraph& body() const { return body_; }
  const Node::Stmt& layer() const { return rnn_->AsStmt(); }
  const std::vector<State>& states() const { return states_; }
  Node* sequence() const { return sequence_; }  // outside
  int64_t axis() const { return axis_; }        // of the steps
  bool backwards() const { return backwards_; }

 private:
  // What a statement of this type makes the value from.
  Node* Through(const Node* value, const char* op) {
    if (ProducerOf(value, op) == nullptr) return nullptr;
    parts_.insert(value->producer());
    return value->producer()->AsStmt().input("x");
  }
  // The argument of the layer, before it got its first dimension.
  Node* Row(const char* param) {
    const Node* rows = rnn_->AsStmt().input(param);
    Node* row = Through(rows, "unsqueeze");
    return row != nullptr && IsOneOf(rows, row) ? row : nullptr;
  }
  // The place of a value among the body's inputs, from the first carried one on.
  std::optional<size_t> InputAt(const Node* value) const {
    const NodeList& inputs = body_.inputs();
    const auto begin = inputs.begin() + kLoopLeadingInputs;
    const auto at = std::find(begin, inputs.end(), value);
    if (at == inputs.end()) return std::nullopt;
    return static_cast<size_t>(at - begin);
  }

  bool ReadState(const char* initial, const char* last) {
    const std::optional<size_t> carried = InputAt(Row(initial));
    if (!carried || *carried >= loop_.input_list("carried").size()) return false;
    states_.push_back({initial, last, *carried});
    const Node* next = body_.outputs()[kLoopLeadingOutputs + *carried];
    const Node* rows = Through(next, "squeeze");
    return rows != nullptr && rows == rnn_->AsStmt().output(last) && IsOneOf(rows, next);
  }

  // What each iteration adds to the scans is its h.
  bool GivesStates() const {
    const NodeList& outputs = body_.outputs();
    const Node* h = outputs[kLoopLeadingOutputs + states_[0].carried];
    return std::all_of(outputs.begin() + kLoopLeadingOutputs + static_cast<std::ptrdiff_t>(states_.size()),
                       outputs.end(), [h](const Node* scanned) { return scanned == h; });
  }

  // What is captured from outside under this name in the body; null: nothing.
  Node* Captured(const Node* value) const {
    const std::optional<size_t> input = InputAt(value);
    const size_t carried = loop_.input_list("carried").size();
    return input && *input >= carried ? loop_.input_list("captures")[*input - carried] : nullptr;
  }
  const Dim& steps() const { return Dims(sequence_)[static_cast<size_t>(axis_)]; }
  static bool IsNumber(const Node* value, const Dim& number) {
    const auto& values = value->AsArg().type.values;
    return values && values->size() == 1 && values->at(0) == number;
  }

  // x is a row of a captured value, by the iteration's number from the start or from the end.
  bool ReadSequence() {
    const Node* row = Row("x");
    const Node* rows = row == nullptr ? nullptr : Through(row, "gather");
    sequence_ = rows == nullptr ? nullptr : Captured(rows);
    if (sequence_ == nullptr || !HasRank(sequence_, 3)) return false;
    axis_ = row->producer()->AsStmt().GetAttr<int>("axis");
    axis_ += axis_ < 0 ? 3 : 0;
    if (axis_ > 1) return false;
    const Node* index = row->producer()->AsStmt().input("index");
    if (index == body_.inputs()[0]) return true;
    const Node* last = Through(index, "subtract");
    if (last == nullptr || index->producer()->AsStmt().input("y") != body_.inputs()[0]) return false;
    backwards_ = true;
    if (!last->AsArg().is_weight) last = Captured(last);
    return last != nullptr && IsNumber(last, steps() - 1);
  }

  // Once for each row, whatever the body computes.
  bool RunsThrough() const {
    const Node* first = loop_.input("cond");
    const Node* next = body_.outputs()[0];
    const Node* trips = loop_.input("trip_count");
    if ((first != nullptr && !IsTrue(graph_, first)) || (next != body_.inputs()[1] && !IsTrue(body_, next)))
      return false;
    return trips != nullptr && IsNumber(trips, steps());
  }

  const SSAGraph& graph_;
  const Node::Stmt& loop_;
  const SSAGraph& body_;
  const Node* rnn_ = nullptr;
  Node* sequence_ = nullptr;
  int64_t axis_ = 0;
  bool backwards_ = false;
  std::vector<State> states_;
  std::set<const Node*> parts_;  // statements of the body
};

}  // namespace

bool FuseRecurrentLoop(SSAGraph* graph, Node* loop) {
  const Node::Stmt& stmt = loop->AsStmt();
  LoopReader reader(*graph, stmt);
  if (!reader.Read()) return false;
  const Node::Stmt& step = reader.layer();
  const std::string name = loop->outlinks()[0]->AsArg().name;
  const auto make = [&](const char* op, Node* x, const AttributeMap& attrs) {
    Node* out = graph->NewArg(StrCat(name, ".", op));
    InferStmt(graph, graph->NewStmt(op, {{"x", {x}}}, {{"out", {out}}}, attrs, loop));
    return out;
  };
  Node* x = reader.sequence();
  if (reader.axis() == 1) x = make("transpose", x, {{"perm", std::vector<int64_t>{1, 0, 2}}});
  if (reader.backwards()) {
    x = make("slice", x,
             {{"axes", std::vector<int64_t>{0}},
              {"starts", IntArray({-1})},
              {"ends", IntArray({std::numeric_limits<int64_t>::min()})},
              {"steps", std::vector<int64_t>{-1}}});
  }
  Binding inputs = {{"x", {x}}};
  Binding outputs;
  for (const char* weight : kLayerWeights) {
    const Node* inner = step.input(weight);
    if (inner == nullptr) continue;
    const std::string& label = inner->AsArg().name;
    Node* known = graph->FindArg(label);
    inputs[weight] = {known != nullptr && known->AsArg().is_weight
                          ? known
                          : graph->NewWeight(label, reader.body().WeightTensor(inner))};
  }
  for (const State& state : reader.states()) {
    inputs[state.initial] = {make("unsqueeze", stmt.input_list("carried")[state.carried], {{"axis", IntArray({0})}})};
    outputs[state.last] = {graph->NewArg(StrCat(name, ".", state.last))};
  }
  const NodeList scans = stmt.output_list("scans");
  if (!scans.empty()) outputs["y"] = {graph->NewArg(name + ".y")};
  Node* rnn = graph->NewStmt("rnn", inputs, outputs, step.attrs(), loop);
  graph->SetLabel(rnn, stmt.label());
  InferStmt(graph, rnn);
  const auto replace = [&](Node* from, Node* to, int64_t axis) {
    graph->ReplaceUses(from, make("squeeze", to, {{"axis", IntArray({axis})}}));
  };
  for (const State& state : reader.states())
    replace(stmt.output_list("finals")[state.carried], outputs[state.last][0], 0);
  for (Node* scan : scans) replace(scan, outputs["y"][0], 1);
  graph->EraseStmt(loop);
  return true;
}

}  // namespace wherry::mir
