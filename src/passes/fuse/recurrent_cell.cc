#include "passes/fuse/recurrent_cell.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "ir/fuse_util.h"

namespace wherry::mir {
namespace {

using Pair = std::pair<Node*, Node*>;

// The arguments of a binary operator, either way round.
std::array<Pair, 2> Orders(const Node* binary) {
  Node* x = binary->AsStmt().input("x");
  Node* y = binary->AsStmt().input("y");
  return {{{x, y}, {y, x}}};
}

// Reads a cell backwards from the addition that gives its new state.
class CellReader {
 public:
  CellReader(const SSAGraph& graph, Node* add)
      : graph_(graph), add_(add), type_(add->outlinks()[0]->AsArg().type), reader_(graph, type_.dims[1].value()) {
    cell_.hidden = type_.dims[1].value();
    reader_.Use(add);
  }

  bool ReadLstm() {
    cell_.kind = RnnCell::kLstm;
    cell_.c = add_->outlinks()[0];
    return (ReadCellState(0) || ReadCellState(1)) && ReadOutput() && ReadGates(lstm_gates_) && IsClosed();
  }

  bool ReadGru() {
    cell_.kind = RnnCell::kGru;
    cell_.h = add_->outlinks()[0];
    const size_t before = reader_.stmts().size();
    const bool blends = ReadBlend();
    if (!blends) reader_.Forget(before);
    return (blends || ReadStep()) && ReadGruGates() && IsClosed();
  }

  RecurrentCell Finish() {
    cell_.stmts = reader_.stmts();
    return std::move(cell_);
  }

 private:
  // The statement that gives the value, of this operator, taken into the cell.
  Node* Take(Node* value, const char* op) {
    if (ProducerOf(value, op) == nullptr) return nullptr;
    reader_.Use(value->producer());
    return value->producer();
  }
  // Of the shape of the states.
  bool IsState(const Node* value) const {
    return value->AsArg().type.rank_known && value->AsArg().type.dims == type_.dims;
  }

  std::optional<Columns> Before(Node* gate, const char* op) {
    return IsState(gate) ? reader_.Before({gate}, op) : std::nullopt;
  }

  // kept = sigmoid(forget) c, fresh = sigmoid(input) tanh(cell).
  bool ReadCellState(size_t order) {
    const auto [kept, fresh] = Orders(add_)[order];
    if (ProducerOf(kept, "multiply") == nullptr || ProducerOf(fresh, "multiply") == nullptr) return false;
    const size_t before = reader_.stmts().size();
    for (const auto& [gate, state] : Orders(kept->producer())) {
      for (const auto& [left, right] : Orders(fresh->producer())) {
        reader_.Forget(before);
        const auto forget = IsState(state) ? Before(gate, "sigmoid") : std::nullopt;
        const auto input = Before(left, "sigmoid");
        const auto cell = Before(right, "tanh");
        if (!forget || !input || !cell) continue;
        Take(kept, "multiply");
        Take(fresh, "multiply");
        cell_.c_before = state;
        lstm_gates_ = {*input, {}, *forget, *cell};
        return true;
      }
    }
    reader_.Forget(before);
    return false;
  }

  // h = sigmoid(output) tanh(c).
  bool ReadOutput() {
    constexpr size_t kOutput = 1;  // among the gates
    for (Node* tanh : cell_.c->outlinks()) {
      if (tanh->AsStmt().op_type() != "tanh" || !HasOneUse(graph_, tanh->outlinks()[0])) continue;
      Node* bounded = tanh->outlinks()[0];
      Node* multiply = bounded->outlinks()[0];
      if (multiply->AsStmt().op_type() != "multiply") continue;
      for (const auto& [gate, other] : Orders(multiply)) {
        const auto output = other == bounded ? Before(gate, "sigmoid") : std::nullopt;
        if (!output) continue;
        reader_.Use(tanh);
        reader_.Use(multiply);
        lstm_gates_[kOutput] = *output;
        cell_.h = multiply->outlinks()[0];
        return IsState(cell_.h);
      }
    }
    return false;
  }

