// softmax(scale * Q K' + mask) V -> attention, with the splits into heads before it and the joining of heads behind it.
//
// The scale may stand on either operand or on the scores; the mask is added or chooses scores; weights of queries
// without any key may be set to zero after the softmax. Keys and values that a cache was joined with are taken as they
// come. The products may be of three dimensions, with the heads in the batch.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"
#include "passes/fuse/attention_operand.h"

namespace wherry::mir {
namespace {

using Axes = std::vector<int64_t>;

// How the scores come about, from the softmax back to the product.
struct Scores {
  Node* product = nullptr;  // the statement
  double scale = 1.0;
  Node* mask = nullptr;
  int mask_rank = 0;      // of the scores that it meets
  bool inverted = false;  // a boolean mask: whether true, rather than false, gives masked_score
  double masked_score = -std::numeric_limits<double>::infinity();
  std::vector<Node*> stmts;  // that it replaces, the last first
};

// A plain product of two matrices, or a scaled one without an epilogue.
bool IsProduct(const Node::Stmt& stmt) {
  return stmt.op_type() == "matmul" ||
         (stmt.op_type() == "fused_matmul" && stmt.GetAttr<Epilogue>("epilogue").steps.empty());
}

// Reads the scores backwards from `value`; nothing if something else is in between.
std::optional<Scores> ReadScores(const SSAGraph& graph, Node* value, Scores scores) {
  Node* producer = value->producer();
  if (producer == nullptr || !HasOneUse(graph, value) || !value->AsArg().type.rank_known) return std::nullopt;
  const Node::Stmt& stmt = producer->AsStmt();
  const std::string op = stmt.op_type();
  scores.stmts.push_back(producer);
  if (IsProduct(stmt)) {
    if (stmt.GetAttr<bool>("transpose_x")) return std::nullopt;
    scores.product = producer;
    if (op == "fused_matmul") scores.scale *= stmt.GetAttr<float>("alpha");
    return scores;
  }
  if (const std::optional<Factor> factor = FactorOf(graph, stmt)) {
    scores.scale *= factor->value;
    return ReadScores(graph, factor->input, std::move(scores));
  }
  const auto same_shape = [value](const Node* arg) { return arg->AsArg().type.rank_known && Dims(arg) == Dims(value); };
  if (op == "add" && scores.mask == nullptr && scores.scale == 1.0) {
    scores.mask_rank = value->AsArg().type.rank();
    for (const auto& [score, mask] : {std::pair("x", "y"), std::pair("y", "x")}) {
      Node* const before = stmt.input(score);
      if (!same_shape(before) || before == stmt.input(mask)) continue;
      scores.mask = stmt.input(mask);
      if (std::optional<Scores> found = ReadScores(graph, before, scores)) return found;
    }
    return std::nullopt;
  }
  if (op == "where" && scores.mask == nullptr && scores.scale > 0) {
    scores.mask = stmt.input("condition");
    scores.mask_rank = value->AsArg().type.rank();
    const std::optional<double> x = ConstantOf(graph, stmt.input("x"));
    const std::optional<double> y = ConstantOf(graph, stmt.input("y"));
    if (x.has_value() == y.has_value()) return std::nullopt;
    scores.inverted = x.has_value();
    scores.masked_score = (x ? *x : *y) * scores.scale;
    Node* const before = stmt.input(x ? "y" : "x");
    if (!same_shape(before)) return std::nullopt;
    return ReadScores(graph, before, std::move(scores));
  }
  if (op == "reshape") {
    // Heads taken out of the batch, or put into it.
    Node* const before = stmt.input("x");
    const int rank = value->AsArg().type.rank();
    const bool matrices_stay = HasRank(before, 7 - rank) && (rank == 3 || rank == 4) &&
                               std::equal(Dims(value).end() - 2, Dims(value).end(), Dims(before).end() - 2);
    if (matrices_stay) return ReadScores(graph, before, std::move(scores));
  }
  return std::nullopt;
}

// What stands between the softmax and the product with the values.
struct Weights {
  Node* product;
  bool zero_masked_rows = false;
  std::vector<Node*> stmts;  // the last first
};

std::optional<Weights> ReadWeights(const SSAGraph& graph, Node* softmax) {
  Node* value = softmax->AsStmt().output();
  Weights weights{nullptr, false, {softmax}};
  // where(isnan(weights), 0, weights)
  if (value->outlinks().size() == 2 && !graph.IsOutput(value)) {
    Node* isnan = value->outlinks()[0];
    Node* where = value->outlinks()[1];
    if (isnan->AsStmt().op_type() != "isnan") std::swap(isnan, where);
    if (isnan->AsStmt().op_type() != "isnan" || where->AsStmt().op_type() != "where") return std::nullopt;
    Node* const flag = isnan->AsStmt().output();
    const Node::Stmt& choice = where->AsStmt();
    if (!HasOneUse(graph, flag) || choice.input("condition") != flag || choice.input("y") != value ||
        ConstantOf(graph, choice.input("x")) != 0.0) {
      return std::nullopt;
    }
    weights.zero_masked_rows = true;
    weights.stmts.insert(weights.stmts.begin(), {where, isnan});
    value = choice.output();
  }
  while (HasOneUse(graph, value)) {
    Node* const next = value->outlinks()[0];
    const Node::Stmt& stmt = next->AsStmt();
    if (IsProduct(stmt)) {
      const bool plain = stmt.op_type() == "matmul" || stmt.GetAttr<float>("alpha") == 1.0F;
      if (stmt.input("x") != value || stmt.input("y") == value || stmt.GetAttr<bool>("transpose_x") || !plain)
        return std::nullopt;
      weights.product = next;
      weights.stmts.insert(weights.stmts.begin(), next);
      return weights;
    }
    Node* const after = stmt.op_type() == "reshape" ? stmt.output() : nullptr;
    if (after == nullptr || stmt.input("x") != value || !HasRank(after, 7 - value->AsArg().type.rank()) ||
        !std::equal(Dims(value).end() - 2, Dims(value).end(), Dims(after).end() - 2)) {
      return std::nullopt;
    }
    weights.stmts.insert(weights.stmts.begin(), next);
    value = after;
  }
  return std::nullopt;
}

class AttentionFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int fused = 0;
    std::vector<std::string> left;  // what the attentions no longer use
    NodeList softmaxes = graph->StmtTopologicalOrder();
    std::erase_if(softmaxes, [](const Node* node) { return node->AsStmt().op_type() != "softmax"; });
    for (Node* softmax : softmaxes) fused += Fuse(graph.get(), softmax, &left) ? 1 : 0;
    EraseUnused(graph.get(), std::move(left));
    if (fused > 0) Note(std::to_string(fused) + " attentions");
  }

