// Products with a constant that dequantize_linear makes floats of: weight_only_linear, which reads the integers.
//
// Folding would make f32 weights of them, four or eight times the memory, and a product of few rows takes as long as
// its weights take to be read. Integers that fit into 4 bits are stored so.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "core/device_context.h"
#include "ir/fuse_util.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"
#include "passes/fuse/small_weight.h"

namespace wherry::mir {
namespace {

// What reads the floats: a product, perhaps of the transposed ones.
struct Reader {
  Node* stmt;
  Node* y;  // the product's right-hand side: the floats, or those transposed
  bool transposed;
};

class WeightOnlyFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    if (graph->stmt_count("dequantize_linear") == 0) return;
    int products = 0;
    int weights = 0;
    NodeList stmts = graph->StmtTopologicalOrder();
    std::erase_if(stmts, [](const Node* stmt) { return stmt->AsStmt().op_type() != "dequantize_linear"; });
    for (Node* stmt : stmts) {
      const int fused = Fuse(graph.get(), stmt);
      products += fused;
      weights += fused > 0 ? 1 : 0;
    }
    if (products > 0) Note(StrCat(products, " products read ", weights, " weights as integers"));
  }

 private:
  // Whether it is x times a matrix on the right, as weight_only_linear computes it.
  static bool IsProduct(const Node::Stmt& stmt, const Node* y) {
    const std::string& op = stmt.op_type();
    if (op != "matmul" && op != "mul" && op != "fc") return false;
    const char* const left = op == "fc" ? "input" : "x";
    const MetaTensor& x = stmt.input(left)->AsArg().type;
    if (stmt.input(op == "fc" ? "w" : "y") != y || stmt.input(left) == y || x.dtype != DataType::kFloat ||
        !x.rank_known) {
      return false;
    }
    if (op == "matmul") return !stmt.GetAttr<bool>("transpose_x");
    const int rows = stmt.GetAttr<int>(op == "fc" ? "in_num_col_dims" : "x_num_col_dims");
    return rows == x.rank() - 1 && (op == "fc" || stmt.GetAttr<int>("y_num_col_dims") == 1);
  }

  // Adds what reads the value; false if anything else does.
  static bool AddReaders(const SSAGraph& graph, Node* value, bool transposed, std::vector<Reader>* readers) {
    if (graph.IsOutput(value)) return false;
    for (Node* next : value->outlinks()) {
      const Node::Stmt& stmt = next->AsStmt();
      if (stmt.op_type() == "transpose" && HasRank(value, 2) && Permutation(stmt) == std::vector<int64_t>{1, 0}) {
        if (!AddReaders(graph, stmt.output(), !transposed, readers)) return false;
      } else if (IsProduct(stmt, value)) {
        const bool turned = stmt.op_type() == "matmul" && stmt.GetAttr<bool>("transpose_y");
        readers->push_back({next, value, transposed != turned});
      } else {
        return false;
      }
    }
    return true;
  }

  // How many products read the integers now.
  static int Fuse(SSAGraph* graph, Node* dequantize) {
    std::vector<Reader> readers;
    if (!AddReaders(*graph, dequantize->AsStmt().output(), false, &readers) || readers.empty()) return 0;
    const bool transposed = readers[0].transposed;
    const auto otherwise = [transposed](const Reader& reader) { return reader.transposed != transposed; };
    if (std::any_of(readers.begin(), readers.end(), otherwise)) return 0;
    const std::optional<SmallWeight> weight = SmallWeightOf(*graph, dequantize->AsStmt(), transposed);
    if (!weight) return 0;
    Binding parameters{{"weight", {graph->NewWeight(weight->name + ".rows", weight->weight)}},
                       {"weight_scale", {graph->NewWeight(weight->name + ".scale", weight->scale)}}};
    if (weight->zero_point) parameters["zero_point"] = {graph->NewWeight(weight->name + ".zero", *weight->zero_point)};
    const AttributeMap attrs{{"bits", int64_t{weight->bits}}, {"group_size", weight->group_size}};
    for (const Reader& reader : readers) Replace(graph, reader, parameters, attrs);
    return static_cast<int>(readers.size());
  }

  static void Replace(SSAGraph* graph, const Reader& reader, Binding inputs, AttributeMap attrs) {
    const Node::Stmt& product = reader.stmt->AsStmt();
    const bool is_fc = product.op_type() == "fc";
    inputs["x"] = {product.input(is_fc ? "input" : "x")};
    if (is_fc) {
      inputs["operands"] = product.input_list("operands");
      attrs["epilogue"] = product.attrs().at("epilogue");
    }
    const std::string left = reader.y->AsArg().name;
    Node* const result = product.output();
    const std::string name = result->AsArg().name;
    Node* const fused = graph->NewArg(name + ".small");
    InferStmt(graph, graph->NewStmt("weight_only_linear", inputs, {{"out", {fused}}}, attrs, reader.stmt));
    graph->ReplaceUses(result, fused);
    EraseUnused(graph, {name});
    EraseUnused(graph, {left});
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(weight_only_fuse_pass, wherry::mir::WeightOnlyFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("weight_only_linear");