  // (1 - u) n + u h.
  bool ReadBlend() {
    for (const auto& [fresh, kept] : Orders(add_)) {
      if (ProducerOf(fresh, "multiply") == nullptr || ProducerOf(kept, "multiply") == nullptr) continue;
      for (const auto& [update, state] : Orders(kept->producer())) {
        for (const auto& [rest, candidate] : Orders(fresh->producer())) {
          if (OneMinus(rest) != update) continue;
          for (Node* value : {fresh, kept, rest}) reader_.Use(value->producer());
          return SetGruParts(update, state, candidate);
        }
      }
    }
    return false;
  }

  // n + u (h - n).
  bool ReadStep() {
    for (const auto& [candidate, change] : Orders(add_)) {
      if (ProducerOf(change, "multiply") == nullptr) continue;
      for (const auto& [update, difference] : Orders(change->producer())) {
        const Node::Stmt* subtract = ProducerOf(difference, "subtract");
        if (subtract == nullptr || subtract->input("y") != candidate) continue;
        Take(change, "multiply");
        Take(difference, "subtract");
        return SetGruParts(update, subtract->input("x"), candidate);
      }
    }
    return false;
  }

  // What 1 minus gives the value.
  Node* OneMinus(const Node* value) const {
    if (const Node::Stmt* subtract = ProducerOf(value, "subtract"))
      return IsConstant(graph_, subtract->input("x"), 1) ? subtract->input("y") : nullptr;
    const Node::Stmt* scale = ProducerOf(value, "scale");
    if (scale == nullptr || !scale->HasAttr("scale") || !scale->HasAttr("bias")) return nullptr;
    const bool reversed = scale->GetAttr<Scalar>("scale").to<double>() == -1 &&
                          scale->GetAttr<bool>("bias_after_scale") && scale->GetAttr<Scalar>("bias").to<double>() == 1;
    return reversed ? scale->input("x") : nullptr;
  }

  bool SetGruParts(Node* update, Node* state, Node* candidate) {
    const auto before_update = Before(update, "sigmoid");
    const auto before_candidate = Before(candidate, "tanh");
    if (!before_update || !before_candidate || !IsState(state)) return false;
    cell_.state.value = state;
    cell_.told_apart = true;
    update_ = *before_update;
    candidate_ = *before_candidate;
    return true;
  }

  bool ReadGruGates() {
    const std::optional<LinearSum> sum = reader_.Read(candidate_);
    return sum && (sum->others.empty() ? ReadResetState(*sum) : ReadResetProduct(*sum));
  }

  // The hidden gate is x W + (r h) R.
  bool ReadResetState(const LinearSum& hidden) {
    if (hidden.products.size() != 2) return false;
    for (const size_t at : {0U, 1U}) {
      const LinearSum::Product& of_state = hidden.products[at];
      const std::optional<Columns> reset = ResetOf(of_state.value, cell_.state.value);
      if (!reset) continue;
      LinearSum plain = hidden;
      plain.products[at].value = cell_.state.value;
      return ReadGates({update_, *reset}) && AddGate(plain);
    }
    return false;
  }

  // The hidden gate is x W + r (h R).
  bool ReadResetProduct(const LinearSum& hidden) {
    if (hidden.products.size() != 1 || hidden.others.size() != 1 || hidden.others[0].begin != 0) return false;
    Node* gated = hidden.others[0].value;
    if (!IsState(gated) || Take(gated, "multiply") == nullptr) return false;
    const size_t before = reader_.stmts().size();
    for (const auto& [gate, value] : Orders(gated->producer())) {
      reader_.Forget(before);
      const std::optional<Columns> reset = Before(gate, "sigmoid");
      const std::optional<LinearSum> of_state = reset && IsState(value) ? reader_.Read({value}) : std::nullopt;
      if (!of_state || of_state->products.size() != 1 || !of_state->others.empty()) continue;
      cell_.linear_before_reset = true;
      LinearSum whole{{hidden.products[0], of_state->products[0]}, hidden.biases, {}};
      return ReadGates({update_, *reset}) && AddGate(whole, of_state->biases);
    }
    return false;
  }

