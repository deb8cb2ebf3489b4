// What the driver compares before and after a pass to see what it changed.
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

uint64_t HashBinding(const Binding& binding) {
  uint64_t hash = binding.size();
  for (const auto& [param, nodes] : binding) {
    hash = HashCombine(hash, HashString(param));
    for (const Node* node : nodes) hash = HashCombine(hash, static_cast<uint64_t>(node->id()));
  }
  return hash;
}

uint64_t HashPick(const KernelPick& pick) {
  uint64_t hash = HashCombine(HashString(pick.provider), HashString(pick.variant));
  return HashCombine(hash, HashString(pick.key.DebugString()));
}

}  // namespace

SSAGraph::Fingerprint SSAGraph::ComputeFingerprint() const {
  Fingerprint print;
  const auto topology = [&print](uint64_t value) { print.topology = HashCombine(print.topology, value); };
  const auto content = [&print](uint64_t value) { print.content = HashCombine(print.content, value); };
  for (const auto& [id, node] : nodes_) {
    topology(static_cast<uint64_t>(id));
    if (node->IsArg()) {
      topology(node->arg_.is_weight ? 1 : 0);
      content(HashString(node->arg_.name));
      content(HashType(node->arg_.type));
      if (const DenseTensor* weight = TryWeight(node.get())) {
        content(reinterpret_cast<uintptr_t>(weight->buffer().get()) + weight->offset());
      }
      if (const Node* alias = Alias(node.get())) content(static_cast<uint64_t>(alias->id()));
      continue;
    }
    const Node::Stmt& stmt = node->stmt_;
    topology(HashString(stmt.schema_->name));
    topology(HashBinding(stmt.inputs_));
    topology(HashBinding(stmt.outputs_));
    for (const auto& [name, value] : stmt.attrs_) content(HashCombine(HashString(name), HashAttribute(value)));
    content(HashString(stmt.label_));
    if (const KernelPick* pick = Pick(node.get())) content(HashPick(*pick));
    for (const auto& block : stmt.blocks_) {
      const Fingerprint child = block->ComputeFingerprint();
      topology(child.topology);
      content(child.content);
    }
  }
  for (const Node* node : inputs_) topology(static_cast<uint64_t>(node->id()));
  for (const Node* node : outputs_) topology(static_cast<uint64_t>(node->id()));
  for (const std::string& name : output_names_) content(HashString(name));
  return print;
}

}  // namespace wherry::mir
