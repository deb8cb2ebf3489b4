#include "ir/fuse_util.h"

#include <algorithm>
#include <cmath>

namespace wherry::mir {

std::optional<double> ConstantOf(const SSAGraph& graph, const Node* arg) {
  const DenseTensor* weight = arg == nullptr ? nullptr : graph.TryWeight(arg);
  if (weight == nullptr || weight->numel() != 1) return std::nullopt;
  if (weight->dtype() == DataType::kFloat) return weight->data<float>()[0];
  if (weight->dtype() == DataType::kFP64) return weight->data<double>()[0];
  return std::nullopt;
}

bool IsConstant(const SSAGraph& graph, const Node* arg, double value) {
  const std::optional<double> constant = ConstantOf(graph, arg);
  return constant && std::abs(*constant - value) <= 1e-6 * std::abs(value);
}

bool HasOneUse(const SSAGraph& graph, const Node* arg) { return arg->outlinks().size() == 1 && !graph.IsOutput(arg); }

const Node::Stmt* ProducerOf(const Node* arg, const char* op) {
  const Node* producer = arg->producer();
  return producer != nullptr && producer->AsStmt().op_type() == op ? &producer->AsStmt() : nullptr;
}

std::optional<Factor> FactorOf(const SSAGraph& graph, const Node::Stmt& stmt) {
  const std::string op = stmt.op_type();
  const auto factor = [&stmt](Node* input, double value) -> std::optional<Factor> {
    const MetaTensor& from = input->AsArg().type;
    const MetaTensor& to = stmt.output()->AsArg().type;
    // A number of more dimensions would add some.
    if (!from.rank_known || !to.rank_known || from.dims != to.dims || from.dtype != to.dtype) return std::nullopt;
    return Factor{input, value};
  };
  if (op == "scale") {
    if (!stmt.HasAttr("scale") || !stmt.HasAttr("bias")) return std::nullopt;
    if (stmt.GetAttr<Scalar>("bias").to<double>() != 0) return std::nullopt;
    return factor(stmt.input("x"), stmt.GetAttr<Scalar>("scale").to<double>());
  }
  if (op != "multiply" && op != "divide") return std::nullopt;
  if (const std::optional<double> y = ConstantOf(graph, stmt.input("y"))) {
    return factor(stmt.input("x"), op == "multiply" ? *y : 1.0 / *y);
  }
  const std::optional<double> x = ConstantOf(graph, stmt.input("x"));
  if (op == "multiply" && x) return factor(stmt.input("y"), *x);
  return std::nullopt;
}

void EraseIfUnused(SSAGraph* graph, const Node* arg) {
  if (arg->outlinks().empty() && !graph->IsOutput(arg) && arg->producer() != nullptr) graph->EraseStmt(arg->producer());
}

void EraseUnused(SSAGraph* graph, std::vector<std::string> args) {
  while (!args.empty()) {
    const Node* arg = graph->FindArg(args.back());
    args.pop_back();
    Node* producer = arg == nullptr ? nullptr : arg->producer();
    if (producer == nullptr) continue;
    const NodeList& results = producer->outlinks();
    const bool used = std::any_of(results.begin(), results.end(), [graph](const Node* result) {
      return !result->outlinks().empty() || graph->IsOutput(result);
    });
    if (used) continue;
    for (const Node* input : producer->inlinks()) args.push_back(input->AsArg().name);
    graph->EraseStmt(producer);
  }
}

}  // namespace wherry::mir