  // The reset gate, where the value is its product with the state.
  std::optional<Columns> ResetOf(Node* value, const Node* state) {
    if (ProducerOf(value, "multiply") == nullptr || !IsState(value)) return std::nullopt;
    for (const auto& [gate, other] : Orders(value->producer())) {
      const auto reset = other == state ? Before(gate, "sigmoid") : std::nullopt;
      if (!reset) continue;
      Take(value, "multiply");
      return reset;
    }
    return std::nullopt;
  }

  bool ReadGates(const std::vector<Columns>& gates) {
    return std::all_of(gates.begin(), gates.end(), [this](const Columns& gate) {
      const std::optional<LinearSum> sum = reader_.Read(gate);
      return sum && sum->others.empty() && AddGate(*sum);
    });
  }

  // One more gate: a product with x and one with the state, and biases, those inside the reset gate's product apart.
  bool AddGate(const LinearSum& sum, const std::vector<Columns>& state_biases = {}) {
    if (sum.products.size() != 2) return false;
    const LinearSum::Product* of_x = sum.products.data();
    const LinearSum::Product* of_state = of_x + 1;
    if (cell_.state.value == nullptr) {  // the first gate of an LSTM: as they come
      cell_.x.value = of_x->value;
      cell_.state.value = of_state->value;
    }
    if (of_state->value != cell_.state.value) std::swap(of_x, of_state);
    if (cell_.x.value == nullptr) cell_.x.value = of_x->value;
    if (of_x->value != cell_.x.value || of_state->value != cell_.state.value) return false;
    for (const LinearSum::Product& product : sum.products) {
      if (Dims(product.value)[0] != type_.dims[0]) return false;
    }
    cell_.x.gates.push_back(of_x->block);
    cell_.state.gates.push_back(of_state->block);
    cell_.biases.insert(cell_.biases.begin() + static_cast<std::ptrdiff_t>(cell_.x.gates.size() - 1), sum.biases);
    cell_.biases.push_back(state_biases);
    return cell_.x.gates[0].rows == cell_.hidden || cell_.state.gates[0].rows == cell_.hidden;
  }

  // Nothing else reads what is between.
  bool IsClosed() const {
    const NodeList& stmts = reader_.stmts();
    return std::all_of(stmts.begin(), stmts.end(), [&](const Node* stmt) {
      return std::all_of(stmt->outlinks().begin(), stmt->outlinks().end(), [&](const Node* result) {
        if (result == cell_.h || result == cell_.c) return true;
        const NodeList& readers = result->outlinks();
        return !graph_.IsOutput(result) && std::all_of(readers.begin(), readers.end(), [&](Node* reader) {
          return std::find(stmts.begin(), stmts.end(), reader) != stmts.end();
        });
      });
    });
  }

  const SSAGraph& graph_;
  Node* add_;
  const MetaTensor& type_;  // of the states
  LinearReader reader_;
  RecurrentCell cell_;
  std::vector<Columns> lstm_gates_;
  Columns update_;
  Columns candidate_;
};

}  // namespace

std::optional<RecurrentCell> FindRecurrentCell(const SSAGraph& graph, Node* add) {
  const MetaTensor& type = add->outlinks()[0]->AsArg().type;
  if (!type.rank_known || type.rank() != 2 || type.dtype != DataType::kFloat) return std::nullopt;
  if (!type.dims[1].known() || type.dims[1] == Dim(0)) return std::nullopt;
  CellReader lstm(graph, add);
  if (lstm.ReadLstm()) return lstm.Finish();
  CellReader gru(graph, add);
  if (gru.ReadGru()) return gru.Finish();
  return std::nullopt;
}

}  // namespace wherry::mir
