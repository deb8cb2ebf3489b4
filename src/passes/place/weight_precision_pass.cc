// Only where the valid places name bf16 or int8: constant f32 weights of products in that precision, as
// weight_only_linear. Sums stay f32, and so do the rows that integers multiply. Those that bf16 multiplies are rounded
// to bf16 by a cast before the product, one for all that read them: the same factors on every processor, multiplied in
// less time where it multiplies bf16.
//
// A product of few rows takes as long as its weights take to be read. Which weights, how many bytes they are less and
// how far they are off is in the report.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "core/device_context.h"
#include "ir/fuse_util.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

// Integers of a row that share a scale.
constexpr int64_t kGroup = 128;

// A matrix [rows, columns] of weights in fewer bits, and how far off they are.
struct Narrow {
  DenseTensor weight;
  std::optional<DenseTensor> scale;
  int64_t group_size = -1;
  float error = 0;    // the largest
  float largest = 0;  // of the weights
};

// An f32 matrix, whose rows are perhaps columns where it lies.
struct Matrix {
  const float* data;
  int64_t rows;
  int64_t columns;
  bool turned;
};

// Calls fn(row's elements) for each row in turn. Columns are read 16 at a time, a cache line of each row where it lies.
template <typename Fn>
void ForEachRow(const Matrix& from, const Fn& fn) {
  if (!from.turned) {
    for (int64_t row = 0; row < from.rows; ++row) fn(from.data + row * from.columns);
    return;
  }
  constexpr int64_t kTogether = 16;
  std::vector<float> rows(static_cast<size_t>(kTogether * from.columns));
  for (int64_t row0 = 0; row0 < from.rows; row0 += kTogether) {
    const int64_t count = std::min(kTogether, from.rows - row0);
    for (int64_t column = 0; column < from.columns; ++column) {
      const float* const line = from.data + column * from.rows + row0;
      for (int64_t row = 0; row < count; ++row) rows[static_cast<size_t>(row * from.columns + column)] = line[row];
    }
    for (int64_t row = 0; row < count; ++row) fn(rows.data() + row * from.columns);
  }
}

Narrow ToBFloat16(const Matrix& from) {
  Narrow narrow;
  narrow.weight = DenseTensor(HostAllocator(), TensorMeta{DataType::kBF16, Shape{from.rows, from.columns}});
  auto* to = narrow.weight.mutable_data<BFloat16>();
  ForEachRow(from, [&](const float* row) {
    for (int64_t column = 0; column < from.columns; ++column) {
      const float value = row[column];
      *to = BFloat16(value);
      narrow.largest = std::max(narrow.largest, std::fabs(value));
      narrow.error = std::max(narrow.error, std::fabs(static_cast<float>(*to++) - value));
    }
  });
  return narrow;
}

Narrow ToInt8(const Matrix& from) {
  Narrow narrow;
  narrow.weight = DenseTensor(HostAllocator(), TensorMeta{DataType::kInt8, Shape{from.rows, from.columns}});
  Shape scales{from.rows};
  int64_t size = from.columns;
  if (from.columns > kGroup) {
    narrow.group_size = size = kGroup;
    scales = Shape{from.rows, (from.columns + kGroup - 1) / kGroup};
  }
  narrow.scale = DenseTensor(HostAllocator(), TensorMeta{DataType::kFloat, scales});
  auto* to = narrow.weight.mutable_data<int8_t>();
  auto* scale = narrow.scale->mutable_data<float>();
  ForEachRow(from, [&](const float* row) {
    for (int64_t begin = 0; begin < from.columns; begin += size) {
      const int64_t end = std::min(from.columns, begin + size);
      float most = 0;
      for (int64_t column = begin; column < end; ++column) most = std::max(most, std::fabs(row[column]));
      const float step = most / 127 > 0 ? most / 127 : 1.0F;  // 0 of a row of zeros
      for (int64_t column = begin; column < end; ++column) {
        const float steps = std::clamp(std::nearbyint(row[column] / step), -127.0F, 127.0F);
        *to++ = static_cast<int8_t>(steps);
        narrow.error = std::max(narrow.error, std::fabs(steps * step - row[column]));
      }
      narrow.largest = std::max(narrow.largest, most);
      *scale++ = step;
    }
  });
  return narrow;
}

