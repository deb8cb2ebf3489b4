// What the driver compares before and after a pass to see what it changed.
#include <functional>
#include <string_view>

#include "base/hash.h"
#include "ir/ssa_graph.h"

namespace wherry::mir {

namespace {

uint64_t HashDims(const std::vector<Dim>& dims) {
  uint64_t hash = dims.size();
  for (const Dim& dim : dims) {
    hash =
        HashCombine(hash, dim.known() ? static_cast<uint64_t>(dim.value()) : reinterpret_cast<uintptr_t>(dim.expr()));
  }
  return hash;
}

uint64_t HashType(const MetaTensor& type) {
  uint64_t hash = HashCombine(static_cast<uint64_t>(type.dtype), static_cast<uint64_t>(type.layout));
  hash = HashCombine(hash, type.rank_known ? HashDims(type.dims) : 1);
  return HashCombine(hash, type.values ? HashDims(*type.values) : 2);
}

// Of this run only, so a faster hash than HashString will do.
uint64_t HashText(std::string_view text) { return std::hash<std::string_view>()(text); }

uint64_t HashBinding(const Binding& binding) {
  uint64_t hash = binding.size();
  for (const auto& [param, nodes] : binding) {
    hash = HashCombine(hash, HashText(param));
    for (const Node* node : nodes) hash = HashCombine(hash, static_cast<uint64_t>(node->id()));
  }
  return hash;
}

uint64_t HashPick(const KernelPick& pick) {
  uint64_t hash = HashCombine(HashText(pick.provider), HashText(pick.variant));
  hash = HashCombine(hash, static_cast<uint64_t>(pick.key.target()));
  return HashCombine(hash, static_cast<uint64_t>(pick.key.dtype()) << 8U | static_cast<uint64_t>(pick.key.layout()));
}

}  // namespace

SSAGraph::Fingerprint SSAGraph::ComputeFingerprint() const {
  Fingerprint print;
  const auto topology = [&print](uint64_t value) { print.topology = HashCombine(print.topology, value); };
  const auto content = [&print](uint64_t value) { print.content = HashCombine(print.content, value); };
  for (const auto& node : nodes_) {
    if (node == nullptr) continue;
    topology(static_cast<uint64_t>(node->id_));
    if (node->IsArg()) {
      topology(node->arg_.is_weight ? 1 : 0);
      content(HashText(node->arg_.name));
      content(HashType(node->arg_.type));
      if (const DenseTensor* weight = TryWeight(node.get())) {
        content(reinterpret_cast<uintptr_t>(weight->buffer().get()) + weight->offset());
      }
      if (const Node* alias = Alias(node.get())) content(static_cast<uint64_t>(alias->id()));
      continue;
    }
    const Node::Stmt& stmt = node->stmt_;
    topology(reinterpret_cast<uintptr_t>(stmt.schema_));
    topology(HashBinding(stmt.inputs_));
    topology(HashBinding(stmt.outputs_));
    if (!stmt.attrs_hash_) {
      uint64_t hash = stmt.attrs_.size();
      for (const auto& [name, value] : stmt.attrs_)
        hash = HashCombine(hash, HashCombine(HashText(name), HashAttribute(value)));
      stmt.attrs_hash_ = hash;
    }
    content(*stmt.attrs_hash_);
    content(HashText(stmt.label_));
    if (const KernelPick* pick = Pick(node.get())) content(HashPick(*pick));
    for (const auto& block : stmt.blocks_) {
      const Fingerprint child = block->ComputeFingerprint();
      topology(child.topology);
      content(child.content);
    }
  }
  for (const Node* node : inputs_) topology(static_cast<uint64_t>(node->id()));
  for (const Node* node : outputs_) topology(static_cast<uint64_t>(node->id()));
  for (const std::string& name : output_names_) content(HashText(name));
  return print;
}

}  // namespace wherry::mir