 private:
  struct Operands {
    AttentionOperand query;
    AttentionOperand key;
    AttentionOperand value;
    std::vector<AttentionOperand*> all() { return {&query, &key, &value}; }
  };

  static bool Fuse(SSAGraph* graph, Node* softmax, std::vector<std::string>* left) {
    const Node::Stmt& stmt = softmax->AsStmt();
    const MetaTensor& type = stmt.output()->AsArg().type;
    if (type.dtype != DataType::kFloat && type.dtype != DataType::kFP64) return false;
    if (!type.rank_known || (type.rank() != 3 && type.rank() != 4)) return false;
    if (stmt.GetAttr<int>("axis") != -1 && stmt.GetAttr<int>("axis") != type.rank() - 1) return false;
    const std::optional<Scores> scores = ReadScores(*graph, stmt.input("x"), {});
    const std::optional<Weights> weights = ReadWeights(*graph, softmax);
    if (!scores || !weights) return false;
    std::optional<Operands> operands = ReadOperands(*graph, *scores, *weights);
    if (!operands) return false;
    const double scale = scores->scale * operands->query.factor * operands->key.factor;
    if (!std::isfinite(static_cast<float>(scale)) || static_cast<float>(scale) == 0) return false;
    if (scores->mask != nullptr && !MaskFits(*scores, operands->query)) return false;

    for (const Node* product : {scores->product, weights->product}) {
      for (const char* name : {"x", "y"}) left->push_back(product->AsStmt().input(name)->AsArg().name);
    }
    AttributeMap attrs;
    attrs["scale"] = static_cast<float>(scale);
    attrs["heads"] = static_cast<int>(operands->query.heads);
    if (operands->key.heads != operands->query.heads) attrs["key_heads"] = static_cast<int>(operands->key.heads);
    if (weights->zero_masked_rows) attrs["zero_masked_rows"] = true;
    SetColumns(&*operands, &attrs);
    Node* const near = weights->product;
    Binding inputs = {{"query", {InPlace(graph, operands->query, near)}},
                      {"key", {InPlace(graph, operands->key, near)}},
                      {"value", {InPlace(graph, operands->value, near)}}};
    if (scores->mask != nullptr) {
      inputs["mask"] = {MaskOf(graph, *scores, near)};
      if (scores->mask->AsArg().type.dtype == DataType::kBool)
        attrs["masked_score"] = static_cast<float>(scores->masked_score);
    }
    Replace(graph, *scores, *weights, operands->query, operands->value, inputs, &attrs);
    return true;
  }

