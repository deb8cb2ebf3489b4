#include "passes/fuse/attention_scores.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ir/fuse_util.h"

namespace wherry::mir {
namespace {

// A plain product of two matrices, or a scaled one without an epilogue.
bool IsProduct(const Node::Stmt& stmt) {
  return stmt.op_type() == "matmul" ||
         (stmt.op_type() == "fused_matmul" && stmt.GetAttr<Epilogue>("epilogue").steps.empty());
}

bool MatricesStay(const Node* before, const Node* after) {
  const auto has_matrices = [](const Node* arg) {
    return arg->AsArg().type.rank_known && arg->AsArg().type.rank() >= 3;
  };
  return has_matrices(before) && has_matrices(after) &&
         std::equal(Dims(after).end() - 2, Dims(after).end(), Dims(before).end() - 2);
}

// One number for each head of the scores, which have an axis of them.
bool IsPerHead(const Node* factors, const Node* scores) {
  if (!factors->AsArg().type.rank_known || scores->AsArg().type.rank() < 4) return false;
  const std::vector<Dim>& dims = Dims(factors);
  if (dims.size() < 3 || dims.size() > Dims(scores).size()) return false;
  if (factors->AsArg().type.dtype != scores->AsArg().type.dtype) return false;
  const Dim& heads = *(dims.end() - 3);
  return heads == *(Dims(scores).end() - 3) && Product(dims) == heads;
}

}  // namespace

std::optional<Scores> ReadScores(const SSAGraph& graph, Node* value, Scores scores) {
  Node* producer = value->producer();
  if (producer == nullptr || !HasOneUse(graph, value) || !value->AsArg().type.rank_known) return std::nullopt;
  const Node::Stmt& stmt = producer->AsStmt();
  const std::string op = stmt.op_type();
  scores.stmts.push_back(producer);
  if (IsProduct(stmt)) {
    if (stmt.GetAttr<bool>("transpose_x")) return std::nullopt;
    scores.product = producer;
    if (op == "fused_matmul") scores.scale *= stmt.GetAttr<float>("alpha");
    return scores;
  }
  if (const std::optional<Factor> factor = FactorOf(graph, stmt)) {
    scores.scale *= factor->value;
    return ReadScores(graph, factor->input, std::move(scores));
  }
  const auto same_shape = [value](const Node* arg) { return arg->AsArg().type.rank_known && Dims(arg) == Dims(value); };
  if (op == "add" && !scores.chooses && scores.scale == 1.0 && scores.head_scale == nullptr) {
    for (const auto& [score, mask] : {std::pair("x", "y"), std::pair("y", "x")}) {
      Node* const before = stmt.input(score);
      if (!same_shape(before) || before == stmt.input(mask)) continue;
      Scores with_mask = scores;
      with_mask.masks.push_back({stmt.input(mask), Dims(value)});
      if (std::optional<Scores> found = ReadScores(graph, before, std::move(with_mask))) return found;
    }
    return std::nullopt;
  }
  if (op == "multiply" && scores.head_scale == nullptr) {
    for (const auto& [score, factors] : {std::pair("x", "y"), std::pair("y", "x")}) {
      Node* const before = stmt.input(score);
      if (!same_shape(before) || !IsPerHead(stmt.input(factors), value)) continue;
      scores.head_scale = stmt.input(factors);
      return ReadScores(graph, before, std::move(scores));
    }
    return std::nullopt;
  }
  if (op == "where" && scores.masks.empty() && scores.scale > 0 && scores.head_scale == nullptr) {
    scores.masks.push_back({stmt.input("condition"), Dims(value)});
    scores.chooses = true;
    const std::optional<double> x = ConstantOf(graph, stmt.input("x"));
    const std::optional<double> y = ConstantOf(graph, stmt.input("y"));
    if (x.has_value() == y.has_value()) return std::nullopt;
    scores.inverted = x.has_value();
    scores.masked_score = (x ? *x : *y) * scores.scale;
    Node* const before = stmt.input(x ? "y" : "x");
    if (!same_shape(before)) return std::nullopt;
    return ReadScores(graph, before, std::move(scores));
  }
  if (op == "reshape") {
    // Heads taken out of the batch, or put into it, or the batch taken apart.
    if (MatricesStay(stmt.input("x"), value)) return ReadScores(graph, stmt.input("x"), std::move(scores));
  }
  return std::nullopt;
}

std::optional<Weights> ReadWeights(const SSAGraph& graph, Node* softmax) {
  Node* value = softmax->AsStmt().output();
  Weights weights{nullptr, false, {softmax}};
  // where(isnan(weights), 0, weights)
  if (value->outlinks().size() == 2 && !graph.IsOutput(value)) {
    Node* isnan = value->outlinks()[0];
    Node* where = value->outlinks()[1];
    if (isnan->AsStmt().op_type() != "isnan") std::swap(isnan, where);
    if (isnan->AsStmt().op_type() != "isnan" || where->AsStmt().op_type() != "where") return std::nullopt;
    Node* const flag = isnan->AsStmt().output();
    const Node::Stmt& choice = where->AsStmt();
    if (!HasOneUse(graph, flag) || choice.input("condition") != flag || choice.input("y") != value ||
        ConstantOf(graph, choice.input("x")) != 0.0) {
      return std::nullopt;
    }
    weights.zero_masked_rows = true;
    weights.stmts.insert(weights.stmts.begin(), {where, isnan});
    value = choice.output();
  }
  while (HasOneUse(graph, value)) {
    Node* const next = value->outlinks()[0];
    const Node::Stmt& stmt = next->AsStmt();
    if (IsProduct(stmt)) {
      const bool plain = stmt.op_type() == "matmul" || stmt.GetAttr<float>("alpha") == 1.0F;
      if (stmt.input("x") != value || stmt.input("y") == value || stmt.GetAttr<bool>("transpose_x") || !plain)
        return std::nullopt;
      weights.product = next;
      weights.stmts.insert(weights.stmts.begin(), next);
      return weights;
    }
    Node* const after = stmt.op_type() == "reshape" ? stmt.output() : nullptr;
    if (after == nullptr || stmt.input("x") != value || !MatricesStay(value, after)) return std::nullopt;
    weights.stmts.insert(weights.stmts.begin(), next);
    value = after;
  }
  return std::nullopt;
}

}  // namespace wherry::mir
