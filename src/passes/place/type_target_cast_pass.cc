// Puts an `io_copy` statement wherever a value lies in another memory space than the kernel that reads it; one for each
// value and memory space. Inputs, weights and outputs of the graph lie on the host.
#include <map>

#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// One name for everything in host memory.
Target Space(Target target) { return IsHostMemory(target) || target == Target::kAny ? Target::kHost : target; }

class TypeTargetCastPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    spaces_.clear();
    copies_.clear();
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      if (stmt->AsStmt().op_type() == "io_copy") {
        spaces_[stmt->AsStmt().output()] = Space(stmt->AsStmt().GetAttr<Target>("target"));
        continue;
      }
      const KernelPick* pick = graph->Pick(stmt);
      const Target space = pick == nullptr ? Target::kHost : Space(pick->key.target());
      for (const ArgDef& def : stmt->AsStmt().schema().args) {
        // An attribute's value is read on the host.
        const Target wanted = def.is_tensor() ? space : Target::kHost;
        NodeList args = stmt->AsStmt().input_list(def.name);
        bool changed = false;
        for (Node*& arg : args) {
          if (SpaceOf(arg) == wanted) continue;
          arg = Copy(graph.get(), arg, wanted, stmt);
          changed = true;
        }
        if (changed) graph->SetInput(stmt, def.name, std::move(args));
      }
      for (const Node* result : stmt->outlinks()) spaces_[result] = space;
    }
    NodeList outputs = graph->outputs();
    for (Node*& output : outputs) {
      if (SpaceOf(output) != Target::kHost) output = Copy(graph.get(), output, Target::kHost, nullptr);
    }
    graph->SetOutputs(std::move(outputs), graph->output_names());
    if (!copies_.empty()) Note(std::to_string(copies_.size()) + " copies between memory spaces");
  }

 private:
  Target SpaceOf(const Node* arg) const {
    const auto it = spaces_.find(arg);
    return it == spaces_.end() ? Target::kHost : it->second;
  }

  Node* Copy(SSAGraph* graph, Node* arg, Target target, const Node* near) {
    Node*& copy = copies_[{arg->id(), target}];
    if (copy != nullptr) return copy;
    copy = graph->NewArg(arg->AsArg().name + "." + ToString(target), arg->AsArg().type);
    graph->NewStmt("io_copy", {{"x", {arg}}}, {{"out", {copy}}}, {{"target", target}}, near);
    spaces_[copy] = target;
    return copy;
  }

  std::map<const Node*, Target> spaces_;  // where each value lies; absent: host
  std::map<std::pair<int, Target>, Node*> copies_;
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(type_target_cast_pass, wherry::mir::TypeTargetCastPass).BindTargets({TARGET(kAny)});
