// layer_norm and rms_norm from the pieces that exporters write: the root of the mean of squares plus a number, by which
// x, or x less its mean, is divided; then a gain and a bias per element of the axes.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// The axis from which on `arg` is a mean, kept as an axis of 1, of what `of` is set to.
std::optional<int> MeanFrom(const Node* arg, Node** of) {
  const Node::Stmt* mean = ProducerOf(arg, "mean");
  if (mean == nullptr || mean->input("axis") != nullptr || !mean->GetAttr<bool>("keepdim")) return std::nullopt;
  *of = mean->input("x");
  if (!(*of)->AsArg().type.rank_known) return std::nullopt;
  const int rank = (*of)->AsArg().type.rank();
  std::vector<int64_t> axes = mean->GetAttr<IntArray>("axis").values();
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  if (axes.empty() || axes.back() != rank - 1) return std::nullopt;
  for (size_t i = 1; i < axes.size(); ++i) {
    if (axes[i] != axes[i - 1] + 1) return std::nullopt;
  }
  return static_cast<int>(axes[0]);
}

// What `arg` is the square of; null if it is none.
Node* SquareOf(const SSAGraph& graph, const Node* arg) {
  if (const Node::Stmt* square = ProducerOf(arg, "square")) return square->input("x");
  if (const Node::Stmt* product = ProducerOf(arg, "multiply")) {
    return product->input("x") == product->input("y") ? product->input("x") : nullptr;
  }
  const Node::Stmt* power = ProducerOf(arg, "elementwise_pow");
  return power != nullptr && IsConstant(graph, power->input("y"), 2) ? power->input("x") : nullptr;
}

// The value without a number added to it, which is left in `number`.
Node* WithoutNumber(const SSAGraph& graph, Node* arg, double* number) {
  *number = 0;
  if (const Node::Stmt* add = ProducerOf(arg, "add")) {
    for (const auto& [value, constant] : {std::pair("x", "y"), std::pair("y", "x")}) {
      const std::optional<double> found = ConstantOf(graph, add->input(constant));
      if (!found || Dims(add->input(value)) != Dims(arg)) continue;
      *number = *found;
      return add->input(value);
    }
  }
  const Node::Stmt* scale = ProducerOf(arg, "scale");
  if (scale == nullptr || !scale->HasAttr("scale") || !scale->HasAttr("bias")) return arg;
  if (scale->GetAttr<Scalar>("scale").to<double>() != 1) return arg;
  *number = scale->GetAttr<Scalar>("bias").to<double>();
  return scale->input("x");
}

struct Norm {
  bool centers = false;  // layer_norm
  Node* x = nullptr;
  int begin = 0;
  double epsilon = 0;
  Node* last = nullptr;  // the statement whose result is the norm's
  NodeList stmts;        // from the division on
  Node* scale = nullptr;
  Node* bias = nullptr;
};

// Whether `arg` is x less its mean over the axes from norm.begin on; sets norm.x.
bool IsCentered(const Node* arg, Norm* norm) {
  const Node::Stmt* subtract = ProducerOf(arg, "subtract");
  if (subtract == nullptr) return false;
  Node* of = nullptr;
  const std::optional<int> begin = MeanFrom(subtract->input("y"), &of);
  if (begin != norm->begin || of != subtract->input("x")) return false;
  norm->x = of;
  return true;
}

class NormFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    NodeList roots = graph->StmtTopologicalOrder();
    std::erase_if(roots, [](const Node* node) {
      return node->AsStmt().op_type() != "sqrt" && node->AsStmt().op_type() != "rsqrt";
    });
    std::vector<std::string> left;
    int layers = 0;
    int squares = 0;
    for (Node* root : roots) {
      const std::optional<Norm> norm = Read(*graph, root);
      if (!norm) continue;
      Replace(graph.get(), *norm, &left);
      ++(norm->centers ? layers : squares);
    }
    EraseUnused(graph.get(), std::move(left));
    if (layers > 0) Note(std::to_string(layers) + " layer norms put together");
    if (squares > 0) Note(std::to_string(squares) + " rms norms put together");
  }

 private:
  static std::optional<Norm> Read(const SSAGraph& graph, Node* root) {
    const Node::Stmt& stmt = root->AsStmt();
    Norm norm;
    Node* const mean = WithoutNumber(graph, stmt.input("x"), &norm.epsilon);
    Node* squares = nullptr;
    const std::optional<int> begin = MeanFrom(mean, &squares);
    if (!begin || norm.epsilon < 0) return std::nullopt;
    norm.begin = *begin;
    Node* const base = SquareOf(graph, squares);
    if (base == nullptr) return std::nullopt;
    norm.centers = IsCentered(base, &norm);
    if (!norm.centers) norm.x = base;
    const DataType dtype = norm.x->AsArg().type.dtype;
    if (dtype != DataType::kFloat && dtype != DataType::kFP64) return std::nullopt;
    if (!Divides(graph, root, base, &norm)) return std::nullopt;
    TakeParameters(graph, &norm);
    return norm;
  }

  // base / root, or base times what root's inverse is.
  static bool Divides(const SSAGraph& graph, Node* root, Node* base, Norm* norm) {
    const auto is_base = [&](Node* arg) {
      Norm other = *norm;
      return arg == base || (norm->centers && IsCentered(arg, &other) && other.x == norm->x);
    };
    Node* value = root->AsStmt().output();
    bool inverse = root->AsStmt().op_type() == "rsqrt";
    norm->stmts = {root};
    while (HasOneUse(graph, value)) {
      Node* const next = value->outlinks()[0];
      const Node::Stmt& stmt = next->AsStmt();
      norm->stmts.push_back(next);
      norm->last = next;
      const std::string op = stmt.op_type();
      if (!inverse && (op == "reciprocal" || (op == "divide" && IsConstant(graph, stmt.input("x"), 1)))) {
        inverse = true;
        value = stmt.output();
        continue;
      }
      if (inverse && op == "multiply") {
        return is_base(stmt.input(stmt.input("x") == value ? "y" : "x"));
      }
      return !inverse && op == "divide" && stmt.input("y") == value && is_base(stmt.input("x"));
    }
    return false;
  }

  // A gain, and a bias after it, for each element of the axes.
  static void TakeParameters(const SSAGraph& graph, Norm* norm) {
    for (const auto& [op, parameter] : {std::pair("multiply", &norm->scale), std::pair("add", &norm->bias)}) {
      Node* const value = norm->last->AsStmt().output();
      if (!HasOneUse(graph, value)) return;
      Node* const next = value->outlinks()[0];
      const Node::Stmt& stmt = next->AsStmt();
      if (stmt.op_type() != op) continue;
      Node* const other = stmt.input(stmt.input("x") == value ? "y" : "x");
      if (other == value || !IsPerElement(*norm, other)) continue;
      *parameter = other;
      norm->last = next;
      norm->stmts.push_back(next);
    }
  }

  // Of the dimensions of the axes, but for leading ones.
  static bool IsPerElement(const Norm& norm, const Node* arg) {
    const MetaTensor& type = arg->AsArg().type;
    if (!type.rank_known || type.dtype != norm.x->AsArg().type.dtype) return false;
    const std::vector<Dim>& dims = Dims(norm.x);
    const size_t count = dims.size() - static_cast<size_t>(norm.begin);
    if (type.dims.size() < count || type.dims.size() > dims.size()) return false;
    const auto first = type.dims.end() - static_cast<std::ptrdiff_t>(count);
    return std::equal(first, type.dims.end(), dims.begin() + norm.begin) &&
           std::all_of(type.dims.begin(), first, [](const Dim& dim) { return dim == Dim(1); });
  }

  static void Replace(SSAGraph* graph, const Norm& norm, std::vector<std::string>* left) {
    for (const Node* stmt : norm.stmts) {
      for (const Node* input : stmt->inlinks()) left->push_back(input->AsArg().name);
    }
    OpDesc desc(norm.centers ? "layer_norm" : "rms_norm");
    desc.SetInput("x", {norm.x->AsArg().name});
    if (norm.scale != nullptr) desc.SetInput("scale", {norm.scale->AsArg().name});
    if (norm.bias != nullptr) desc.SetInput("bias", {norm.bias->AsArg().name});
    desc.SetOutput("out", {norm.last->AsStmt().output()->AsArg().name});
    desc.SetAttr("epsilon", static_cast<float>(norm.epsilon));
    desc.SetAttr("begin_norm_axis", norm.begin);
    desc.SetLabel(norm.last->AsStmt().label());
    InferStmt(graph, graph->NewStmt(desc, norm.last));
    for (auto stmt = norm.stmts.rbegin(); stmt != norm.stmts.rend(); ++stmt) graph->EraseStmt(*stmt);
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(norm_fuse_pass, wherry::mir::NormFusePass).BindTargets({TARGET(kAny)});
