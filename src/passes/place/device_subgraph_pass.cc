// Statements that run on one device, next to one another, become one statement that runs there without leaving: a
// `subgraph` with a block of its own. Regions are as large as can be without a cycle: a value that leaves a region and
// comes back to the device only after other statements have changed it comes back to another region. Copies to and from
// the device stand outside (type_target_cast_pass), one for each value.
#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/check.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class DeviceSubgraphPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    for (const auto& [target, stmts] : Regions(*graph)) {
      if (graph->is_child() && stmts.size() == graph->stmt_count()) continue;  // a block that is one already
      graph->Outline(stmts, "subgraph", {{"target", target}});
      Note(StrCat(stmts.size(), " statements run on ", ToString(target), " as one"));
    }
  }

 private:
  using Region = std::pair<Target, NodeList>;

  // Host for everything in host memory.
  static Target DeviceOf(const SSAGraph& graph, const Node* stmt) {
    const KernelPick* pick = graph.Pick(stmt);
    if (pick == nullptr || IsHostMemory(pick->key.target()) || pick->key.target() == Target::kAny) return Target::kHost;
    return pick->key.target();
  }

  // A statement's level: how often a value on the way to it has changed devices, the first step onto one not counted
  // where it comes from inputs and constants only. Between two statements of one device and level no way leads over
  // another, so what of these is connected can become one without a cycle.
  static std::vector<Region> Regions(const SSAGraph& graph) {
    const NodeList order = graph.StmtTopologicalOrder();
    std::unordered_map<const Node*, std::pair<Target, int>> level;
    std::unordered_map<const Node*, size_t> index;
    std::vector<size_t> parent(order.size());
    std::iota(parent.begin(), parent.end(), size_t{0});
    const auto root = [&](size_t i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    for (size_t i = 0; i < order.size(); ++i) {
      const Target device = DeviceOf(graph, order[i]);
      int own = device == Target::kHost ? 0 : 1;
      for (const Node* arg : order[i]->inlinks()) {
        if (arg->producer() == nullptr) continue;
        const auto& [from, at] = level.at(arg->producer());
        own = std::max(own, from == device ? at : at + 1);
      }
      level[order[i]] = {device, own};
      index[order[i]] = i;
      if (device == Target::kHost) continue;
      for (const Node* arg : order[i]->inlinks()) {
        if (arg->producer() != nullptr && level.at(arg->producer()) == level.at(order[i])) {
          parent[root(index.at(arg->producer()))] = root(i);
        }
      }
    }
    std::map<size_t, Region> regions;  // by root
    for (size_t i = 0; i < order.size(); ++i) {
      const Target device = level.at(order[i]).first;
      if (device == Target::kHost) continue;
      Region& region = regions[root(i)];
      region.first = device;
      region.second.push_back(order[i]);
    }
    std::vector<Region> result;
    for (auto& [at, region] : regions) {
      if (region.second.size() > 1) result.push_back(std::move(region));
    }
    return result;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(device_subgraph_pass, wherry::mir::DeviceSubgraphPass).BindTargets({TARGET(kAny)});
