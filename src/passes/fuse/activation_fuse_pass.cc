// Activations that gate their argument, from the pieces that exporters write: gelu (by erf, by tanh, by the sigmoid
// that equals it), silu and swish, hardswish, mish.
//
// All are x * (a f(u) + b) with u a polynomial of x. Whatever order the pieces stand in, they say so: from f's
// statement backwards its argument is read as a polynomial, forwards its result is followed through numbers added and
// multiplied until it meets x.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// Coefficients of 1, x, x^2, x^3.
using Polynomial = std::array<double, 4>;

Polynomial Sum(const Polynomial& p, const Polynomial& q, double sign) {
  Polynomial sum = p;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += sign * q[i];
  return sum;
}

// Nothing above the third power.
std::optional<Polynomial> Product(const Polynomial& p, const Polynomial& q) {
  Polynomial product{};
  for (size_t i = 0; i < p.size(); ++i) {
    for (size_t j = 0; j < q.size(); ++j) {
      if (p[i] == 0 || q[j] == 0) continue;
      if (i + j >= product.size()) return std::nullopt;
      product[i + j] += p[i] * q[j];
    }
  }
  return product;
}

// A value as a polynomial of x: up to `depth` statements lie between.
std::optional<Polynomial> PolynomialOf(const SSAGraph& graph, const Node* arg, const Node* x, int depth = 6) {
  if (arg == x) return Polynomial{0, 1, 0, 0};
  if (const std::optional<double> number = ConstantOf(graph, arg)) return Polynomial{*number, 0, 0, 0};
  if (arg->producer() == nullptr || depth == 0) return std::nullopt;
  const Node::Stmt& stmt = arg->producer()->AsStmt();
  const std::string op = stmt.op_type();
  const auto operand = [&](const char* name) { return PolynomialOf(graph, stmt.input(name), x, depth - 1); };
  if (op == "scale" || op == "square" || op == "add" || op == "subtract" || op == "multiply" || op == "divide" ||
      op == "elementwise_pow") {
    const std::optional<Polynomial> left = operand("x");
    if (!left) return std::nullopt;
    if (op == "square") return Product(*left, *left);
    if (op == "scale") {
      if (!stmt.HasAttr("scale") || !stmt.HasAttr("bias")) return std::nullopt;
      const double scale = stmt.GetAttr<Scalar>("scale").to<double>();
      const double bias = stmt.GetAttr<Scalar>("bias").to<double>();
      const bool after = stmt.GetAttr<bool>("bias_after_scale");
      const std::optional<Polynomial> scaled = Product(*left, {scale, 0, 0, 0});
      return Sum(*scaled, {after ? bias : bias * scale, 0, 0, 0}, 1);
    }
    const std::optional<Polynomial> right = operand("y");
    if (!right) return std::nullopt;
    if (op == "add" || op == "subtract") return Sum(*left, *right, op == "add" ? 1 : -1);
    if (op == "multiply") return Product(*left, *right);
    const bool number = (*right)[1] == 0 && (*right)[2] == 0 && (*right)[3] == 0;
    if (!number) return std::nullopt;
    if (op == "divide") return Product(*left, {1 / (*right)[0], 0, 0, 0});
    if ((*right)[0] != 2 && (*right)[0] != 3) return std::nullopt;
    const std::optional<Polynomial> square = Product(*left, *left);
    return !square || (*right)[0] == 2 ? square : Product(*square, *left);
  }
  return std::nullopt;
}

// Constants are f32, and 0.7978845608 is written with more or fewer places.
bool Near(double value, double wanted) { return std::abs(value - wanted) <= 2e-6 * std::max(std::abs(wanted), 1e-3); }
bool Near(const Polynomial& p, const Polynomial& wanted) {
  for (size_t i = 0; i < p.size(); ++i) {
    if (!Near(p[i], wanted[i])) return false;
  }
  return true;
}

// What x is multiplied with: a * f(u) + b.
struct Gate {
  const Node::Stmt* f;
  Node* x = nullptr;
  Polynomial u{};
  bool of_softplus = false;  // f is tanh, and u softplus(x) rather than a polynomial
  double a = 1;
  double b = 0;
};

// The activation that x times the gate is, if it is one.
std::optional<OpDesc> ActivationOf(const Gate& gate) {
  constexpr double kRoot = 0.70710678118654752;  // of 1/2
  constexpr double kTanh = 0.79788456080286536;  // of 2/pi
  constexpr Polynomial kTanhGelu = {0, kTanh, 0, kTanh * 0.044715};
  constexpr Polynomial kSigmoidGelu = {0, 2 * kTanh, 0, 2 * kTanh * 0.044715};
  const std::string f = gate.f->op_type();
  const auto is = [&gate](double a, double b) { return Near(gate.a, a) && Near(gate.b, b); };
  if (gate.of_softplus) return is(1, 0) ? std::optional(OpDesc("mish")) : std::nullopt;
  if (f == "erf" && is(0.5, 0.5) && Near(gate.u, {0, kRoot, 0, 0})) return OpDesc("gelu");
  if ((f == "tanh" && is(0.5, 0.5) && Near(gate.u, kTanhGelu)) ||
      (f == "sigmoid" && is(1, 0) && Near(gate.u, kSigmoidGelu))) {
    OpDesc gelu("gelu");
    gelu.SetAttr("approximate", true);
    return gelu;
  }
  if (f == "sigmoid" && is(1, 0) && gate.u[0] == 0 && gate.u[2] == 0 && gate.u[3] == 0) {
    if (Near(gate.u[1], 1)) return OpDesc("silu");
    OpDesc swish("swish");
    swish.SetAttr("beta", static_cast<float>(gate.u[1]));
    return swish;
  }
  // The rest are clip(u, 0, high) / high with clip's argument from 0 to high as x goes from -3 to 3.
  double high = 1;
  Polynomial u = gate.u;
  if (f == "hardsigmoid") {
    for (double& c : u) c *= gate.f->GetAttr<double>("slope");
    u[0] += gate.f->GetAttr<double>("offset");
  } else if (f == "relu6") {
    high = 6;
  } else if (f == "clip" && gate.f->HasAttr("min") && gate.f->HasAttr("max")) {
    if (gate.f->GetAttr<Scalar>("min").to<double>() != 0) return std::nullopt;
    high = gate.f->GetAttr<Scalar>("max").to<double>();
  } else {
    return std::nullopt;
  }
  if (!is(1 / high, 0) || !Near(u, {high / 2, high / 6, 0, 0})) return std::nullopt;
  return OpDesc("hardswish");
}

class ActivationFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    NodeList gates = graph->StmtTopologicalOrder();
    std::erase_if(gates, [](const Node* node) {
      constexpr std::array<const char*, 6> kOps = {"erf", "tanh", "sigmoid", "hardsigmoid", "relu6", "clip"};
      const std::string op = node->AsStmt().op_type();
      return std::find(kOps.begin(), kOps.end(), op) == kOps.end();
    });
    std::vector<std::string> left;
    std::map<std::string, int> fused;
    for (Node* gate : gates) {
      if (const std::string op = Fuse(graph.get(), gate, &left); !op.empty()) ++fused[op];
    }
    EraseUnused(graph.get(), std::move(left));
    for (const auto& [op, count] : fused) Note(std::to_string(count) + " " + op + " put together");
  }

 private:
  // The operator that was made; empty: none.
  static std::string Fuse(SSAGraph* graph, Node* f, std::vector<std::string>* left) {
    Gate gate;
    gate.f = &f->AsStmt();
    Node* value = gate.f->output();
    const DataType dtype = value->AsArg().type.dtype;
    if (dtype != DataType::kFloat && dtype != DataType::kFP64) return "";
    NodeList stmts = {f};
    while (HasOneUse(*graph, value)) {
      Node* const next = value->outlinks()[0];
      if (!Follow(*graph, value, next->AsStmt(), &gate)) return "";
      stmts.push_back(next);
      value = next->AsStmt().output();
      if (gate.x == nullptr) continue;
      std::optional<OpDesc> desc = ActivationOf(gate);
      if (!desc) continue;
      const MetaTensor& type = gate.x->AsArg().type;
      if (!type.rank_known || type.dims != value->AsArg().type.dims) return "";
      for (const Node* stmt : stmts) {
        for (const Node* input : stmt->inlinks()) left->push_back(input->AsArg().name);
      }
      desc->SetInput("x", {gate.x->AsArg().name});
      desc->SetOutput("out", {value->AsArg().name});
      desc->SetLabel(next->AsStmt().label());
      InferStmt(graph, graph->NewStmt(*desc, next));
      for (auto stmt = stmts.rbegin(); stmt != stmts.rend(); ++stmt) graph->EraseStmt(*stmt);
      return desc->Type();
    }
    return "";
  }

  // Takes one more statement, which uses `value`, into the gate.
  static bool Follow(const SSAGraph& graph, const Node* value, const Node::Stmt& stmt, Gate* gate) {
    const std::string op = stmt.op_type();
    const auto affine = [gate](double scale, double bias) {
      gate->a *= scale;
      gate->b = gate->b * scale + bias;
      return bias == 0 || gate->x == nullptr;  // x times the gate is no gate
    };
    if (const std::optional<Factor> factor = FactorOf(graph, stmt)) return affine(factor->value, 0);
    if (op == "scale" || op == "add" || op == "subtract") {
      // An affine function of the value.
      const std::optional<Polynomial> p = PolynomialOf(graph, stmt.output(), value, 1);
      return p && affine((*p)[1], (*p)[0]);
    }
    if (op != "multiply" || gate->x != nullptr || stmt.input("x") == stmt.input("y")) return false;
    // The other side is x, or x times a number.
    Node* other = stmt.input(stmt.input("x") == value ? "y" : "x");
    double scale = 1;
    for (;;) {
      if (ReadArgument(graph, other, gate)) {
        gate->x = other;
        return affine(scale, 0);
      }
      if (other->producer() == nullptr) return false;
      const std::optional<Factor> factor = FactorOf(graph, other->producer()->AsStmt());
      if (!factor) return false;
      scale *= factor->value;
      other = factor->input;
    }
  }

  // The argument of f as a function of x.
  static bool ReadArgument(const SSAGraph& graph, const Node* x, Gate* gate) {
    const Node* const u = gate->f->input("x");
    if (const Node* producer = u->producer(); producer != nullptr && gate->f->op_type() == "tanh") {
      const Node::Stmt& stmt = producer->AsStmt();
      gate->of_softplus = stmt.op_type() == "softplus" && stmt.input("x") == x && stmt.GetAttr<float>("beta") == 1.0F;
      if (gate->of_softplus) return true;
    }
    const std::optional<Polynomial> p = PolynomialOf(graph, u, x);
    if (p) gate->u = *p;
    return p && ((*p)[1] != 0 || (*p)[2] != 0 || (*p)[3] != 0);
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(activation_fuse_pass, wherry::mir::ActivationFusePass).BindTargets({TARGET(kAny)});
