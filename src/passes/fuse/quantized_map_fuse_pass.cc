// Functions of one tensor of bytes between its dequantize_linear and a quantize_linear as a table of 256 results: an
// activation, or several operators that end in one value, with quantised values between them or not. The table is what
// the operators themselves give for all integers; folding computes it.
#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>

#include "core/device_context.h"
#include "ir/fuse_util.h"
#include "pass/pass_registry.h"
#include "passes/fuse/quantized_value.h"

namespace wherry::mir {
namespace {

// Operators between that are looked at; gelu of an exporter's making has about ten.
constexpr size_t kMaxRegion = 64;
constexpr int64_t kIntegers = 256;

class QuantizedMapFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    if (graph->stmt_count("dequantize_linear") == 0) return;
    int maps = 0;
    for (Node* stmt : graph->StmtTopologicalOrder()) {
      if (stmt->AsStmt().op_type() == "quantize_linear" && Map(graph.get(), stmt)) ++maps;
    }
    if (maps > 0) Note(std::to_string(maps) + " functions of bytes as tables");
  }

 private:
  // What leads from one tensor of integers to a value.
  struct Region {
    Node* integers = nullptr;
    NodeList stmts;  // each behind those that it reads from
    size_t visited = 0;
  };

  static bool Map(SSAGraph* graph, Node* last) {
    const std::optional<QuantizedValue> quantized = QuantizedBy(*graph, last);
    Region region;
    Node* const numbers = last->AsStmt().input("x");
    if (!quantized || !Collect(*graph, numbers, &region) || region.integers == nullptr) return false;
    // A number of more dimensions would have added some.
    if (Dims(numbers) != Dims(region.integers)) return false;
    Node* const result = last->AsStmt().output();
    const std::string name = result->AsArg().name;
    const std::optional<QuantizedValue> source = Dequantized(*graph, numbers);
    if (source && source->integers == region.integers && SameSteps(*graph, *source, *quantized)) {
      graph->ReplaceUses(result, region.integers);
    } else {
      region.stmts.push_back(last);
      Node* const table = TableOf(graph, region);
      Node* const mapped = graph->NewArg(name + ".mapped");
      InferStmt(graph, graph->NewStmt("quantized_map", {{"x", {region.integers}}, {"table", {table}}},
                                      {{"out", {mapped}}}, {}, last));
      graph->ReplaceUses(result, mapped);
    }
    EraseUnused(graph, {name});
    return true;
  }

  // Whether the value is a function of the integers, place by place. Of integers that are a map of others already, it
  // is those others.
  static bool Collect(const SSAGraph& graph, Node* arg, Region* region) {
    if (arg->AsArg().is_weight) return graph.WeightTensor(arg).numel() == 1 && arg->AsArg().type.rank() <= 1;
    Node* const stmt = arg->producer();
    if (stmt == nullptr) return false;
    if (std::find(region->stmts.begin(), region->stmts.end(), stmt) != region->stmts.end()) return true;
    if (region->visited++ == kMaxRegion || stmt->AsStmt().outputs().size() != 1) return false;
    const OpSchema& schema = stmt->AsStmt().schema();
    if (stmt->AsStmt().op_type() == "dequantize_linear") {
      const std::optional<QuantizedValue> value = Dequantized(graph, arg);
      if (!value || !value->per_tensor() || !CollectIntegers(value->integers, region)) return false;
    } else if ((schema.Has(kTraitUnary) || schema.Has(kTraitBinary)) && !schema.Has(kTraitRandom)) {
      const NodeList& inputs = stmt->inlinks();
      if (!std::all_of(inputs.begin(), inputs.end(), [&](Node* x) { return Collect(graph, x, region); })) return false;
    } else {
      return false;
    }
    region->stmts.push_back(stmt);
    return true;
  }

  static bool CollectIntegers(Node* arg, Region* region) {
    if (arg->AsArg().is_weight || !arg->AsArg().type.rank_known) return false;
    Node* const stmt = arg->producer();
    if (stmt != nullptr && stmt->AsStmt().op_type() == "quantized_map") {
      if (std::find(region->stmts.begin(), region->stmts.end(), stmt) != region->stmts.end()) return true;
      if (region->visited++ == kMaxRegion || !CollectIntegers(stmt->AsStmt().input("x"), region)) return false;
      region->stmts.push_back(stmt);
      return true;
    }
    const DataType dtype = arg->AsArg().type.dtype;
    if (dtype != DataType::kInt8 && dtype != DataType::kUInt8) return false;
    if (region->integers == nullptr) region->integers = arg;
    return region->integers == arg;
  }

  // The statements once more, on all integers that there are.
  static Node* TableOf(SSAGraph* graph, const Region& region) {
    const DataType dtype = region.integers->AsArg().type.dtype;
    DenseTensor integers(HostAllocator(), TensorMeta{dtype, Shape{kIntegers}});
    auto* const bytes = static_cast<uint8_t*>(integers.mutable_raw_data());
    std::iota(bytes, bytes + kIntegers, dtype == DataType::kInt8 ? uint8_t{128} : uint8_t{0});
    std::unordered_map<const Node*, Node*> copies;
    copies[region.integers] = graph->NewWeight(region.integers->AsArg().name + ".all", integers);
    Node* const last = region.stmts.back();
    for (Node* stmt : region.stmts) {
      Binding inputs = stmt->AsStmt().inputs();
      for (auto& [param, args] : inputs) {
        for (Node*& arg : args) {
          if (const auto copy = copies.find(arg); copy != copies.end()) arg = copy->second;
        }
      }
      Node* const out = stmt->AsStmt().output();
      Node* const copy = graph->NewArg(out->AsArg().name + ".table");
      copies[out] = copy;
      InferStmt(graph,
                graph->NewStmt(stmt->AsStmt().op_type(), inputs, {{"out", {copy}}}, stmt->AsStmt().attrs(), last));
    }
    return copies.at(last->AsStmt().output());
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(quantized_map_fuse_pass, wherry::mir::QuantizedMapFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("quantized_map");
