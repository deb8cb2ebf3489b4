#include "passes/fuse/lstm_cell.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"

namespace wherry::mir {
namespace {

// Where a gate stands in z.
struct Gate {
  Node* z = nullptr;
  int64_t begin = -1;
};

constexpr size_t kOutput = 1;  // among the gates

// Reads a cell backwards from its state c'; statements go to `stmts`, and what is between them has one reader.
class CellReader {
 public:
  CellReader(const SSAGraph& graph, LstmCell* cell) : graph_(graph), cell_(*cell) {}

  bool Read(Node* add) {
    const Node::Stmt& sum = add->AsStmt();
    cell_.c = add->outlinks()[0];
    const MetaTensor& type = cell_.c->AsArg().type;
    if (!type.rank_known || type.rank() != 2 || type.dtype != DataType::kFloat || !type.dims[1].known()) return false;
    cell_.hidden = type.dims[1].value();
    Node* x = sum.input("x");
    Node* y = sum.input("y");
    Use(add);
    return (ReadState(x, y) || ReadState(y, x)) && ReadOutput() && ReadGates();
  }

 private:
  void Use(Node* stmt) { cell_.stmts.push_back(stmt); }

  // The operator's statement and its argument, when the value is read here alone.
  Node* Unary(Node* value, const char* op) {
    return ProducerOf(value, op) != nullptr && HasOneUse(graph_, value) ? value->producer() : nullptr;
  }

  // kept = sigmoid(f) c, fresh = sigmoid(i) tanh(g).
  bool ReadState(Node* kept, Node* fresh) {
    Node* keep = Unary(kept, "multiply");
    Node* add = Unary(fresh, "multiply");
    if (keep == nullptr || add == nullptr) return false;
    for (const auto& [gate, state] : Orders(keep)) {
      Node* forget = Unary(gate, "sigmoid");
      if (forget == nullptr || state->AsArg().type.dims != cell_.c->AsArg().type.dims) continue;
      for (const auto& [left, right] : Orders(add)) {
        Node* input = Unary(left, "sigmoid");
        Node* cell = Unary(right, "tanh");
        if (input == nullptr || cell == nullptr) continue;
        cell_.c_before = state;
        gates_ = {input, nullptr, forget, cell};
        for (Node* stmt : {keep, add, forget, input, cell}) Use(stmt);
        return true;
      }
    }
    return false;
  }

  // h' = sigmoid(o) tanh(c').
  bool ReadOutput() {
    for (Node* reader : cell_.c->outlinks()) {
      if (reader->AsStmt().op_type() != "tanh") continue;
      Node* bounded = reader->outlinks()[0];
      if (!HasOneUse(graph_, bounded) || bounded->outlinks()[0]->AsStmt().op_type() != "multiply") continue;
      Node* multiply = bounded->outlinks()[0];
      for (const auto& [gate, other] : Orders(multiply)) {
        Node* output = Unary(gate, "sigmoid");
        if (output == nullptr || other != bounded) continue;
        gates_[kOutput] = output;
        cell_.h = multiply->outlinks()[0];
        for (Node* stmt : {reader, multiply, output}) Use(stmt);
        return cell_.h->AsArg().type.dims == cell_.c->AsArg().type.dims;
      }
    }
    return false;
  }

  static std::array<std::pair<Node*, Node*>, 2> Orders(const Node* binary) {
    Node* x = binary->AsStmt().input("x");
    Node* y = binary->AsStmt().input("y");
    return {{{x, y}, {y, x}}};
  }

  bool ReadGates() {
    Node* z = nullptr;
    std::set<Node*> cuts;
    for (size_t i = 0; i < 4; ++i) {
      Node* value = gates_[i]->AsStmt().input("x");
      const std::optional<Gate> gate = GateOf(value);
      if (!gate || !HasOneUse(graph_, value) || gate->begin % cell_.hidden != 0 || (z != nullptr && z != gate->z)) {
        return false;
      }
      z = gate->z;
      cell_.gates[i] = gate->begin;
      cuts.insert(value->producer());
    }
    std::array<int64_t, 4> sorted = cell_.gates;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < 4; ++i) {
      if (sorted[i] != static_cast<int64_t>(i) * cell_.hidden) return false;
    }
    const MetaTensor& type = z->AsArg().type;
    if (!type.rank_known || type.rank() != 2 || type.dims[1] != Dim(4 * cell_.hidden) || graph_.IsOutput(z))
      return false;
    // Read by the cuts alone.
    if (z->outlinks().size() != cuts.size()) return false;
    cell_.stmts.insert(cell_.stmts.end(), cuts.begin(), cuts.end());
    std::vector<Product> products;
    if (!ReadSum(z, 0, &products)) return false;
    if (products.size() == 1) products = PartsOf(products[0]);
    if (products.size() != 2) return false;
    cell_.x = products[0];
    cell_.state = products[1];
    for (const Product& product : products) {
      if (product.value->AsArg().type.dims[0] != cell_.c->AsArg().type.dims[0]) return false;
    }
    return cell_.x.rows == cell_.hidden || cell_.state.rows == cell_.hidden;
  }