class WeightPrecisionPass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    const DataType wanted = Wanted(graph->valid_places());
    if (wanted == DataType::kUndefined) return;
    narrowed_.clear();
    rounded_.clear();
    int products = 0;
    int64_t saved = 0;
    float error = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      Node* weight = WeightOf(*graph, stmt->AsStmt());
      if (weight == nullptr) continue;
      const auto bytes = static_cast<int64_t>(graph->WeightTensor(weight).nbytes());
      const Weights* narrow = NarrowOf(graph.get(), weight, IsTransposed(stmt->AsStmt()), wanted, &saved, &error);
      if (narrow == nullptr) continue;
      if (weight->outlinks().size() == 1) saved += bytes;  // nothing else reads it, as a table may be read
      Replace(graph.get(), stmt, *narrow);
      ++products;
    }
    if (products == 0) return;
    Note(StrCat(products, " products read ", narrowed_.size(), " weights as ", ToString(wanted), ": ", saved,
                " bytes less, the largest error is ", error, " of a weight's largest element",
                rounded_.empty() ? "" : StrCat("; ", rounded_.size(), " tensors are rounded to bf16 for them")));
  }

 private:
  struct Weights {
    Node* weight;
    Node* scale;  // null for floats
    int64_t group_size;
  };

  // The first of bf16 and int8 that places of the host name; undefined if none does.
  static DataType Wanted(const std::vector<Place>& places) {
    for (const Place& place : places) {
      const bool narrows = place.precision() == DataType::kBF16 || place.precision() == DataType::kInt8;
      if (narrows && IsHostMemory(place.target())) return place.precision();
    }
    return DataType::kUndefined;
  }

  static bool IsFc(const Node::Stmt& stmt) { return stmt.op_type() == "fc"; }
  // Whether a row of the weight is a column of the result.
  static bool IsTransposed(const Node::Stmt& stmt) { return !IsFc(stmt) && stmt.GetAttr<bool>("transpose_y"); }

  // The constant f32 matrix on the right of a product that weight_only_linear computes; else null.
  static Node* WeightOf(const SSAGraph& graph, const Node::Stmt& stmt) {
    const std::string& op = stmt.op_type();
    if (op != "matmul" && op != "fused_matmul" && op != "fc") return nullptr;
    const MetaTensor& x = stmt.input(IsFc(stmt) ? "input" : "x")->AsArg().type;
    Node* y = stmt.input(IsFc(stmt) ? "w" : "y");
    const DenseTensor* weight = graph.TryWeight(y);
    if (weight == nullptr || weight->dtype() != DataType::kFloat || weight->shape().rank() != 2 || !x.rank_known) {
      return nullptr;
    }
    if (IsFc(stmt) ? stmt.GetAttr<int>("in_num_col_dims") != x.rank() - 1 : stmt.GetAttr<bool>("transpose_x")) {
      return nullptr;
    }
    return op == "fused_matmul" && stmt.GetAttr<float>("alpha") != 1.0F ? nullptr : y;
  }

  // Made once for each weight and way of reading it. Null for one with an infinity or a NaN.
  const Weights* NarrowOf(SSAGraph* graph, Node* node, bool transposed, DataType wanted, int64_t* saved, float* error) {
    const std::string name = node->AsArg().name;
    const auto known = narrowed_.find({name, transposed});
    if (known != narrowed_.end()) return &known->second;
    const DenseTensor& weight = graph->WeightTensor(node);
    DenseTensor read = weight;
    if (weight.buffer()->is_deferred()) {
      read = DenseTensor(HostAllocator(), weight.meta());
      weight.CopyBytesTo(read.mutable_raw_data());
    }
    const auto* const data = read.data<float>();
    if (!std::all_of(data, data + read.numel(), [](float value) { return std::isfinite(value); })) return nullptr;
    const int64_t rows = weight.shape()[0];
    const int64_t columns = weight.shape()[1];
    const Matrix matrix = transposed ? Matrix{data, rows, columns, false} : Matrix{data, columns, rows, true};
    Narrow narrow = wanted == DataType::kBF16 ? ToBFloat16(matrix) : ToInt8(matrix);
    weight.buffer()->Discard();
    *saved -= static_cast<int64_t>(narrow.weight.nbytes() + (narrow.scale ? narrow.scale->nbytes() : 0));
    if (narrow.largest > 0) *error = std::max(*error, narrow.error / narrow.largest);
    const std::string stem = StrCat(name, ".", ToString(wanted));
    Weights made{graph->NewWeight(stem, std::move(narrow.weight)), nullptr, narrow.group_size};
    if (narrow.scale) made.scale = graph->NewWeight(stem + ".scale", std::move(*narrow.scale));
    return &narrowed_.emplace(std::pair(name, transposed), made).first->second;
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

  void Replace(SSAGraph* graph, Node* node, const Weights& weights) {
    const Node::Stmt& product = node->AsStmt();
    Binding inputs{{"x", {product.input(IsFc(product) ? "input" : "x")}}, {"weight", {weights.weight}}};
    AttributeMap attrs{{"group_size", weights.group_size}};
    if (weights.scale != nullptr) {
      inputs["weight_scale"] = {weights.scale};
    } else {
      inputs["x"] = {Rounded(graph, inputs["x"][0], node)};
      attrs["out_dtype"] = DataType::kFloat;
    }
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

  std::map<std::pair<std::string, bool>, Weights> narrowed_;  // by name and whether the product transposes it
  std::map<std::string, Node*> rounded_;                      // by the name of what was rounded
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(weight_precision_pass, wherry::mir::WeightPrecisionPass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("weight_only_linear");
