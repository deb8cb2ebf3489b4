// One statement for all that compute the same: the same operator, equal attributes, the same arguments (of commutative
// operators in any order). Small weights with equal contents count as the same argument, and become one; so do the
// captures of a child graph that are one value outside. Random operators and those that the runtime executes are left.
#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "base/hash.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// Exporters write a weight for every use of a shape, axis or epsilon; larger ones they share themselves.
constexpr size_t kMaxComparedBytes = 4096;

class CommonSubexpressionPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    // From the outermost inwards: what is one value outside is one value inside.
    if (!graph->is_child()) Merge(graph.get());
  }

 private:
  using Buckets = std::unordered_map<uint64_t, NodeList>;

  void Merge(SSAGraph* graph) {
    MergeWeights(graph);
    Buckets seen;
    size_t merged = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      for (size_t i = 0; i < stmt->AsStmt().blocks().size(); ++i) {
        MergeCaptures(stmt, i);
        Merge(stmt->AsStmt().blocks()[i].get());
      }
      const OpSchema& schema = stmt->AsStmt().schema();
      if (schema.RunByRuntime() || schema.Has(kTraitRandom) || stmt->outlinks().empty()) continue;
      NodeList& bucket = seen[Hash(stmt->AsStmt())];
      const auto same =
          std::find_if(bucket.begin(), bucket.end(), [&](const Node* other) { return Same(*graph, other, stmt); });
      if (same == bucket.end()) {
        bucket.push_back(stmt);
        continue;
      }
      ReplaceResults(graph, stmt, *same);
      ++merged;
    }
    if (merged > 0) Note(std::to_string(merged) + " statements computed what another one does");
  }

  // --- weights

  static uint64_t HashWeight(const DenseTensor& weight) {
    const std::string_view bytes(static_cast<const char*>(weight.raw_data()), weight.nbytes());
    return HashCombine(static_cast<uint64_t>(weight.dtype()), std::hash<std::string_view>()(bytes));
  }
  static bool SameWeight(const DenseTensor& a, const DenseTensor& b) {
    return a.meta() == b.meta() && std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()) == 0;
  }

  static void MergeWeights(SSAGraph* graph) {
    Buckets seen;
    for (Node* node : graph->nodes()) {
      const DenseTensor* weight = graph->TryWeight(node);
      if (weight == nullptr || weight->dtype() == DataType::kString || weight->nbytes() > kMaxComparedBytes ||
          graph->IsOutput(node)) {
        continue;
      }
      NodeList& bucket = seen[HashWeight(*weight)];
      const auto same = std::find_if(bucket.begin(), bucket.end(), [&](const Node* other) {
        return SameWeight(graph->WeightTensor(other), *weight);
      });
      if (same == bucket.end()) {
        bucket.push_back(node);
      } else {
        graph->ReplaceUses(node, *same);
        graph->EraseArg(node);
      }
    }
  }

  // --- statements

  static NodeList Arguments(const Node::Stmt& stmt) {
    NodeList args;
    for (const auto& [param, nodes] : stmt.inputs()) args.insert(args.end(), nodes.begin(), nodes.end());
    if (stmt.schema().Has(kTraitCommutative)) {
      std::sort(args.begin(), args.end(), [](const Node* a, const Node* b) { return a->id() < b->id(); });
    }
    return args;
  }

  static uint64_t Hash(const Node::Stmt& stmt) {
    uint64_t hash = reinterpret_cast<uintptr_t>(&stmt.schema());
    for (const Node* arg : Arguments(stmt)) hash = HashCombine(hash, static_cast<uint64_t>(arg->id()));
    for (const auto& [name, value] : stmt.attrs()) hash = HashCombine(hash, HashAttribute(value));
    return hash;
  }

  static bool Same(const SSAGraph& graph, const Node* first, const Node* second) {
    const Node::Stmt& a = first->AsStmt();
    const Node::Stmt& b = second->AsStmt();
    if (&a.schema() != &b.schema() || Arguments(a) != Arguments(b)) return false;
    const auto alike = [](const Binding& x, const Binding& y) {
      return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& p, const auto& q) {
        return p.first == q.first && p.second.size() == q.second.size();
      });
    };
    if (!alike(a.inputs(), b.inputs()) || !alike(a.outputs(), b.outputs())) return false;
    const bool attrs = std::equal(
        a.attrs().begin(), a.attrs().end(), b.attrs().begin(), b.attrs().end(),
        [](const auto& p, const auto& q) { return p.first == q.first && SameAttribute(p.second, q.second); });
    const KernelPick* const picked = graph.Pick(first);
    const KernelPick* const other = graph.Pick(second);
    return attrs && (picked == nullptr) == (other == nullptr) && (picked == nullptr || *picked == *other);
  }

  static void ReplaceResults(SSAGraph* graph, Node* stmt, Node* by) {
    for (const auto& [param, results] : by->AsStmt().outputs()) {
      const NodeList old = stmt->AsStmt().outputs().at(param);
      for (size_t i = 0; i < results.size(); ++i) graph->ReplaceUses(old[i], results[i]);
    }
    graph->EraseStmt(stmt);
  }

  // --- child graphs

  // A block's inputs for captures that are one value outside: the first serves for all.
  static void MergeCaptures(const Node* stmt, size_t index) {
    SSAGraph* const block = stmt->AsStmt().blocks()[index].get();
    const NodeList& captures = stmt->AsStmt().input_list("captures");
    const size_t before = block->inputs().size() - captures.size();
    std::unordered_map<const Node*, Node*> first;
    for (size_t i = 0; i < captures.size(); ++i) {
      Node* const inner = block->inputs()[before + i];
      const auto [it, fresh] = first.emplace(captures[i], inner);
      if (!fresh) block->ReplaceUses(inner, it->second);
    }
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(common_subexpression_pass, wherry::mir::CommonSubexpressionPass);