  // A part of z along its last axis, of as many columns as the state has.
  std::optional<Gate> GateOf(Node* value) const {
    Node* cut = value->producer();
    if (cut == nullptr) return std::nullopt;
    const Node::Stmt& stmt = cut->AsStmt();
    Node* z = stmt.input("x");
    if (z == nullptr || !z->AsArg().type.rank_known || z->AsArg().type.rank() != 2 ||
        value->AsArg().type.dims != cell_.c->AsArg().type.dims) {
      return std::nullopt;
    }
    const auto is_last = [](int64_t axis) { return axis == 1 || axis == -1; };
    if (stmt.op_type() == "split" && is_last(stmt.GetAttr<int>("axis"))) {
      const NodeList& parts = stmt.outputs().at("out");
      const auto at = std::find(parts.begin(), parts.end(), value) - parts.begin();
      if (parts.size() != 4) return std::nullopt;
      return Gate{z, at * cell_.hidden};
    }
    if (stmt.op_type() == "slice" && stmt.HasAttr("starts") && stmt.HasAttr("ends")) {
      const auto& axes = stmt.GetAttr<std::vector<int64_t>>("axes");
      const auto& steps = stmt.GetAttr<std::vector<int64_t>>("steps");
      const int64_t start = stmt.GetAttr<IntArray>("starts")[0];
      const bool forward = steps.empty() || steps[0] == 1;
      if (axes.size() != 1 || !is_last(axes[0]) || !forward || start < 0) return std::nullopt;
      return Gate{z, start};
    }
    return std::nullopt;
  }

  // Products and biases that a value is the sum of.
  bool ReadSum(Node* value, int depth, std::vector<Product>* products) {
    constexpr int kMostTerms = 6;
    if (depth > kMostTerms) return false;
    if (const DenseTensor* bias = graph_.TryWeight(value)) {
      if (bias->numel() != 4 * cell_.hidden || bias->shape().back() != bias->numel()) return false;
      cell_.biases.push_back(value);
      return true;
    }
    Node* stmt = value->producer();
    // z itself is read by the cuts.
    if (stmt == nullptr || (depth > 0 && !HasOneUse(graph_, value))) return false;
    if (stmt->AsStmt().op_type() == "add") {
      Use(stmt);
      return ReadSum(stmt->AsStmt().input("x"), depth + 1, products) &&
             ReadSum(stmt->AsStmt().input("y"), depth + 1, products);
    }
    return ReadProduct(stmt, products);
  }

  bool ReadProduct(Node* node, std::vector<Product>* products) {
    const Node::Stmt& stmt = node->AsStmt();
    const std::string op = stmt.op_type();
    Product product;
    if (op == "fc") {
      const auto& steps = stmt.GetAttr<Epilogue>("epilogue").steps;
      if (stmt.GetAttr<int>("in_num_col_dims") != 1 || steps.size() > 1) return false;
      if (!steps.empty()) {
        Node* bias = stmt.input("operands");
        if (steps[0].kind != EpilogueStep::Kind::kBias || bias == nullptr || graph_.TryWeight(bias) == nullptr) {
          return false;
        }
        cell_.biases.push_back(bias);
      }
      product.value = stmt.input("input");
      product.weight = stmt.input("w");
    } else if (op == "matmul") {
      if (stmt.GetAttr<bool>("transpose_x")) return false;
      product.value = stmt.input("x");
      product.weight = stmt.input("y");
      product.transposed = stmt.GetAttr<bool>("transpose_y");
    } else {
      return false;
    }
    const DenseTensor* weight = graph_.TryWeight(product.weight);
    const MetaTensor& value = product.value->AsArg().type;
    if (weight == nullptr || weight->dtype() != DataType::kFloat || weight->shape().rank() != 2 || !value.rank_known ||
        value.rank() != 2 || weight->shape()[product.transposed ? 0 : 1] != 4 * cell_.hidden) {
      return false;
    }
    product.rows = weight->shape()[product.transposed ? 1 : 0];
    Use(node);
    products->push_back(product);
    return true;
  }

  // x and h next to each other, times one matrix: the two products, or nothing.
  std::vector<Product> PartsOf(const Product& product) {
    Node* concat = Unary(product.value, "concat");
    if (concat == nullptr) return {};
    const NodeList& parts = concat->AsStmt().input_list("x");
    const int axis = concat->AsStmt().GetAttr<int>("axis");
    if (parts.size() != 2 || (axis != 1 && axis != -1)) return {};
    std::vector<Product> products;
    int64_t row = 0;
    for (Node* part : parts) {
      const MetaTensor& type = part->AsArg().type;
      if (!type.rank_known || type.rank() != 2 || !type.dims[1].known()) return {};
      products.push_back({part, product.weight, product.transposed, row, type.dims[1].value()});
      row += type.dims[1].value();
    }
    Use(concat);
    return products;
  }

  const SSAGraph& graph_;
  LstmCell& cell_;
  std::array<Node*, 4> gates_{};
};

}  // namespace

std::optional<LstmCell> FindLstmCell(const SSAGraph& graph, Node* add) {
  LstmCell cell;
  if (!CellReader(graph, &cell).Read(add)) return std::nullopt;
  return cell;
}

}  // namespace wherry::mir
