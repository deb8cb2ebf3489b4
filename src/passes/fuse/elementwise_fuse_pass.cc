// Elementwise operators that feed one another become one fused_elementwise: its program runs tile by tile, so that what
// they hand on stays in the nearest cache. Values in between are f32, of the result's shape (a smaller one would be
// computed again and again) and read by the group alone; whatever else is read is an input, which may broadcast.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/strings.h"
#include "pass/act_step.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

using Instruction = ElementwiseInstruction;
using Op = Instruction::Op;

// What a statement does: an instruction, and the arguments that its registers stand for.
struct Step {
  Instruction instruction;
  Node* lhs = nullptr;
  Node* rhs = nullptr;
};

bool IsFloat(const Node* arg) { return arg->AsArg().type.rank_known && arg->AsArg().type.dtype == DataType::kFloat; }

std::optional<Op> BinaryOf(const std::string& op) {
  static const std::map<std::string, Op> ops = {
      {"add", Op::kAdd},     {"subtract", Op::kSub}, {"multiply", Op::kMul},        {"divide", Op::kDiv},
      {"maximum", Op::kMax}, {"minimum", Op::kMin},  {"elementwise_pow", Op::kPow},
  };
  const auto found = ops.find(op);
  return found == ops.end() ? std::nullopt : std::optional(found->second);
}

// x + c, x - c, c - x and x * c as a x + b, which reads one tensor. Exact: b = -0 keeps the sign of zeros.
std::optional<Step> WithNumber(const SSAGraph& graph, Op op, Node* value, Node* other, bool other_first) {
  const DenseTensor* weight = graph.TryWeight(other);
  // A number of more axes would add axes to the result.
  if (weight == nullptr || weight->numel() != 1 || weight->shape().rank() > value->AsArg().type.rank()) return {};
  const float c = weight->data<float>()[0];
  const auto linear = [value](float a, float b) {
    return Step{{Op::kAct, ActKind::kLinear, a, b, -1, -1}, value, nullptr};
  };
  if (op == Op::kAdd) return linear(1, c);
  if (op == Op::kSub) return other_first ? linear(-1, c) : linear(1, -c);
  if (op == Op::kMul) return linear(c, -0.0F);
  return std::nullopt;
}

std::optional<Step> StepOf(const SSAGraph& graph, const Node* node) {
  const Node::Stmt& stmt = node->AsStmt();
  Node* x = stmt.input("x");
  if (x == nullptr || !IsFloat(x) || node->outlinks().size() != 1 || !IsFloat(node->outlinks()[0])) return std::nullopt;
  if (const std::optional<ActStep> act = ActivationOf(stmt)) {
    return Step{{Op::kAct, act->kind, act->a, act->b, -1, -1}, x, nullptr};
  }
  const std::optional<Op> op = BinaryOf(stmt.op_type());
  Node* y = stmt.input("y");
  if (!op || y == nullptr || !IsFloat(y)) return std::nullopt;
  if (const auto step = WithNumber(graph, *op, x, y, false)) return step;
  if (const auto step = WithNumber(graph, *op, y, x, true)) return step;
  return Step{{*op, ActKind::kIdentity, 0, 0, -1, -1}, x, y};
}

class ElementwiseFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    const NodeList order = graph->StmtTopologicalOrder();
    steps_.clear();
    place_.clear();
    for (size_t i = 0; i < order.size(); ++i) {
      if (const auto step = StepOf(*graph, order[i])) steps_.emplace(order[i], *step);
      place_.emplace(order[i], i);
    }
    size_t groups = 0;
    size_t fused = 0;
    // From the end, so that the statement at hand is always the last of its group.
    for (size_t i = order.size(); i-- > 0;) {
      if (steps_.count(order[i]) == 0) continue;
      const NodeList group = GroupOf(*graph, order[i]);
      if (group.size() < 2) continue;
      Replace(graph.get(), group);
      for (const Node* stmt : group) steps_.erase(stmt);
      ++groups;
      fused += group.size();
    }
    if (groups > 0) Note(StrCat(fused, " elementwise operators in ", groups, " groups"));
  }

 private:
  // The statement and those before it that can join it, in dependency order.
  NodeList GroupOf(const SSAGraph& graph, Node* last) const {
    NodeList group = {last};
    const auto& dims = last->outlinks()[0]->AsArg().type.dims;
    const auto joins = [&](const Node* value) {
      const Node* producer = value->producer();
      if (producer == nullptr || steps_.count(producer) == 0 || graph.IsOutput(value) ||
          value->AsArg().type.dims != dims) {
        return false;
      }
      const NodeList& readers = value->outlinks();
      return std::all_of(readers.begin(), readers.end(), [&group](const Node* reader) {
        return std::find(group.begin(), group.end(), reader) != group.end();
      });
    };
    for (bool grown = true; grown && group.size() < ElementwiseProgram::kMaxInstructions;) {
      grown = false;
      for (Node* value : Inputs(group)) {
        if (!joins(value)) continue;
        group.push_back(value->producer());
        grown = Inputs(group).size() <= ElementwiseProgram::kMaxInputs;
        if (grown) break;
        group.pop_back();
      }
    }
    std::sort(group.begin(), group.end(), [this](const Node* a, const Node* b) { return place_.at(a) < place_.at(b); });
    return group;
  }

  // What the group reads of others, in the order of the group, each once.
  NodeList Inputs(const NodeList& group) const {
    NodeList inputs;
    for (const Node* stmt : group) {
      const Step& step = steps_.at(stmt);
      for (Node* arg : {step.lhs, step.rhs}) {
        if (arg == nullptr || std::find(inputs.begin(), inputs.end(), arg) != inputs.end()) continue;
        const bool inside =
            arg->producer() != nullptr && std::find(group.begin(), group.end(), arg->producer()) != group.end();
        if (!inside) inputs.push_back(arg);
      }
    }
    return inputs;
  }

  void Replace(SSAGraph* graph, const NodeList& group) const {
    const NodeList inputs = Inputs(group);
    ElementwiseProgram program;
    program.inputs = static_cast<int>(inputs.size());
    std::unordered_map<const Node*, int> registers;
    for (const Node* input : inputs) registers.emplace(input, static_cast<int>(registers.size()));
    for (const Node* stmt : group) {
      const Step& step = steps_.at(stmt);
      Instruction instruction = step.instruction;
      instruction.lhs = registers.at(step.lhs);
      if (step.rhs != nullptr) instruction.rhs = registers.at(step.rhs);
      program.instructions.push_back(instruction);
      registers.emplace(stmt->outlinks()[0], static_cast<int>(registers.size()));
    }
    Node* last = group.back();
    OpDesc desc("fused_elementwise");
    std::vector<std::string> names;
    for (const Node* input : inputs) names.push_back(input->AsArg().name);
    desc.SetInput("inputs", names);
    desc.SetOutput("out", {last->outlinks()[0]->AsArg().name});
    desc.SetAttr("program", program);
    desc.SetLabel(last->AsStmt().label());
    graph->NewStmt(desc, last);
    for (auto stmt = group.rbegin(); stmt != group.rend(); ++stmt) graph->EraseStmt(*stmt);
  }

  std::unordered_map<const Node*, Step> steps_;    // of the elementwise statements that are left
  std::unordered_map<const Node*, size_t> place_;  // in the order of the graph
};

}  // namespace
}  // namespace wherry::mir

// Host kernels only: beside a device, one operator there is better than several on the host.
REGISTER_MIR_PASS(elementwise_fuse_pass, wherry::mir::ElementwiseFusePass)
    .BindTargets({TARGET(kAny)})
    .ExcludeTargets({TARGET(kOpenCL)})
    .BindKernel("fused_elementwise");
