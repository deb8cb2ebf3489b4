// softmax(scale * Q K' + mask) V -> attention, with the splits into heads before it and the joining of heads behind it.
//
// The scale may stand on either operand or on the scores, one for all heads or one for each; a mask chooses scores, or
// several are added; weights of queries without any key may be set to zero after the softmax. Keys and values that a
// cache was joined with are taken as they come. The products may be of three dimensions, with the heads in the batch,
// or have several dimensions of batches.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"
#include "passes/fuse/attention_operand.h"
#include "passes/fuse/attention_scores.h"

namespace wherry::mir {
namespace {

using Axes = std::vector<int64_t>;

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
    if (!type.rank_known || type.rank() < 3) return false;
    if (stmt.GetAttr<int>("axis") != -1 && stmt.GetAttr<int>("axis") != type.rank() - 1) return false;
    const std::optional<Scores> scores = ReadScores(*graph, stmt.input("x"));
    const std::optional<Weights> weights = ReadWeights(*graph, softmax);
    if (!scores || !weights) return false;
    std::optional<Operands> operands = ReadOperands(*graph, *scores, *weights);
    if (!operands) return false;
    const double scale = scores->scale * operands->query.factor * operands->key.factor;
    if (!std::isfinite(static_cast<float>(scale)) || static_cast<float>(scale) == 0) return false;
    for (const Mask& mask : scores->masks) {
      if (!MaskFits(*scores, mask, operands->query)) return false;
    }

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
    if (scores->head_scale != nullptr) {
      operands->query.arg =
          Emit(graph, "multiply", {{"x", {operands->query.arg}}, {"y", {scores->head_scale}}}, {}, near);
    }
    std::map<Node*, Node*> joined;  // values by those whose batches they have as one
    Binding inputs = {{"query", {InPlace(graph, operands->query, near, &joined)}},
                      {"key", {InPlace(graph, operands->key, near, &joined)}},
                      {"value", {InPlace(graph, operands->value, near, &joined)}}};
    if (!scores->masks.empty()) {
      Node* sum = nullptr;
      for (const Mask& mask : scores->masks) {
        Node* const own = MaskOf(graph, *scores, mask, near);
        sum = sum == nullptr ? own : Emit(graph, "add", {{"x", {sum}}, {"y", {own}}}, {}, near);
      }
      inputs["mask"] = {sum};
      if (sum->AsArg().type.dtype == DataType::kBool) attrs["masked_score"] = static_cast<float>(scores->masked_score);
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
    auto query = TraceAttentionOperand(graph, first.input("x"), false);
    const auto key = TraceAttentionOperand(graph, first.input("y"), !first.GetAttr<bool>("transpose_y"));
    auto value = TraceAttentionOperand(graph, second.input("y"), second.GetAttr<bool>("transpose_y"));
    if (!query || !key || !value) return std::nullopt;
    if (scores.head_scale != nullptr) {
      if (rank < 4 || *(Dims(scores.head_scale).end() - 3) != Dim(query->heads)) return std::nullopt;
      // As it comes, for its heads to be multiplied.
      query->arg = first.input("x");
      query->perm.clear();
      query->packed = false;
      query->column = 0;
      query->factor = 1.0;
    }
    Operands operands{*query, *key, *value};
    // A scaled value is no scaled score.
    if (value->factor != 1.0) return std::nullopt;
    // An operand without columns says nothing of its heads.
    const bool fit = query->size > 0 && value->size > 0 && query->batches == key->batches &&
                     query->batches == value->batches && query->size == key->size && key->heads == value->heads &&
                     query->heads % key->heads == 0;
    if (!fit) return std::nullopt;
    // Of several batches, what is to be said of them at once.
    const auto symbols =
        std::count_if(query->batches.begin(), query->batches.end(), [](const Dim& dim) { return !dim.known(); });
    if (rank > 4 && symbols + (query->sequence.known() ? 0 : 1) + (key->sequence.known() ? 0 : 1) > 1)
      return std::nullopt;
    // Of three dimensions and one head: another number of heads in the batch of another operand.
    if (rank == 3 && (query->heads == 1) != (key->heads == 1)) return std::nullopt;
    return operands;
  }

  // Whether the mask broadcasts to [batch, heads, queries, keys] as it does to the scores.
  static bool MaskFits(const Scores& scores, const Mask& mask, const AttentionOperand& query) {
    const MetaTensor& type = mask.arg->AsArg().type;
    const size_t rank = mask.scores.size();
    if (!type.rank_known || type.dims.size() > rank) return false;
    if ((type.dtype == DataType::kBool) != scores.chooses) return false;
    if (!scores.chooses && type.dtype != scores.product->AsStmt().output()->AsArg().type.dtype) return false;
    // One head in the batch: axis 1 is to be put in.
    if (rank == 3) return query.heads == 1 || type.rank() <= 2;
    if (type.rank() > 2 && mask.scores[rank - 3] != Dim(query.heads)) return false;
    if (rank == 4) return query.heads > 1 || scores.product->AsStmt().output()->AsArg().type.rank() > 3;
    const std::vector<Dim> batches(mask.scores.begin(), mask.scores.end() - 3);
    if (Product(batches) != query.batch) return false;
    if (type.rank() <= 3) return true;
    // The dimensions of the batch become one.
    return JoinedMask(type.dims, batches) && ReshapeEntries(type.dims, *JoinedMask(type.dims, batches));
  }

