// What arithmetic says about constants and repeated operators: x + 0, x - 0, x * 1, x / 1 and pow(x, 1) are x;
// powers of -2, -1, 1/2, 2, 3 and 4 are products, reciprocals and roots; -(-x) is x; numbers that a value is multiplied
// by, or that are added to it, become one. Weights come second, subtracting one is adding its negative, and dividing by
// powers of two is multiplying. A result keeps its shape and type, and NaN stays NaN (so x * 0 is left). Nothing is
// reordered that would round otherwise by more than a product or sum does: 1e8 - 1e8 is left, as is dividing by 3. (x +
// 0 gives 0 for -0; x is -0 then, which is equal to it.)
#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"
#include "wherry/tensor.h"

namespace wherry::mir {
namespace {

// The number that all elements of a weight are; larger weights than this are not looked through.
constexpr int64_t kMaxUniform = 4096;

std::optional<double> Uniform(const SSAGraph& graph, const Node* arg) {
  const DenseTensor* weight = arg == nullptr ? nullptr : graph.TryWeight(arg);
  if (weight == nullptr || weight->numel() == 0 || weight->numel() > kMaxUniform) return std::nullopt;
  if (weight->numel() == 1) {
    const DataType type = weight->dtype();
    if (!IsFloating(type) && !IsInteger(type)) return std::nullopt;
    return Scalar(Tensor(std::make_shared<DenseTensor>(*weight))).to<double>();
  }
  if (weight->dtype() != DataType::kFloat) return std::nullopt;
  const auto* data = weight->data<float>();
  const bool uniform = std::all_of(data, data + weight->numel(), [data](float value) { return value == data[0]; });
  return uniform ? std::optional<double>(data[0]) : std::nullopt;
}

bool SameMeta(const Node* a, const Node* b) {
  const MetaTensor& x = a->AsArg().type;
  const MetaTensor& y = b->AsArg().type;
  return x.rank_known && y.rank_known && x.dims == y.dims && x.dtype == y.dtype;
}

// The statement that makes `arg`, if it is of this type and nothing else reads what it makes.
Node* OnlyFor(const SSAGraph& graph, Node* arg, const char* type) {
  Node* const producer = arg == nullptr ? nullptr : arg->producer();
  if (producer == nullptr || producer->AsStmt().op_type() != type) return nullptr;
  return HasOneUse(graph, arg) ? producer : nullptr;
}

bool IsF32(const DenseTensor* tensor) { return tensor != nullptr && tensor->dtype() == DataType::kFloat; }

// `weight` with each element replaced by fn of it; nothing if fn gives nothing for one.
template <typename Fn>
std::optional<DenseTensor> Map(const DenseTensor& weight, Fn fn) {
  DenseTensor result(HostAllocator(), weight.meta());
  for (int64_t i = 0; i < weight.numel(); ++i) {
    const std::optional<float> value = fn(weight.data<float>()[i], i);
    if (!value) return std::nullopt;
    result.mutable_data<float>()[i] = *value;
  }
  return result;
}

// Between the two products a value may be infinite, or 0, and stay so: x * 1e30 * 1e-30 is not x for a large x. Factors
// that a network means are nearer to 1.
std::optional<float> Product(float a, float b) {
  constexpr float kLargest = 1e6F;
  const auto moderate = [](float x) { return x == 0 || (std::abs(x) <= kLargest && std::abs(x) >= 1 / kLargest); };
  return moderate(a) && moderate(b) ? std::optional<float>(a * b) : std::nullopt;
}

std::optional<float> Sum(float a, float b) {
  const float sum = a + b;
  // Of one sign: a sum that cancels was written to round.
  const bool sound = (a >= 0 && b >= 0) || (a <= 0 && b <= 0);
  return sound && std::isfinite(sum) ? std::optional<float>(sum) : std::nullopt;
}

class AlgebraPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    // Again: what a later statement no longer reads, an earlier one may be gathered with. More rounds than this have
    // not been seen to find anything.
    constexpr int kMostRounds = 4;
    int changed = 0;
    for (int round = 0, before = -1; round < kMostRounds && before != changed; ++round) {
      before = changed;
      changed += Simplify(graph.get());
    }
    if (changed > 0) Note(std::to_string(changed) + " statements simplified");
  }

