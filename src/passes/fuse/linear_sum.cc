#include "passes/fuse/linear_sum.h"

#include <algorithm>
#include <string>

#include "ir/fuse_util.h"

namespace wherry::mir {
namespace {

// The columns of its argument that a slice or split takes them from.
std::optional<Columns> ThroughCut(const Columns& at) {
  const Node* cut = at.value->producer();
  if (cut == nullptr || !HasRank(at.value, 2)) return std::nullopt;
  const Node::Stmt& stmt = cut->AsStmt();
  const auto is_last = [](int64_t axis) { return axis == 1 || axis == -1; };
  if (stmt.op_type() == "split" && is_last(stmt.GetAttr<int>("axis"))) {
    int64_t begin = at.begin;
    for (const Node* part : stmt.output_list()) {
      if (part == at.value) return Columns{stmt.input("x"), begin};
      if (!HasRank(part, 2) || !Dims(part)[1].known()) return std::nullopt;
      begin += Dims(part)[1].value();
    }
  }
  if (stmt.op_type() == "slice" && stmt.HasAttr("starts") && stmt.HasAttr("ends")) {
    const auto& axes = stmt.GetAttr<std::vector<int64_t>>("axes");
    const auto& steps = stmt.GetAttr<std::vector<int64_t>>("steps");
    const int64_t start = stmt.GetAttr<IntArray>("starts")[0];
    const bool forward = steps.empty() || steps[0] == 1;
    Node* x = stmt.input("x");
    if (axes.size() != 1 || !is_last(axes[0]) || !forward || start < 0 || !HasRank(x, 2)) return std::nullopt;
    return Columns{x, start + at.begin};
  }
  return std::nullopt;
}

}  // namespace

void LinearReader::Use(Node* stmt) {
  if (std::find(stmts_.begin(), stmts_.end(), stmt) == stmts_.end()) stmts_.push_back(stmt);
}

Columns LinearReader::Source(Columns at) {
  constexpr int kMostCuts = 4;  // exporters write one
  for (int cuts = 0; cuts < kMostCuts; ++cuts) {
    const std::optional<Columns> next = ThroughCut(at);
    if (!next) break;
    Use(at.value->producer());
    at = *next;
  }
  return at;
}

std::optional<Columns> LinearReader::Before(Columns at, const char* op) {
  const size_t before = stmts_.size();
  const Columns source = Source(at);
  if (ProducerOf(source.value, op) == nullptr) {
    Forget(before);
    return std::nullopt;
  }
  Use(source.value->producer());
  return Columns{source.value->producer()->AsStmt().input("x"), source.begin};
}

std::optional<LinearSum> LinearReader::Read(Columns at) {
  LinearSum sum;
  if (!Add(at, 0, &sum) || !Split(&sum)) return std::nullopt;
  return sum;
}

bool LinearReader::Add(Columns at, int depth, LinearSum* sum) {
  constexpr int kMostTerms = 6;
  at = Source(at);
  Node* stmt = at.value->producer();
  if (depth > kMostTerms || !HasRank(at.value, 2) || !Dims(at.value)[1].known()) return false;
  const std::string op = stmt == nullptr ? "" : stmt->AsStmt().op_type();
  if (op == "add") {
    Use(stmt);
    const int64_t width = Dims(at.value)[1].value();
    const auto add = [&](const char* term) {
      const Columns columns{stmt->AsStmt().input(term), at.begin};
      return columns.value->AsArg().is_weight ? AddBias(columns, width, sum) : Add(columns, depth + 1, sum);
    };
    return add("x") && add("y");
  }
  if (op == "fc" || op == "matmul") return AddProduct(stmt, at.begin, sum);
  sum->others.push_back(at);
  return true;
}

// One number for each of `width` columns.
bool LinearReader::AddBias(Columns at, int64_t width, LinearSum* sum) const {
  const DenseTensor& bias = graph_.WeightTensor(at.value);
  if (bias.dtype() != DataType::kFloat || bias.numel() != width || bias.shape().back() != width) return false;
  sum->biases.push_back(at);
  return true;
}

bool LinearReader::AddProduct(Node* node, int64_t column, LinearSum* sum) {
  const Node::Stmt& stmt = node->AsStmt();
  LinearSum::Product product;
  product.block.column = column;
  Node* bias = nullptr;
  if (stmt.op_type() == "fc") {
    const auto& steps = stmt.GetAttr<Epilogue>("epilogue").steps;
    if (stmt.GetAttr<int>("in_num_col_dims") != 1 || steps.size() > 1) return false;
    if (!steps.empty()) bias = stmt.input("operands");
    if (!steps.empty() && (steps[0].kind != EpilogueStep::Kind::kBias || bias == nullptr)) return false;
    product.value = stmt.input("input");
    product.block.weight = stmt.input("w");
  } else {
    if (stmt.GetAttr<bool>("transpose_x")) return false;
    product.value = stmt.input("x");
    product.block.weight = stmt.input("y");
    product.block.transposed = stmt.GetAttr<bool>("transpose_y");
  }
  const DenseTensor* weight = graph_.TryWeight(product.block.weight);
  if (weight == nullptr || weight->dtype() != DataType::kFloat || weight->shape().rank() != 2 ||
      !HasRank(product.value, 2)) {
    return false;
  }
  const int64_t width = weight->shape()[product.block.transposed ? 0 : 1];
  product.block.rows = weight->shape()[product.block.transposed ? 1 : 0];
  if (column + columns_ > width) return false;
  if (bias != nullptr && (!bias->AsArg().is_weight || !AddBias({bias, column}, width, sum))) return false;
  Use(node);
  sum->products.push_back(product);
  return true;
}

// What stands next to each other times one matrix is two products.
bool LinearReader::Split(LinearSum* sum) {
  if (sum->products.size() != 1) return true;
  const LinearSum::Product whole = sum->products[0];
  const Node::Stmt* concat = ProducerOf(whole.value, "concat");
  if (concat == nullptr) return true;
  const NodeList& parts = concat->input_list("x");
  const int axis = concat->GetAttr<int>("axis");
  if (parts.size() != 2 || (axis != 1 && axis != -1)) return true;
  Use(whole.value->producer());
  sum->products.clear();
  int64_t row = whole.block.row;
  for (Node* part : parts) {
    if (!HasRank(part, 2) || !Dims(part)[1].known()) return false;
    LinearSum::Product& product = sum->products.emplace_back(LinearSum::Product{part, whole.block});
    product.block.row = row;
    product.block.rows = Dims(part)[1].value();
    row += product.block.rows;
  }
  return true;
}

}  // namespace wherry::mir