  // The dimensions of a mask over scores with these batches, as one over scores with one batch.
  static std::optional<std::vector<Dim>> JoinedMask(const std::vector<Dim>& mask, const std::vector<Dim>& batches) {
    std::vector<Dim> own(mask.begin(), mask.end() - 3);
    const bool every = std::all_of(own.begin(), own.end(), [](const Dim& dim) { return dim == Dim(1); });
    own.insert(own.begin(), batches.size() - own.size(), Dim(1));
    if (!every && own != batches) return std::nullopt;
    std::vector<Dim> joined = {every ? Dim(1) : Product(batches)};
    joined.insert(joined.end(), mask.end() - 3, mask.end());
    return joined;
  }

  static Node* Emit(SSAGraph* graph, const char* op, const Binding& inputs, const AttributeMap& attrs, Node* near) {
    Node* out = graph->NewArg(inputs.at("x")[0]->AsArg().name);
    InferStmt(graph, graph->NewStmt(op, inputs, {{"out", {out}}}, attrs, near));
    return out;
  }

  static Node* MaskOf(SSAGraph* graph, const Scores& scores, const Mask& mask, Node* near) {
    Node* arg = mask.arg;
    const size_t rank = mask.scores.size();
    if (rank == 3 && arg->AsArg().type.rank() == 3)
      arg = Emit(graph, "unsqueeze", {{"x", {arg}}}, {{"axis", IntArray({1})}}, near);
    if (rank > 4 && arg->AsArg().type.rank() > 3) {
      const std::vector<Dim> batches(mask.scores.begin(), mask.scores.end() - 3);
      const std::vector<Dim> joined = *JoinedMask(Dims(arg), batches);
      const AttributeMap shape = {{"shape", IntArray(*ReshapeEntries(Dims(arg), joined))}};
      if (Dims(arg) != joined) arg = Emit(graph, "reshape", {{"x", {arg}}}, shape, near);
    }
    if (scores.inverted) arg = Emit(graph, "logical_not", {{"x", {arg}}}, {}, near);
    return arg;
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
      return operand->packed && operand->perm.empty() &&
             Dims(operand->arg).back() != Dim(operand->heads * operand->size);
    });
    if (!wider) return;
    (*attrs)["size"] = static_cast<int>(operands->query.size);
    (*attrs)["columns"] = Axes{operands->query.column, operands->key.column, operands->value.column};
  }

  // The operand's value, with its axes in order and its batches as one.
  static Node* InPlace(SSAGraph* graph, const AttentionOperand& operand, Node* near, std::map<Node*, Node*>* joined) {
    Node* arg = operand.arg;
    const auto batches = static_cast<int64_t>(operand.batches.size());
    if (!operand.perm.empty()) {
      // [batch, sequence, heads, size] has its heads side by side.
      const bool joins = operand.perm == Axes{0, 2, 1, 3};
      const AttributeMap attrs = joins ? AttributeMap{{"shape", IntArray({0, 0, operand.heads * operand.size})}}
                                       : AttributeMap{{"perm", operand.perm}};
      arg = Emit(graph, joins ? "reshape" : "transpose", {{"x", {arg}}}, attrs, near);
    }
    if (batches == 1) return arg;
    Node*& one = (*joined)[arg];
    if (one == nullptr) {
      one = Emit(graph, "flatten", {{"x", {arg}}}, {{"start_axis", int64_t{0}}, {"stop_axis", batches - 1}}, near);
    }
    return one;
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
    std::vector<Dim> apart = query.batches;
    apart.insert(apart.end(), {Dim(query.heads), query.sequence, Dim(value.size)});
    std::vector<Dim> joined = query.batches;
    joined.insert(joined.end(), {query.sequence, Dim(query.heads * value.size)});
    const auto rank = static_cast<int>(apart.size());
    Axes to_rows(apart.size());
    std::iota(to_rows.begin(), to_rows.end(), int64_t{0});
    std::swap(to_rows[apart.size() - 3], to_rows[apart.size() - 2]);
    if (Dims(result) != apart) {
      Node* const split = next("reshape");
      if (split != nullptr && HasRank(split->AsStmt().output(), rank) && Dims(split->AsStmt().output()) == apart)
        take(split);
    }
    bool merged = Dims(result) == joined;
    if (Dims(result) == apart) {
      Node* const transpose = next("transpose");
      if (transpose != nullptr && transpose->AsStmt().GetAttr<Axes>("perm") == to_rows) {
        take(transpose);
        merged = true;
        Node* const join = next("reshape");
        if (join != nullptr && HasRank(join->AsStmt().output(), rank - 1) && Dims(join->AsStmt().output()) == joined)
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
    if (query.batches.size() == 1 && Dims(result) == (merged ? joined : apart)) {
      attention.SetOutput("out", {result->AsArg().name});
      InferStmt(graph, graph->NewStmt(attention, near));
    } else {
      // Heads that stay side by side, or in the batch.
      const std::string name = graph->UniqueName(result->AsArg().name);
      attention.SetOutput("out", {name});
      InferStmt(graph, graph->NewStmt(attention, near));
      const std::vector<Dim> own = Dims(graph->FindArg(name));
      OpDesc view(merged || query.batches.size() > 1 ? "reshape" : "flatten");
      view.SetInput("x", {name});
      view.SetOutput("out", {result->AsArg().name});
      if (query.batches.size() > 1) {
        view.SetAttr("shape", IntArray(*ReshapeEntries(own, Dims(result))));
      } else if (merged) {
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
