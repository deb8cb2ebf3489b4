#include "importers/onnx/node_order.h"

#include <functional>
#include <queue>
#include <unordered_map>

#include "base/check.h"
#include "base/strings.h"

namespace wherry::onnx {

namespace {

// Adds what `graph` uses and does not give itself. Graphs nest kMostNesting deep at most.
void AddFreeNames(const GraphProto& graph, std::set<std::string>* names) {
  std::set<std::string> used;
  for (const NodeProto& node : graph.nodes) {
    for (const ForeignOp::Slot& slot : node.op.inputs) used.insert(slot.values.begin(), slot.values.end());
    for (const auto& [attr, child] : node.graphs) AddFreeNames(*child, &used);
  }
  for (const ValueInfoProto& output : graph.outputs) used.insert(output.name);
  for (const ValueInfoProto& input : graph.inputs) used.erase(input.name);
  for (const TensorProto& initializer : graph.initializers) used.erase(initializer.name);
  for (const NodeProto& node : graph.nodes) {
    for (const ForeignOp::Slot& slot : node.op.outputs) {
      for (const std::string& name : slot.values) used.erase(name);
    }
  }
  names->merge(used);
}

[[noreturn]] void ThrowCycle(const GraphProto& graph, const std::vector<std::vector<size_t>>& users,
                             const std::vector<size_t>& missing) {
  // Every node that is left waits for one that is left; walking backwards ends on a circle.
  std::vector<size_t> waits_for(graph.nodes.size());
  size_t at = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (missing[i] == 0) continue;
    at = i;
    for (const size_t user : users[i]) waits_for[user] = i;
  }
  std::vector<bool> seen(graph.nodes.size());
  while (!seen[at]) {
    seen[at] = true;
    at = waits_for[at];
  }
  std::vector<std::string> circle;
  constexpr size_t kMostNamed = 4;
  for (size_t i = at; circle.empty() || i != at; i = waits_for[i]) {
    if (circle.size() == kMostNamed) {
      circle.emplace_back("...");
      break;
    }
    circle.push_back(Describe(graph.nodes[i].op));
  }
  Throw(ErrorCode::kCorrupt, "the graph has a cycle; each of these uses a result of the next: ", Join(circle, ", "));
}

}  // namespace

std::set<std::string> CapturedNames(const NodeProto& node) {
  std::set<std::string> names;
  for (const auto& [attr, graph] : node.graphs) AddFreeNames(*graph, &names);
  return names;
}

std::vector<size_t> OrderOfNodes(const GraphProto& graph) {
  const std::vector<NodeProto>& nodes = graph.nodes;
  std::set<std::string> given;
  for (const ValueInfoProto& input : graph.inputs) given.insert(input.name);
  for (const TensorProto& initializer : graph.initializers) given.insert(initializer.name);
  std::unordered_map<std::string, size_t> givers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const ForeignOp::Slot& slot : nodes[i].op.outputs) {
      for (const std::string& name : slot.values) {
        WHERRY_ENFORCE(given.count(name) == 0, kCorrupt, "value ", Quote(name), " is given twice: by ",
                       Describe(nodes[i].op), " and as an input or initializer");
        const auto [giver, added] = givers.emplace(name, i);
        WHERRY_ENFORCE(added, kCorrupt, "value ", Quote(name), " is given twice: by ",
                       Describe(nodes[giver->second].op), " and ", Describe(nodes[i].op));
      }
    }
  }
  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<size_t> missing(nodes.size(), 0);
  const auto uses = [&](size_t user, const std::string& name) {
    const auto giver = givers.find(name);
    if (giver == givers.end()) return;
    users[giver->second].push_back(user);
    ++missing[user];
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const ForeignOp::Slot& slot : nodes[i].op.inputs) {
      for (const std::string& name : slot.values) uses(i, name);
    }
    for (const std::string& name : CapturedNames(nodes[i])) uses(i, name);
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const size_t user : users[next]) {
      if (--missing[user] == 0) ready.push(user);
    }
  }
  if (order.size() != nodes.size()) ThrowCycle(graph, users, missing);
  return order;
}

}  // namespace wherry::onnx
