// Constant f32 weights of products in fewer bits, as weight_only_linear: a product of few rows takes as long as its
// weights take to be read. Sums stay f32.
//
// Where the valid places name f16, bf16 or int8, all weights in that precision. Which, how many bytes they are less and
// how far they are off is in the report. The rows that f16 and integers multiply stay f32. Those that bf16 multiplies
// are rounded to bf16 by a cast before the product, one for all that read them: the same factors on every processor,
// multiplied in less time where it multiplies bf16.
//
// Where they name nothing of the kind, large weights of products of few rows whose numbers are all numbers of f16 or of
// bf16, as widen_half_pass leaves them: nothing is rounded.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "ir/fuse_util.h"
#include "kernel/cost.h"
#include "pass/pass_registry.h"
#include "pass/weight_in_memory.h"
#include "pass/weight_precision.h"
#include "passes/place/narrow_weight.h"

namespace wherry::mir {
namespace {

// Between which the largest number of a weight lies for the type to have it to half of its last place.
struct Range {
  float least;
  float most;
};

Range RangeOf(DataType dtype) {
  if (dtype == DataType::kFP16) return {0x1p-14F, 65504.0F};
  if (dtype == DataType::kBF16) return {0x1p-126F, 0x1.FEp127F};
  // Integers are multiplied as floats 2^24 times too large, which their scale, a 127th of the largest, takes off.
  return {0x1p-95F, std::numeric_limits<float>::max()};
}

// Rows that one tile converts the weights for. Four products of 768 x 3072 and back in f16, ms of f32's, Zen 3, least:
// 1 row 0.8 (0.6 to 0.9), 4 rows 0.70, 8 rows 1.2, 16 rows 1.15, 32 rows 1.4; gpt2_small_kv's one row 0.75.
constexpr int64_t kFewRows = 6;
// Of f32: what fits into L1 or L2 with what else runs is not read from memory anyway.
constexpr size_t kLeastBytes = 1 << 16;

class WeightPrecisionPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    wanted_ = Wanted(graph->valid_places());
    if (wanted_ == DataType::kUndefined && !OnHostOnly(graph->valid_places())) return;
    narrowed_.clear();
    exact_.clear();
    rounded_.clear();
    saved_ = 0;
    error_ = 0;
    int products = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      Node* weight = WeightOf(*graph, stmt->AsStmt());
      if (weight == nullptr) continue;
      const DataType dtype = wanted_ != DataType::kUndefined ? wanted_ : ExactTypeOf(*graph, weight);
      if (dtype == DataType::kUndefined) continue;
      const auto bytes = static_cast<int64_t>(graph->WeightTensor(weight).nbytes());
      const Weights* narrow = NarrowOf(graph.get(), weight, IsTransposed(stmt->AsStmt()), dtype);
      if (narrow == nullptr) continue;
      if (weight->outlinks().size() == 1) saved_ += bytes;  // nothing else reads it, as a table may be read
      Replace(graph.get(), stmt, *narrow);
      ++products;
    }
    Report(products);
  }

 private:
  struct Weights {
    Node* node;             // null: stays f32
    Node* scale = nullptr;  // null for floats
    int64_t group_size = -1;
  };

  // The first that places ask for; undefined if none does.
  static DataType Wanted(const std::vector<Place>& places) {
    for (const Place& place : places) {
      if (const DataType wanted = WeightPrecisionOf(place); wanted != DataType::kUndefined) return wanted;
    }
    return DataType::kUndefined;
  }

  // A product that another device may take stays what that device knows.
  static bool OnHostOnly(const std::vector<Place>& places) {
    return std::all_of(places.begin(), places.end(), [](const Place& place) { return IsHostMemory(place.target()); });
  }

  static bool IsFc(const Node::Stmt& stmt) { return stmt.op_type() == "fc"; }
  // Whether a row of the weight is a column of the result.
  static bool IsTransposed(const Node::Stmt& stmt) { return !IsFc(stmt) && stmt.GetAttr<bool>("transpose_y"); }

  static Node* RowsOf(const Node::Stmt& product) { return product.input(IsFc(product) ? "input" : "x"); }
  // Of what RowsOf gives: the rest is the depth.
  static int OuterDims(const Node::Stmt& product) {
    return IsFc(product) ? product.GetAttr<int>("in_num_col_dims") : RowsOf(product)->AsArg().type.rank() - 1;
  }

  // The constant f32 matrix on the right of a product that weight_only_linear computes; else null.
  static Node* WeightOf(const SSAGraph& graph, const Node::Stmt& stmt) {
    const std::string& op = stmt.op_type();
    if (op != "matmul" && op != "fused_matmul" && op != "fc") return nullptr;
    const MetaTensor& x = RowsOf(stmt)->AsArg().type;
    Node* y = stmt.input(IsFc(stmt) ? "w" : "y");
    const DenseTensor* weight = graph.TryWeight(y);
    if (weight == nullptr || weight->dtype() != DataType::kFloat || weight->shape().rank() != 2 || !x.rank_known) {
      return nullptr;
    }
    if (!IsFc(stmt) && stmt.GetAttr<bool>("transpose_x")) return nullptr;
    if (OuterDims(stmt) != x.rank() - 1 && weight->shape()[0] == 0)
      return nullptr;  // WithDepth's 0 says something else
    return op == "fused_matmul" && stmt.GetAttr<float>("alpha") != 1.0F ? nullptr : y;
  }

  // A batch that is not known counts as one, another dimension as the cost model says.
  static bool HasFewRows(const Node::Stmt& stmt) {
    const std::vector<Dim>& dims = Dims(RowsOf(stmt));
    int64_t rows = 1;
    for (size_t i = 0; i < static_cast<size_t>(OuterDims(stmt)) && rows <= kFewRows; ++i) {
      const bool is_batch = i == 0 && SymbolsOf(dims[i]).size() == 1;
      const int64_t dim = dims[i].known() ? dims[i].value() : is_batch ? 1 : kAssumedDim;
      rows = dim > kFewRows ? dim : rows * dim;
    }
    return rows <= kFewRows;
  }

  // The type of 16 bits that has all of the weight's numbers, if only products that gain by it read it; else undefined.
  DataType ExactTypeOf(const SSAGraph& graph, const Node* weight) {
    const auto [known, is_new] = exact_.try_emplace(weight->AsArg().name, DataType::kUndefined);
    if (!is_new) return known->second;
    if (graph.WeightTensor(weight).nbytes() < kLeastBytes) return DataType::kUndefined;
    for (const Node* reader : weight->outlinks()) {
      if (WeightOf(graph, reader->AsStmt()) != weight || !HasFewRows(reader->AsStmt())) return DataType::kUndefined;
    }
    for (const DataType dtype : {DataType::kFP16, DataType::kBF16}) {
      if (IsExactly(dtype, graph.WeightTensor(weight))) return known->second = dtype;
    }
    return DataType::kUndefined;
  }

  // Made once for each weight and way of reading it. Null for one that the type does not have.
  const Weights* NarrowOf(SSAGraph* graph, Node* node, bool transposed, DataType dtype) {
    const std::string name = node->AsArg().name;
    const auto [known, is_new] = narrowed_.try_emplace({name, transposed}, Weights{nullptr});
    Weights& made = known->second;
    if (is_new) {
      const DenseTensor weight = InPieces(graph->WeightTensor(node));  // is read two or three times
      NarrowWeight narrow;
      if (wanted_ != DataType::kUndefined) {
        const float largest = Largest(weight);
        const Range range = RangeOf(dtype);
        if (largest > range.most || (largest > 0 && largest < range.least)) return nullptr;
        float error = 0;
        if (dtype == DataType::kInt8) {
          narrow = ToInt8(weight, !transposed, &error);
        } else {
          error = LargestError(dtype, weight);  // before the weight's pages are given back
          narrow = ToHalves(dtype, weight, !transposed);
        }
        if (largest > 0) error_ = std::max(error_, error / largest);
      } else {
        narrow = ToHalves(dtype, weight, !transposed);
      }
      saved_ -= static_cast<int64_t>(narrow.weight.nbytes() + (narrow.scale ? narrow.scale->nbytes() : 0));
      const std::string stem = StrCat(name, ".", ToString(dtype));
      made.node = graph->NewWeight(stem, std::move(narrow.weight));
      made.group_size = narrow.group_size;
      if (narrow.scale) made.scale = graph->NewWeight(stem + ".scale", std::move(*narrow.scale));
    }
    return made.node == nullptr ? nullptr : &made;
  }

  // `arg` as bf16, made once. near: the first product that reads it so.
  Node* Rounded(SSAGraph* graph, Node* arg, const Node* near) {
    Node*& rounded = rounded_[arg->AsArg().name];
    if (rounded == nullptr) {
      rounded = graph->NewArg(StrCat(arg->AsArg().name, ".", ToString(DataType::kBF16)));
      InferStmt(graph,
                graph->NewStmt("cast", {{"x", {arg}}}, {{"out", {rounded}}}, {{"dtype", DataType::kBF16}}, near));
    }
    return rounded;
  }

  // `rows` with the dimensions that fc takes for its depth as one, as weight_only_linear has it.
  static Node* WithDepth(SSAGraph* graph, Node* rows, const Node* near) {
    const Node::Stmt& product = near->AsStmt();
    if (OuterDims(product) == rows->AsArg().type.rank() - 1) return rows;
    std::vector<int64_t> shape(static_cast<size_t>(OuterDims(product)), 0);  // as it is
    shape.push_back(graph->WeightTensor(product.input("w")).shape()[0]);
    Node* const flat = graph->NewArg(rows->AsArg().name + ".rows");
    InferStmt(graph, graph->NewStmt("reshape", {{"x", {rows}}}, {{"out", {flat}}}, {{"shape", IntArray(shape)}}, near));
    return flat;
  }

  void Replace(SSAGraph* graph, Node* node, const Weights& weights) {
    const Node::Stmt& product = node->AsStmt();
    Binding inputs{{"x", {RowsOf(product)}}, {"weight", {weights.node}}};
    AttributeMap attrs{{"group_size", weights.group_size}};
    if (weights.scale != nullptr) {
      inputs["weight_scale"] = {weights.scale};
    } else if (wanted_ == DataType::kBF16) {
      inputs["x"] = {Rounded(graph, inputs["x"][0], node)};
      attrs["out_dtype"] = DataType::kFloat;
    }
    inputs["x"] = {WithDepth(graph, inputs["x"][0], node)};
    if (product.op_type() != "matmul") {
      inputs["operands"] = product.input_list("operands");
      attrs["epilogue"] = product.attrs().at("epilogue");
    }
    Node* const result = product.output();
    const std::string name = result->AsArg().name;
    Node* const fused = graph->NewArg(name + ".small");
    InferStmt(graph, graph->NewStmt("weight_only_linear", inputs, {{"out", {fused}}}, attrs, node));
    graph->ReplaceUses(result, fused);
    EraseUnused(graph, {name});
  }

  void Report(int products) {
    const auto kept = std::count_if(narrowed_.begin(), narrowed_.end(),
                                    [](const auto& weight) { return weight.second.node == nullptr; });
    if (kept > 0) {
      const Range range = RangeOf(wanted_);
      Note(StrCat(kept, " weights stay f32: their largest number is not between ", range.least, " and ", range.most,
                  ", or they have NaN"));
    }
    if (products == 0) return;
    const size_t weights = narrowed_.size() - static_cast<size_t>(kept);
    if (wanted_ == DataType::kUndefined) {
      Note(StrCat(products, " products read ", weights,
                  " weights in 16 bits, which have all of their numbers: ", saved_, " bytes less"));
      return;
    }
    Note(StrCat(products, " products read ", weights, " weights as ", ToString(wanted_), ": ", saved_,
                " bytes less, the largest error is ", error_, " of a weight's largest element",
                rounded_.empty() ? "" : StrCat("; ", rounded_.size(), " tensors are rounded to bf16 for them")));
  }

  DataType wanted_ = DataType::kUndefined;
  std::map<std::pair<std::string, bool>, Weights> narrowed_;  // by name and whether the product transposes it
  std::map<std::string, DataType> exact_;                     // what ExactTypeOf said, by name
  std::map<std::string, Node*> rounded_;                      // by the name of what was rounded
  int64_t saved_ = 0;                                         // bytes
  float error_ = 0;                                           // the largest, of a weight's largest number
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(weight_precision_pass, wherry::mir::WeightPrecisionPass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("weight_only_linear");