  static std::optional<Operands> ReadOperands(const SSAGraph& graph, const Scores& scores, const Weights& weights) {
    const Node::Stmt& first = scores.product->AsStmt();
    const Node::Stmt& second = weights.product->AsStmt();
    const int rank = first.output()->AsArg().type.rank();
    for (const Node* arg : {first.input("x"), first.input("y"), second.input("y"), second.output()}) {
      if (!HasRank(arg, rank)) return std::nullopt;
    }
    const auto query = TraceAttentionOperand(graph, first.input("x"), false);
    const auto key = TraceAttentionOperand(graph, first.input("y"), !first.GetAttr<bool>("transpose_y"));
    auto value = TraceAttentionOperand(graph, second.input("y"), second.GetAttr<bool>("transpose_y"));
    if (!query || !key || !value) return std::nullopt;
    Operands operands{*query, *key, *value};
    // A scaled value is no scaled score.
    if (value->factor != 1.0) return std::nullopt;
    // An operand without columns says nothing of its heads.
    const bool fit = query->size > 0 && value->size > 0 && query->batch == key->batch && query->batch == value->batch &&
                     query->size == key->size && key->heads == value->heads && query->heads % key->heads == 0;
    if (!fit) return std::nullopt;
    // Of three dimensions and one head: another number of heads in the batch of another operand.
    if (rank == 3 && (query->heads == 1) != (key->heads == 1)) return std::nullopt;
    return operands;
  }

  // Whether the mask broadcasts to [batch, heads, queries, keys] as it does to the scores.
  static bool MaskFits(const Scores& scores, const AttentionOperand& query) {
    const MetaTensor& mask = scores.mask->AsArg().type;
    if (!mask.rank_known || mask.rank() > scores.mask_rank) return false;
    if (mask.dtype != DataType::kBool && mask.dtype != scores.product->AsStmt().output()->AsArg().type.dtype)
      return false;
    // One head in the batch: axis 1 is to be put in.
    if (scores.mask_rank == 3) return query.heads == 1 || mask.rank() <= 2;
    return query.heads > 1 || scores.product->AsStmt().output()->AsArg().type.rank() == 4;
  }

  static Node* MaskOf(SSAGraph* graph, const Scores& scores, Node* near) {
    Node* mask = scores.mask;
    const auto emit = [&](const char* op, const AttributeMap& attrs) {
      Node* out = graph->NewArg(mask->AsArg().name);
      InferStmt(graph, graph->NewStmt(op, {{"x", {mask}}}, {{"out", {out}}}, attrs, near));
      mask = out;
    };
    if (scores.mask_rank == 3 && mask->AsArg().type.rank() == 3) emit("unsqueeze", {{"axis", IntArray({1})}});
    if (scores.inverted) emit("logical_not", {});
    return mask;
  }

  // Columns of wider values, where all packed operands have heads of one size.
  static void SetColumns(Operands* operands, AttributeMap* attrs) {
    const bool one_size = !operands->value.packed || operands->value.size == operands->query.size;
    if (one_size) {
      for (AttentionOperand* operand : operands->all()) {
        if (const auto cut = CutFrom(*operand)) *operand = *cut;
      }
    }
    const std::vector<AttentionOperand*> all = operands->all();
    const bool wider = std::any_of(all.begin(), all.end(), [](const AttentionOperand* operand) {
      return operand->packed && operand->perm.empty() && Dims(operand->arg)[2] != Dim(operand->heads * operand->size);
    });
    if (!wider) return;
    (*attrs)["size"] = static_cast<int>(operands->query.size);
    (*attrs)["columns"] = Axes{operands->query.column, operands->key.column, operands->value.column};
  }

