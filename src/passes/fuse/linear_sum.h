// Values that are sums of products with weights and of biases, read column by column.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/ssa_graph.h"

namespace wherry::mir {

// Columns of a value of rank 2 (or of a bias) from `begin` on.
struct Columns {
  Node* value = nullptr;
  int64_t begin = 0;
  friend auto operator<=>(const Columns&, const Columns&) = default;
};

// A part of a weight [rows, columns], or [columns, rows] if transposed.
struct WeightBlock {
  Node* weight = nullptr;
  bool transposed = false;
  int64_t row = 0;
  int64_t rows = 0;
  int64_t column = 0;
  friend auto operator<=>(const WeightBlock&, const WeightBlock&) = default;
};

struct LinearSum {
  struct Product {
    Node* value = nullptr;
    WeightBlock block;
  };
  std::vector<Product> products;
  std::vector<Columns> biases;
  std::vector<Columns> others;  // terms that are none of these
};

// Reads values of a graph backwards, through slices and splits of their columns, and keeps the statements that it went
// through.
class LinearReader {
 public:
  // For pieces of so many columns. The graph outlives the reader.
  LinearReader(const SSAGraph& graph, int64_t columns) : graph_(graph), columns_(columns) {}

  // What the columns are a sum of; nothing where that cannot be said.
  std::optional<LinearSum> Read(Columns at);
  // The argument of the operator of this type that gives the columns, one by one, if there is one.
  std::optional<Columns> Before(Columns at, const char* op);
  // The statements, each once; those from `count` on are forgotten when an attempt came to nothing.
  const NodeList& stmts() const { return stmts_; }
  void Use(Node* stmt);
  void Forget(size_t count) { stmts_.resize(count); }

 private:
  Columns Source(Columns at);
  bool Add(Columns at, int depth, LinearSum* sum);
  bool AddBias(Columns at, int64_t width, LinearSum* sum) const;
  bool AddProduct(Node* stmt, int64_t column, LinearSum* sum);
  bool Split(LinearSum* sum);

  const SSAGraph& graph_;
  const int64_t columns_;
  NodeList stmts_;
};

}  // namespace wherry::mir
