// Orders independent statements so that less memory is alive at a time, and reports what the arena will need. The
// offsets themselves are worked out by the runtime for each shape, with the same planner.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/check.h"
#include "ir/memory_sharing.h"
#include "kernel/cost.h"
#include "pass/kernel_choice.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// Greedy ordering looks at every ready statement at every step; above this it is not worth the time.
constexpr size_t kMaxStatements = 4096;

class MemoryOptimizePass : public StmtPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    const NodeList before = graph->StmtTopologicalOrder();
    FindRoots(*graph);
    const std::vector<Lifetime> lifetimes = Lifetimes(*graph, before);
    const size_t peak = PeakBytes(lifetimes);
    size_t separate = 0;
    for (const Node* stmt : before) {
      for (const Node* result : stmt->outlinks()) separate += graph->IsOutput(result) ? 0 : Bytes(result);
    }
    if (separate == 0) return;
    size_t best = peak;
    if (before.size() <= kMaxStatements) {
      const NodeList after = GreedyOrder(*graph, before);
      const std::vector<Lifetime> reordered = Lifetimes(*graph, after);
      if (PeakBytes(reordered) < peak) {
        graph->Reorder(after);
        best = PeakBytes(reordered);
      }
    }
    Note(StrCat("activations: ", separate, " bytes apart, ",
                PlanArena(Lifetimes(*graph, graph->StmtTopologicalOrder())).size, " in one arena, ", best,
                " alive at once", best < peak ? StrCat(" (", peak, " before reordering)") : "",
                AnyDynamic(before) ? StrCat(" (a dynamic dimension counts as ", kAssumedDim, ")") : ""));
  }

 private:
  // Values that live in the arena: results that share no other's memory and are no outputs.
  static bool InArena(const SSAGraph& graph, const Node* value) {
    return value->producer() != nullptr && !graph.IsOutput(value) && graph.Alias(value) == nullptr;
  }
  static bool AnyDynamic(const NodeList& stmts) {
    return std::any_of(stmts.begin(), stmts.end(), [](const Node* stmt) { return AssumesSizes(stmt); });
  }
  // Whose memory each value lies in; chains of aliases are long, so each is followed once.
  void FindRoots(const SSAGraph& graph) {
    roots_.clear();
    std::vector<const Node*> path;
    for (const Node* value : graph.nodes()) {
      if (!value->IsArg()) continue;
      const Node* root = value;
      for (const Node* source = graph.Alias(root); source != nullptr && roots_.count(root) == 0;) {
        path.push_back(root);
        root = source;
        source = graph.Alias(root);
      }
      if (const auto known = roots_.find(root); known != roots_.end()) root = known->second;
      for (const Node* on_path : path) roots_[on_path] = root;
      path.clear();
    }
  }
  const Node* Root(const Node* value) const {
    const auto it = roots_.find(value);
    return it == roots_.end() ? value : it->second;
  }
  // No more than what sums of them stay below 2^64 with: a declared shape may say anything.
  static size_t Bytes(const Node* value) {
    constexpr double kMost = 1ULL << 48U;
    return static_cast<size_t>(std::min(EstimateBytes(value->AsArg().type), kMost));
  }

  // As the runtime will have them: what costs more memory than it saves does not share.
  std::vector<Lifetime> Lifetimes(const SSAGraph& graph, const NodeList& order) const {
    std::unordered_map<const Node*, size_t> index;
    std::vector<SharingValue> values;
    std::vector<const Node*> nodes;
    const auto value_of = [&](const Node* node) {
      const auto [it, fresh] = index.emplace(node, values.size());
      if (fresh) {
        values.push_back({Bytes(node), -1, -1, -1, InArena(graph, node)});
        nodes.push_back(node);
      }
      return it->second;
    };
    for (int step = 0; step < static_cast<int>(order.size()); ++step) {
      const Node* stmt = order[static_cast<size_t>(step)];
      for (const NodeList* links : {&stmt->inlinks(), &stmt->outlinks()}) {
        for (const Node* node : *links) {
          SharingValue& value = values[value_of(node)];
          if (value.first < 0) value.first = step;
          value.last = step;
        }
      }
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (const Node* source = graph.Alias(nodes[i])) values[i].within = static_cast<int>(index.at(source));
    }
    std::vector<Lifetime> lifetimes = SharingLifetimes(values, SharingRoots(values, WeighSharing(values)));
    std::erase_if(lifetimes, [](const Lifetime& life) { return life.first < 0; });
    return lifetimes;
  }

  // At each step the ready statement after which the least is alive; the program's order where that decides nothing.
  NodeList GreedyOrder(const SSAGraph& graph, const NodeList& before) const {
    std::unordered_map<const Node*, size_t> open_inputs;
    std::unordered_map<const Node*, size_t> open_uses;
    NodeList ready;
    for (Node* stmt : before) {
      size_t open = 0;
      for (const Node* arg : stmt->inlinks()) {
        open += arg->producer() != nullptr ? 1 : 0;
        ++open_uses[Root(arg)];
      }
      open_inputs[stmt] = open;
      if (open == 0) ready.push_back(stmt);
    }
    NodeList order;
    while (!ready.empty()) {
      size_t best = 0;
      double best_growth = std::numeric_limits<double>::max();
      for (size_t i = 0; i < ready.size(); ++i) {
        double growth = 0;
        for (const Node* result : ready[i]->outlinks())
          growth += InArena(graph, result) ? static_cast<double>(Bytes(result)) : 0;
        for (const Node* arg : ready[i]->inlinks()) {
          const Node* root = Root(arg);
          if (InArena(graph, root) && open_uses[root] == 1) growth -= static_cast<double>(Bytes(root));
        }
        if (growth < best_growth) {
          best_growth = growth;
          best = i;
        }
      }
      Node* stmt = ready[best];
      ready.erase(ready.begin() + static_cast<int64_t>(best));
      order.push_back(stmt);
      for (const Node* arg : stmt->inlinks()) --open_uses[Root(arg)];
      for (const Node* result : stmt->outlinks()) {
        for (Node* user : result->outlinks()) {
          if (--open_inputs[user] == 0) ready.push_back(user);
        }
      }
    }
    return order;
  }

  std::unordered_map<const Node*, const Node*> roots_;
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(memory_optimize_pass, wherry::mir::MemoryOptimizePass).BindTargets({TARGET(kAny)});