  // The operand's value, with its axes in order.
  static Node* InPlace(SSAGraph* graph, const AttentionOperand& operand, Node* near) {
    if (operand.perm.empty()) return operand.arg;
    Node* out = graph->NewArg(operand.arg->AsArg().name);
    // [batch, sequence, heads, size] has its heads side by side.
    const bool joins = operand.perm == Axes{0, 2, 1, 3};
    const AttributeMap attrs = joins ? AttributeMap{{"shape", IntArray({0, 0, operand.heads * operand.size})}}
                                     : AttributeMap{{"perm", operand.perm}};
    InferStmt(graph,
              graph->NewStmt(joins ? "reshape" : "transpose", {{"x", {operand.arg}}}, {{"out", {out}}}, attrs, near));
    return out;
  }

  // The attention instead of all that it stands for: also of what brings the heads side by side behind it.
  static void Replace(SSAGraph* graph, const Scores& scores, const Weights& weights, const AttentionOperand& query,
                      const AttentionOperand& value, const Binding& inputs, AttributeMap* attrs) {
    std::vector<Node*> erased = weights.stmts;
    erased.insert(erased.end(), scores.stmts.begin(), scores.stmts.end());
    Node* result = weights.product->AsStmt().output();
    const auto next = [&](const char* op) -> Node* {
      if (!HasOneUse(*graph, result) || result->outlinks()[0]->AsStmt().op_type() != op) return nullptr;
      return result->outlinks()[0];
    };
    const auto take = [&](Node* stmt) {
      erased.insert(erased.begin(), stmt);
      result = stmt->AsStmt().output();
    };
    const std::vector<Dim> apart = {query.batch, Dim(query.heads), query.sequence, Dim(value.size)};
    const std::vector<Dim> joined = {query.batch, query.sequence, Dim(query.heads * value.size)};
    if (Dims(result) != apart) {
      Node* const split = next("reshape");
      if (split != nullptr && HasRank(split->AsStmt().output(), 4) && Dims(split->AsStmt().output()) == apart)
        take(split);
    }
    bool merged = Dims(result) == joined;
    if (Dims(result) == apart) {
      Node* const transpose = next("transpose");
      if (transpose != nullptr && transpose->AsStmt().GetAttr<Axes>("perm") == Axes{0, 2, 1, 3}) {
        take(transpose);
        merged = true;
        Node* const join = next("reshape");
        if (join != nullptr && HasRank(join->AsStmt().output(), 3) && Dims(join->AsStmt().output()) == joined)
          take(join);
      }
    }
    (*attrs)["merged"] = merged;
    // By names, so that the result changes its producer.
    OpDesc attention("attention");
    for (const auto& [param, args] : inputs) attention.SetInput(param, {args[0]->AsArg().name});
    for (const auto& [name, attribute] : *attrs) attention.SetAttribute(name, attribute);
    attention.SetLabel(weights.product->AsStmt().label());
    const Node* const near = erased.front();
    if (Dims(result) == (merged ? joined : apart)) {
      attention.SetOutput("out", {result->AsArg().name});
      InferStmt(graph, graph->NewStmt(attention, near));
    } else {
      // Heads that stay side by side, or in the batch.
      const std::string name = graph->UniqueName(result->AsArg().name);
      attention.SetOutput("out", {name});
      InferStmt(graph, graph->NewStmt(attention, near));
      OpDesc view(merged ? "reshape" : "flatten");
      view.SetInput("x", {name});
      view.SetOutput("out", {result->AsArg().name});
      if (merged) {
        view.SetAttr("shape", IntArray({0, 0, query.heads, value.size}));
      } else {
        view.SetAttr("start_axis", 0);
        view.SetAttr("stop_axis", 1);
      }
      InferStmt(graph, graph->NewStmt(view, near));
    }
    for (Node* stmt : erased) graph->EraseStmt(stmt);
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(attention_fuse_pass, wherry::mir::AttentionFusePass)
    .BindTargets({TARGET(kAny)})
    .ExcludeTargets({TARGET(kOpenCL)})
    .BindKernel("attention");