 private:
  // The number of statements that changed.
  static int Simplify(SSAGraph* graph) {
    int changed = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {  // NOLINT: rules replace it
      const bool binary = stmt->AsStmt().schema().Has(kTraitBinary);
      if (binary) Order(graph, stmt);
      if (binary ? Binary(graph, stmt) : Unary(graph, stmt)) ++changed;
    }
    return changed;
  }

  // Weights second, so that the result may overwrite the first.
  static void Order(SSAGraph* graph, Node* node) {
    Node* const x = node->AsStmt().input("x");
    Node* const y = node->AsStmt().input("y");
    if (!node->AsStmt().schema().Has(kTraitCommutative) || !x->AsArg().is_weight || y->AsArg().is_weight) return;
    graph->SetInput(node, "x", {y});
    graph->SetInput(node, "y", {x});
  }

  static bool Unary(SSAGraph* graph, Node* node) {
    const std::string op = node->AsStmt().op_type();
    if (op != "neg" && op != "abs" && op != "square" && op != "logical_not") return false;
    Node* const x = node->AsStmt().input("x");
    Node* const before = x->producer();
    if (before == nullptr) return false;
    const std::string first = before->AsStmt().op_type();
    if ((op == "neg" && first == "neg") || (op == "logical_not" && first == "logical_not")) {
      Node* const source = before->AsStmt().input("x");
      if (!SameMeta(source, node->AsStmt().output())) return false;
      Forward(graph, node, source);
      return true;
    }
    return (op == "abs" || op == "square") && DropSigns(graph, node);
  }

  // Of what only the magnitude counts.
  static bool DropSigns(SSAGraph* graph, Node* node) {
    bool dropped = false;
    while (true) {
      Node* const x = node->AsStmt().input("x");
      if (ProducerOf(x, "neg") == nullptr && ProducerOf(x, "abs") == nullptr) return dropped;
      graph->SetInput(node, "x", {x->producer()->AsStmt().input("x")});
      EraseIfUnused(graph, x);
      dropped = true;
    }
  }

  static bool Binary(SSAGraph* graph, Node*& node) {
    const Node::Stmt& stmt = node->AsStmt();
    const std::string op = stmt.op_type();
    Node* const x = stmt.input("x");
    Node* const y = stmt.input("y");
    Node* const out = stmt.output();
    if (const std::optional<double> number = Uniform(*graph, y); number && SameMeta(x, out)) {
      const bool unchanged = ((op == "add" || op == "subtract") && *number == 0) ||
                             ((op == "multiply" || op == "divide" || op == "elementwise_pow") && *number == 1);
      if (unchanged) {
        Forward(graph, node, x);
        return true;
      }
      if (op == "elementwise_pow" && IsFloating(x->AsArg().type.dtype)) return Power(graph, node, x, *number);
    }
    if (op == "divide" && SameMeta(y, out) && IsFloating(out->AsArg().type.dtype) && Uniform(*graph, x) == 1.0) {
      return Become(graph, node, "reciprocal", y);
    }
    bool changed = Canonical(graph, node);
    while (Gather(graph, node)) changed = true;
    return changed;
  }

  // What overflows or vanishes on the way does so in the end, and each product rounds once more: within 2 ulp. The root
  // of -infinity is NaN, as of other negative numbers, and that of -0 is -0, where pow gives infinity and 0 (PyTorch
  // computes pow(x, 0.5) so too). pow(x, -0.5) stays: it is infinite of one sign for both zeros.
  static bool Power(SSAGraph* graph, Node*& node, Node* x, double number) {
    if (number == 2) return Become(graph, node, "square", x);
    if (number == -1) return Become(graph, node, "reciprocal", x);
    if (number == 0.5) return Become(graph, node, "sqrt", x);
    if (number != 3 && number != 4 && number != -2) return false;
    const Node* const out = node->AsStmt().output();
    OpDesc first(number == -2 ? "reciprocal" : "square");
    OpDesc second(number == 3 ? "multiply" : "square");
    Node* const part = graph->NewArg(out->AsArg().name + ".part", out->AsArg().type);
    first.SetInput("x", {x->AsArg().name});
    first.SetOutput("out", {part->AsArg().name});
    graph->NewStmt(first, node);
    second.SetInput("x", {part->AsArg().name});
    if (number == 3) second.SetInput("y", {x->AsArg().name});
    Replace(graph, node, std::move(second));
    return true;
  }

