// Products of one value with several weights whose results are the query, key and value of an attention become one
// product with the weights side by side; the attention finds each by its columns. One larger product packs and reads
// the value once, and a few rows (decoding) keep all threads busy.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/fuse_util.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

constexpr const char* kParams[] = {"query", "key", "value"};

// One of the products.
struct Part {
  size_t param;
  Node* stmt;
  Node* x;
  Node* weight;  // [inner, columns]
  Node* bias;    // [columns], or null
  int64_t columns;
};

std::optional<Part> ReadPart(const SSAGraph& graph, const Node::Stmt& attention, size_t param) {
  Node* const arg = attention.input(kParams[param]);
  Node* const producer = arg->producer();
  if (producer == nullptr || !HasOneUse(graph, arg) || !arg->AsArg().type.rank_known || arg->AsArg().type.rank() != 3)
    return std::nullopt;
  const Node::Stmt& stmt = producer->AsStmt();
  Part part{param, producer, nullptr, nullptr, nullptr, 0};
  if (stmt.op_type() == "fc") {
    part.x = stmt.input("input");
    part.weight = stmt.input("w");
    const std::vector<EpilogueStep>& steps = stmt.GetAttr<Epilogue>("epilogue").steps;
    if (steps.size() > 1 || (steps.size() == 1 && steps[0].kind != EpilogueStep::Kind::kBias)) return std::nullopt;
    if (!steps.empty()) part.bias = stmt.input("operands");
  } else if (stmt.op_type() == "matmul" && !stmt.GetAttr<bool>("transpose_x") && !stmt.GetAttr<bool>("transpose_y")) {
    part.x = stmt.input("x");
    part.weight = stmt.input("y");
  } else {
    return std::nullopt;
  }
  const DenseTensor* weight = graph.TryWeight(part.weight);
  const DenseTensor* bias = part.bias == nullptr ? nullptr : graph.TryWeight(part.bias);
  if (weight == nullptr || weight->shape().rank() != 2 || (part.bias != nullptr && bias == nullptr))
    return std::nullopt;
  if (!part.x->AsArg().type.rank_known || part.x->AsArg().type.rank() != 3) return std::nullopt;
  part.columns = weight->shape()[1];
  if (bias != nullptr && (bias->dtype() != weight->dtype() || bias->numel() != part.columns)) return std::nullopt;
  return part;
}

// Rows of several weights side by side; a null one is `columns` zeros.
struct Columns {
  const DenseTensor* weight;
  int64_t columns;
};

DenseTensor SideBySide(const std::vector<Columns>& parts, Shape shape, DataType dtype) {
  DenseTensor result(HostAllocator(), TensorMeta{dtype, shape});
  auto* to = static_cast<char*>(result.mutable_raw_data());
  const size_t element = SizeOf(dtype);
  const int64_t rows = shape.rank() == 1 ? 1 : shape[0];
  for (int64_t row = 0; row < rows; ++row) {
    for (const Columns& part : parts) {
      const size_t bytes = static_cast<size_t>(part.columns) * element;
      if (part.weight == nullptr) {
        std::memset(to, 0, bytes);
      } else {
        std::memcpy(to, static_cast<const char*>(part.weight->raw_data()) + static_cast<size_t>(row) * bytes, bytes);
      }
      to += bytes;
    }
  }
  return result;
}

class QkvMergePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    NodeList attentions = graph->StmtTopologicalOrder();
    std::erase_if(attentions, [](const Node* node) { return node->AsStmt().op_type() != "attention"; });
    Merged merged;
    int count = 0;
    for (Node* attention : attentions) count += Merge(graph.get(), attention, &merged);
    if (count > 0) Note(std::to_string(count) + " products taken into others");
  }

 private:
  // Layers that share their weights share the merged ones too.
  using Merged = std::map<std::vector<const Node*>, Node*>;

  static int Merge(SSAGraph* graph, Node* attention, Merged* merged) {
    const Node::Stmt& stmt = attention->AsStmt();
    std::vector<Part> parts;
    for (size_t i = 0; i < 3; ++i) {
      const Node* const arg = stmt.input(kParams[i]);
      const auto same = std::count_if(std::begin(kParams), std::end(kParams),
                                      [&](const char* param) { return stmt.input(param) == arg; });
      if (same > 1) continue;  // one product already
      if (const std::optional<Part> part = ReadPart(*graph, stmt, i)) parts.push_back(*part);
    }
    // Those of one value: of the last, which is the value's own product if it is one.
    if (parts.size() < 2) return 0;
    const Part last = parts.back();
    std::erase_if(parts, [&](const Part& part) {
      const MetaTensor& type = part.weight->AsArg().type;
      return part.x != last.x || type.dtype != last.weight->AsArg().type.dtype ||
             type.dims[0] != last.weight->AsArg().type.dims[0];
    });
    const std::optional<int64_t> size = HeadSize(stmt);
    if (parts.size() < 2 || !size) return 0;

    std::vector<int64_t> columns = stmt.GetAttr<std::vector<int64_t>>("columns");
    columns.resize(3, 0);
    int64_t total = 0;
    for (const Part& part : parts) {
      columns[part.param] += total;
      total += part.columns;
    }
    Node* const out = NewProduct(graph, parts, total, merged);
    for (const Part& part : parts) {
      graph->SetInput(attention, kParams[part.param], {out});
      graph->EraseStmt(part.stmt);
    }
    graph->SetAttr(attention, "columns", columns);
    graph->SetAttr(attention, "size", static_cast<int>(*size));
    return static_cast<int>(parts.size()) - 1;
  }

  // That of all operands with their heads side by side; nothing if they differ.
  static std::optional<int64_t> HeadSize(const Node::Stmt& attention) {
    const int heads = attention.GetAttr<int>("heads");
    const int key_heads = attention.GetAttr<int>("key_heads") == 0 ? heads : attention.GetAttr<int>("key_heads");
    std::optional<int64_t> size;
    if (attention.GetAttr<int>("size") > 0) size = attention.GetAttr<int>("size");
    for (size_t i = 0; i < 3; ++i) {
      const MetaTensor& type = attention.input(kParams[i])->AsArg().type;
      if (!type.rank_known || type.rank() != 3 || attention.GetAttr<int>("size") > 0) continue;
      if (!type.dims[2].known()) return std::nullopt;
      const int64_t own = type.dims[2].value() / (i == 0 ? heads : key_heads);
      if (size && *size != own) return std::nullopt;
      size = own;
    }
    return size;
  }

  static Node* NewProduct(SSAGraph* graph, const std::vector<Part>& parts, int64_t total, Merged* merged) {
    std::vector<const Node*> key;
    std::vector<Columns> weights;
    std::vector<Columns> biases;
    bool biased = false;
    for (const Part& part : parts) {
      key.push_back(part.weight);
      weights.push_back({&graph->WeightTensor(part.weight), part.columns});
      biases.push_back({part.bias == nullptr ? nullptr : &graph->WeightTensor(part.bias), part.columns});
      biased = biased || part.bias != nullptr;
    }
    const DenseTensor& first = *weights[0].weight;
    const std::string name = parts[0].stmt->AsStmt().output()->AsArg().name;
    Node*& weight = (*merged)[key];
    if (weight == nullptr) {
      weight = graph->NewWeight(parts[0].weight->AsArg().name,
                                SideBySide(weights, Shape{first.shape()[0], total}, first.dtype()));
    }
    Binding inputs = {{"input", {parts[0].x}}, {"w", {weight}}};
    AttributeMap attrs = {{"in_num_col_dims", 2}};
    if (biased) {
      inputs["operands"] = {graph->NewWeight(name + ".bias", SideBySide(biases, Shape{total}, first.dtype()))};
      attrs["epilogue"] = Epilogue{{EpilogueStep{EpilogueStep::Kind::kBias, ActKind::kIdentity, 0, 0, 0}}};
    }
    Node* const out = graph->NewArg(name);
    Node* const product = graph->NewStmt("fc", inputs, {{"out", {out}}}, attrs, parts[0].stmt);
    graph->SetLabel(product, parts[0].stmt->AsStmt().label());
    InferStmt(graph, product);
    return out;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(qkv_merge_pass, wherry::mir::QkvMergePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("attention")
    .BindKernel("fc");