  // x - w is x + -w, and x / w is x * 1/w where that is exact.
  static bool Canonical(SSAGraph* graph, Node*& node) {
    const Node::Stmt& stmt = node->AsStmt();
    const std::string op = stmt.op_type();
    Node* const y = stmt.input("y");
    const DenseTensor* weight = graph->TryWeight(y);
    if (!IsF32(weight) || weight->numel() > kMaxUniform || stmt.input("x")->AsArg().is_weight) return false;
    std::optional<DenseTensor> other;
    if (op == "subtract") {
      other = Map(*weight, [](float value, int64_t /*i*/) { return std::optional<float>(-value); });
    } else if (op == "divide") {
      other = Map(*weight, [](float value, int64_t /*i*/) -> std::optional<float> {
        int exponent = 0;
        const bool power = std::isnormal(value) && std::abs(std::frexp(value, &exponent)) == 0.5F;
        return power && std::isnormal(1 / value) ? std::optional<float>(1 / value) : std::nullopt;
      });
    }
    if (!other) return false;
    OpDesc desc(op == "subtract" ? "add" : "multiply");
    desc.SetInput("x", {stmt.input("x")->AsArg().name});
    desc.SetInput("y", {graph->NewWeight(y->AsArg().name, std::move(*other))->AsArg().name});
    Replace(graph, node, std::move(desc));
    return true;
  }

  // (x * a) * b is x * (a * b), and the same of sums, where a and b are weights of one shape or single numbers.
  static bool Gather(SSAGraph* graph, Node*& node) {
    const Node::Stmt& stmt = node->AsStmt();
    const std::string op = stmt.op_type();
    if (op != "multiply" && op != "add") return false;
    Node* const before = OnlyFor(*graph, stmt.input("x"), op.c_str());
    if (before == nullptr || !SameMeta(stmt.input("x"), stmt.output())) return false;
    Node* first = before->AsStmt().input("y");
    Node* second = stmt.input("y");
    if (graph->TryWeight(first) == nullptr || graph->TryWeight(second) == nullptr) return false;
    if (graph->WeightTensor(first).numel() < graph->WeightTensor(second).numel()) std::swap(first, second);
    const DenseTensor& large = graph->WeightTensor(first);
    const DenseTensor& small = graph->WeightTensor(second);
    const bool single = small.numel() == 1 && small.shape().rank() <= large.shape().rank();
    if (!IsF32(&large) || !IsF32(&small) || large.numel() > kMaxUniform ||
        (!single && large.shape() != small.shape())) {
      return false;
    }
    std::optional<DenseTensor> both = Map(large, [&](float value, int64_t i) {
      const float other = small.data<float>()[single ? 0 : i];
      return op == "add" ? Sum(value, other) : Product(value, other);
    });
    if (!both) return false;
    Node* const weight = graph->NewWeight(first->AsArg().name, std::move(*both));
    Node* const middle = stmt.input("x");
    graph->SetInput(node, "x", {before->AsStmt().input("x")});
    Node* const old = stmt.input("y");
    graph->SetInput(node, "y", {weight});
    DropWeight(graph, old);  // first: it may be that of the other too, and goes with it then
    EraseIfUnused(graph, middle);
    return true;
  }

  // --- editing

  static void Forward(SSAGraph* graph, Node* node, Node* source) {
    Node* const x = node->AsStmt().input("x");
    graph->ReplaceUses(node->AsStmt().output(), source);
    graph->EraseStmt(node);
    if (x != source) EraseIfUnused(graph, x);
  }

  static bool Become(SSAGraph* graph, Node*& node, const char* op, Node* x) {
    if (!SameMeta(x, node->AsStmt().output())) return false;
    OpDesc desc(op);
    desc.SetInput("x", {x->AsArg().name});
    Replace(graph, node, std::move(desc));
    return true;
  }

  static void Replace(SSAGraph* graph, Node*& node, OpDesc desc) {
    desc.SetOutput("out", {node->AsStmt().output()->AsArg().name});
    desc.SetLabel(node->AsStmt().label());
    Node* const fresh = graph->NewStmt(desc, node);
    graph->EraseStmt(node);
    node = fresh;
  }

  static void DropWeight(SSAGraph* graph, Node* arg) {
    if (arg->outlinks().empty() && !graph->IsOutput(arg)) graph->EraseArg(arg);
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(algebra_pass, wherry::mir::AlgebraPass);
