// Operators between dequantize_linear and quantize_linear as operators on the integers: convolutions and matrix
// products (with their bias and a clamp), sums and products of two values, and what only moves elements or takes the
// largest.
//
// The integers are the same but where the floats in between rounded to the other side of a step. A product that is not
// quantised again gives f32. What is left alone stays as it is, in floats.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "core/device_context.h"
#include "ir/fuse_util.h"
#include "pass/act_step.h"
#include "pass/pass_registry.h"
#include "pass/rearrange.h"
#include "passes/fuse/quantized_value.h"

namespace wherry::mir {
namespace {

// Sums of this many products of bytes (with their zero points) and a bias stay below 2^31.
constexpr int64_t kMaxDepth = 30000;

bool IsByte(DataType dtype) { return dtype == DataType::kInt8 || dtype == DataType::kUInt8; }

DenseTensor Floats(const std::vector<double>& values) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kFloat, Shape{static_cast<int64_t>(values.size())}});
  std::transform(values.begin(), values.end(), tensor.mutable_data<float>(),
                 [](double value) { return static_cast<float>(value); });
  return tensor;
}

// What follows a product and is taken into it.
struct Following {
  NodeList stmts;              // in order; the last one's result is the fused operator's
  Node* result = nullptr;      // of the last
  Node* bias = nullptr;        // f32: a constant, or dequantised
  std::optional<ActStep> act;  // a clamp
  std::optional<QuantizedValue> quantized;
};

class QuantizeFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    int scaled = 0;
    if (graph->stmt_count("cast") > 0) {
      for (Node* stmt : Statements(*graph, {"multiply"})) scaled += Scale(graph.get(), stmt) ? 1 : 0;
    }
    if (scaled > 0) Note(std::to_string(scaled) + " products of integers with their scale");
    if (graph->stmt_count("dequantize_linear") == 0) return;
    int products = 0;
    int pairs = 0;
    int means = 0;
    int moved = 0;
    for (Node* stmt : Statements(*graph, {"conv2d", "matmul", "fc"})) products += Product(graph.get(), stmt) ? 1 : 0;
    for (Node* stmt : Statements(*graph, {"add", "multiply"})) pairs += Pair(graph.get(), stmt) ? 1 : 0;
    for (Node* stmt : Statements(*graph, {"mean", "pool2d"})) means += Mean(graph.get(), stmt) ? 1 : 0;
    for (Node* stmt : Statements(*graph, {"reshape", "flatten", "squeeze", "unsqueeze", "transpose", "slice", "concat",
                                          "stack", "expand", "tile", "roll", "gather", "gather_nd", "take_along_axis",
                                          "pad", "pool2d", "shuffle_channel", "split"})) {
      moved += (stmt->AsStmt().op_type() == "split" ? Split(graph.get(), stmt) : Move(graph.get(), stmt)) ? 1 : 0;
    }
    if (products + pairs + means + moved > 0) {
      Note(StrCat(products, " products of integers with weights, ", pairs, " sums or products of two, ", means,
                  " means, ", moved, " operators that move them"));
    }
  }

 private:
  using Names = std::initializer_list<std::string_view>;

  static NodeList Statements(const SSAGraph& graph, Names types) {
    NodeList stmts = graph.StmtTopologicalOrder();
    std::erase_if(stmts, [&](const Node* stmt) {
      return std::find(types.begin(), types.end(), stmt->AsStmt().op_type()) == types.end();
    });
    return stmts;
  }

  // The factors of a product, and what its operator says of them.
  struct Factors {
    QuantizedValue x;
    QuantizedValue weight;
    int64_t channels = 0;
    Node* bias = nullptr;
    bool transpose_y = false;
  };

  static std::optional<Factors> FactorsOf(const SSAGraph& graph, const Node* node) {
    const Node::Stmt& stmt = node->AsStmt();
    const bool is_conv = stmt.op_type() == "conv2d";
    const bool is_fc = stmt.op_type() == "fc";
    Node* x = stmt.input(is_fc ? "input" : "x");
    Node* weight = stmt.input(is_conv ? "filter" : is_fc ? "w" : "y");
    Factors factors;
    // A filter of one output channel per group is transposed nowhere; w of fc may be, where it is a weight.
    if (const Node::Stmt* flip = is_conv ? nullptr : ProducerOf(weight, "transpose")) {
      if (!HasRank(flip->input("x"), 2) || Permutation(*flip) != std::vector<int64_t>{1, 0}) return std::nullopt;
      factors.transpose_y = true;
      weight = flip->input("x");
    }
    const std::optional<QuantizedValue> left = Dequantized(graph, x);
    const std::optional<QuantizedValue> right = Dequantized(graph, weight);
    if (!left || !right || !left->per_tensor() || !IsByte(left->dtype()) || !IsByte(right->dtype())) {
      return std::nullopt;
    }
    factors.x = *left;
    factors.weight = *right;
    const DenseTensor* tensor = graph.TryWeight(right->integers);
    if (tensor == nullptr || tensor->shape().rank() != (is_conv ? 4 : 2)) return std::nullopt;
    if (stmt.op_type() == "matmul") {
      if (stmt.GetAttr<bool>("transpose_x") || !x->AsArg().type.rank_known || x->AsArg().type.rank() < 2) {
        return std::nullopt;
      }
      factors.transpose_y = factors.transpose_y != stmt.GetAttr<bool>("transpose_y");
    } else {
      const auto& steps = stmt.GetAttr<Epilogue>("epilogue").steps;
      if (steps.size() > 1 || (!steps.empty() && steps[0].kind != EpilogueStep::Kind::kBias)) return std::nullopt;
      if (!steps.empty()) factors.bias = stmt.input_list("operands")[static_cast<size_t>(steps[0].operand)];
      if (is_fc && stmt.GetAttr<int>("in_num_col_dims") + 1 != x->AsArg().type.rank()) return std::nullopt;
    }
    const Shape& shape = tensor->shape();
    const int channel_axis = is_conv || factors.transpose_y ? 0 : 1;
    factors.channels = shape[channel_axis];
    const int64_t depth = tensor->numel() / std::max<int64_t>(1, factors.channels);
    const bool per_channel =
        right->axis == channel_axis && static_cast<int64_t>(right->scales.size()) == shape[channel_axis];
    if (depth > kMaxDepth || factors.channels == 0 || !(right->per_tensor() || per_channel)) return std::nullopt;
    return factors;
  }

  // What `other` has for each channel if it is a bias of the product: a list, for a convolution with axes of 1 behind,
  // which may be what an unsqueeze gave it. Else null.
  static Node* BiasIn(const SSAGraph& graph, Node* other, bool is_conv) {
    const MetaTensor& type = other->AsArg().type;
    if (!type.known()) return nullptr;
    if (!is_conv) return type.rank() == 1 ? other : nullptr;
    const std::vector<Dim>& dims = type.dims;
    const bool by_channel = dims.size() == 3 && dims[1] == Dim(1) && dims[2] == Dim(1);
    const Node::Stmt* stmt = ProducerOf(other, "unsqueeze");
    if (!by_channel || stmt == nullptr) return nullptr;
    Node* list = stmt->input("x");
    return graph.TryWeight(list) != nullptr && HasRank(list, 1) ? list : nullptr;
  }

  static std::optional<Following> FollowingOf(const SSAGraph& graph, const Node* product, bool takes_bias) {
    Following following;
    following.result = product->outlinks()[0];
    const auto next = [&]() -> Node* {
      return HasOneUse(graph, following.result) ? following.result->outlinks()[0] : nullptr;
    };
    const auto take = [&](Node* stmt) {
      following.stmts.push_back(stmt);
      following.result = stmt->outlinks()[0];
    };
    Node* stmt = next();
    if (stmt != nullptr && takes_bias && stmt->AsStmt().op_type() == "add") {
      Node* x = stmt->AsStmt().input("x");
      Node* y = stmt->AsStmt().input("y");
      Node* other = x == following.result ? y : x;
      Node* bias = BiasIn(graph, other, product->AsStmt().op_type() == "conv2d");
      if (x != y && bias != nullptr && (graph.TryWeight(bias) != nullptr || Dequantized(graph, bias))) {
        following.bias = bias;
        take(stmt);
        stmt = next();
      }
    }
    const Following plain = following;
    if (stmt != nullptr) {
      const std::optional<ActStep> act = ActivationOf(stmt->AsStmt());
      if (act && (act->kind == ActKind::kRelu || (act->kind == ActKind::kClip && act->a <= act->b))) {
        following.act = act;
        take(stmt);
        stmt = next();
      }
    }
    if (stmt != nullptr) following.quantized = QuantizedBy(graph, stmt);
    if (!following.quantized) return plain;  // a clamp of floats stays apart
    take(stmt);
    return following;
  }

  // The bias in steps of the products (one, or one per channel); null if it cannot be had so.
  static Node* BiasOf(SSAGraph* graph, Node* bias, const std::vector<double>& steps, const Following& following,
                      int64_t channels) {
    const std::optional<QuantizedValue> given = Dequantized(*graph, bias);
    const DenseTensor* tensor = graph->TryWeight(given ? given->integers : bias);
    if (tensor == nullptr || tensor->numel() != channels || tensor->shape().rank() != 1) return nullptr;
    if (tensor->dtype() != (given ? DataType::kInt32 : DataType::kFloat) || (given && given->zero != nullptr)) {
      return nullptr;
    }
    // The same steps to the rounding of f32: the integers are taken as they are.
    bool exact = given.has_value();
    const auto at = [](const std::vector<double>& values, int64_t c) {
      return values[values.size() == 1 ? 0 : static_cast<size_t>(c)];
    };
    for (int64_t c = 0; exact && c < channels; ++c) {
      exact = std::fabs(at(given->scales, c) / at(steps, c) - 1.0) < 1e-6;
    }
    if (exact) return given->integers;
    // Else rounded to them, where they are so small beside the result's that this cannot be seen.
    constexpr double kSmall = 1.0 / 64;
    constexpr double kMost = 1 << 29;
    if (!following.quantized) return nullptr;
    DenseTensor rounded(HostAllocator(), TensorMeta{DataType::kInt32, Shape{channels}});
    for (int64_t c = 0; c < channels; ++c) {
      const double value = given ? static_cast<double>(tensor->data<int32_t>()[c]) * at(given->scales, c)
                                 : static_cast<double>(tensor->data<float>()[c]);
      const double integer = std::nearbyint(value / at(steps, c));
      if (!(std::fabs(integer) < kMost) || at(steps, c) > kSmall * following.quantized->scales[0]) return nullptr;
      rounded.mutable_data<int32_t>()[c] = static_cast<int32_t>(integer);
    }
    return graph->NewWeight(bias->AsArg().name + ".steps", rounded);
  }

  static bool Product(SSAGraph* graph, Node* node) {
    const std::optional<Factors> factors = FactorsOf(*graph, node);
    if (!factors) return false;
    const Node::Stmt& stmt = node->AsStmt();
    const bool is_conv = stmt.op_type() == "conv2d";
    std::optional<Following> following = FollowingOf(*graph, node, factors->bias == nullptr);
    std::vector<double> steps = factors->weight.scales;
    for (double& step : steps) step *= factors->x.scales[0];
    Node* const bias = factors->bias != nullptr ? factors->bias : following->bias;
    Node* integer_bias = nullptr;
    if (bias != nullptr) {
      integer_bias = BiasOf(graph, bias, steps, *following, factors->channels);
      if (integer_bias == nullptr && factors->bias != nullptr) return false;
      // A sum with a bias that is no integer stays what it is, of floats.
      if (integer_bias == nullptr) following = Following{{}, node->outlinks()[0], nullptr, std::nullopt, std::nullopt};
    }
    const std::string name = following->result->AsArg().name;
    Binding inputs{{"x", {factors->x.integers}}, {is_conv ? "filter" : "y", {factors->weight.integers}}};
    AttributeMap attrs{{"dtype", following->quantized ? following->quantized->dtype() : DataType::kFloat}};
    if (integer_bias != nullptr) inputs["bias"] = {integer_bias};
    if (factors->x.zero != nullptr) inputs["x_zero"] = {factors->x.zero};
    if (factors->weight.zero != nullptr) inputs[is_conv ? "filter_zero" : "y_zero"] = {factors->weight.zero};
    if (const auto& quantized = following->quantized) {
      for (double& step : steps) step /= quantized->scales[0];
      if (quantized->zero != nullptr) inputs["out_zero"] = {quantized->zero};
      if (following->act) {
        const bool is_clip = following->act->kind == ActKind::kClip;
        attrs["low"] = int64_t{StepOf(*graph, is_clip ? static_cast<double>(following->act->a) : 0.0, *quantized)};
        if (is_clip) attrs["high"] = int64_t{StepOf(*graph, static_cast<double>(following->act->b), *quantized)};
      }
    }
    inputs["scale"] = {graph->NewWeight(name + ".steps", Floats(steps))};
    if (is_conv) {
      for (const char* attr : {"strides", "paddings", "padding_algorithm", "dilations", "groups"}) {
        attrs[attr] = stmt.attrs().at(attr);
      }
    } else {
      attrs["transpose_y"] = factors->transpose_y;
    }
    std::vector<std::string> unused;
    for (Node* input : node->inlinks()) unused.push_back(input->AsArg().name);
    for (Node* last : following->stmts) {
      for (Node* input : last->inlinks()) unused.push_back(input->AsArg().name);
    }
    Node* fused = graph->NewArg(name + ".quantized");
    InferStmt(graph, graph->NewStmt(is_conv ? "quantized_conv2d" : "quantized_matmul", inputs, {{"out", {fused}}},
                                    attrs, following->stmts.empty() ? node : following->stmts.back()));
    graph->ReplaceUses(following->result, fused);
    EraseUnused(graph, {name});
    EraseUnused(graph, unused);
    return true;
  }

  // quantize(dequantize(a) + dequantize(b)), or times, with relu or a clip before it.
  static bool Pair(SSAGraph* graph, Node* node) {
    const std::optional<QuantizedValue> x = Dequantized(*graph, node->AsStmt().input("x"));
    const std::optional<QuantizedValue> y = Dequantized(*graph, node->AsStmt().input("y"));
    if (!x || !y || !x->per_tensor() || !y->per_tensor() || !IsByte(x->dtype()) || x->dtype() != y->dtype())
      return false;
    const std::optional<Following> following = FollowingOf(*graph, node, false);
    if (!following->quantized || following->quantized->dtype() != x->dtype()) return false;
    const QuantizedValue& quantized = *following->quantized;
    AttributeMap attrs{{"x_scale", x->scales[0]},
                       {"y_scale", y->scales[0]},
                       {"out_scale", quantized.scales[0]},
                       {"x_zero", int64_t{ZeroOf(*graph, x->zero)}},
                       {"y_zero", int64_t{ZeroOf(*graph, y->zero)}},
                       {"out_zero", int64_t{ZeroOf(*graph, quantized.zero)}}};
    if (following->act) {
      const bool is_clip = following->act->kind == ActKind::kClip;
      attrs["low"] = int64_t{StepOf(*graph, is_clip ? static_cast<double>(following->act->a) : 0.0, quantized)};
      if (is_clip) attrs["high"] = int64_t{StepOf(*graph, static_cast<double>(following->act->b), quantized)};
    }
    const std::string name = following->result->AsArg().name;
    const std::vector<std::string> unused{node->AsStmt().input("x")->AsArg().name,
                                          node->AsStmt().input("y")->AsArg().name};
    Node* fused = graph->NewArg(name + ".quantized");
    const char* const type = node->AsStmt().op_type() == "add" ? "quantized_add" : "quantized_multiply";
    InferStmt(graph, graph->NewStmt(type, {{"x", {x->integers}}, {"y", {y->integers}}}, {{"out", {fused}}}, attrs,
                                    following->stmts.back()));
    graph->ReplaceUses(following->result, fused);
    EraseUnused(graph, {name});
    EraseUnused(graph, unused);
    return true;
  }

  // quantize(mean(dequantize(a))); the average of whole images is a mean too.
  static bool Mean(SSAGraph* graph, Node* node) {
    const Node::Stmt& stmt = node->AsStmt();
    const std::optional<QuantizedValue> x = Dequantized(*graph, stmt.input("x"));
    if (!x || !x->per_tensor() || !IsByte(x->dtype()) || !HasOneUse(*graph, stmt.output())) return false;
    Node* const last = stmt.output()->outlinks()[0];
    const std::optional<QuantizedValue> quantized = QuantizedBy(*graph, last);
    if (!quantized || quantized->dtype() != x->dtype()) return false;
    AttributeMap attrs{{"x_scale", x->scales[0]},
                       {"out_scale", quantized->scales[0]},
                       {"x_zero", int64_t{ZeroOf(*graph, x->zero)}},
                       {"out_zero", int64_t{ZeroOf(*graph, quantized->zero)}}};
    if (stmt.op_type() == "pool2d") {
      if (!stmt.GetAttr<bool>("global_pooling") || stmt.GetAttr<std::string>("pooling_type") != "avg") return false;
      attrs["axis"] = IntArray({2, 3});
      attrs["keepdim"] = true;
    } else {
      if (!stmt.HasAttr("axis")) return false;
      attrs["axis"] = stmt.attrs().at("axis");
      attrs["keepdim"] = stmt.attrs().at("keepdim");
    }
    const std::vector<std::string> unused{last->AsStmt().output()->AsArg().name, stmt.input("x")->AsArg().name};
    Node* const fused = graph->NewArg(unused[0] + ".quantized");
    InferStmt(graph, graph->NewStmt("quantized_mean", {{"x", {x->integers}}}, {{"out", {fused}}}, attrs, last));
    graph->ReplaceUses(last->AsStmt().output(), fused);
    EraseUnused(graph, unused);
    return true;
  }

  // cast(a product of integers) * scale, of which there is one for all or one per column: the product in f32.
  static bool Scale(SSAGraph* graph, Node* node) {
    Node* x = node->AsStmt().input("x");
    Node* y = node->AsStmt().input("y");
    for (const auto& [sums, scale] : {std::pair{x, y}, std::pair{y, x}}) {
      const Node::Stmt* cast = ProducerOf(sums, "cast");
      if (cast == nullptr || !HasOneUse(*graph, sums) || cast->GetAttr<DataType>("dtype") != DataType::kFloat) continue;
      Node* integers = cast->input("x");
      Node* product = integers->producer();
      if (product == nullptr || !HasOneUse(*graph, integers) || product->AsStmt().input("scale") != nullptr) continue;
      const bool is_conv = product->AsStmt().op_type() == "quantized_conv2d";
      if (!is_conv && product->AsStmt().op_type() != "quantized_matmul") continue;
      const MetaTensor& type = scale->AsArg().type;
      const MetaTensor& shape = integers->AsArg().type;
      if (shape.dims != node->AsStmt().output()->AsArg().type.dims) continue;  // the scale has more axes
      if (type.dtype != DataType::kFloat || !type.rank_known || !shape.rank_known || type.rank() > 1) continue;
      const bool per_column = !is_conv && type.rank() == 1 && shape.rank() > 1 && type.dims[0] == shape.dims.back();
      if (type.numel() != Dim(1) && !per_column) continue;
      Binding inputs = product->AsStmt().inputs();
      inputs["scale"] = {scale};
      AttributeMap attrs = product->AsStmt().attrs();
      attrs["dtype"] = DataType::kFloat;
      Node* result = node->AsStmt().output();
      const std::string name = result->AsArg().name;
      Node* fused = graph->NewArg(name + ".quantized");
      InferStmt(graph, graph->NewStmt(product->AsStmt().op_type(), inputs, {{"out", {fused}}}, attrs, node));
      graph->ReplaceUses(result, fused);
      EraseUnused(graph, {name});
      return true;
    }
    return false;
  }

  // quantize(move(dequantize(a))) in the same steps is move(a). Of what is joined, values in other steps are
  // quantised by themselves.
  static bool Move(SSAGraph* graph, Node* node) {
    const Node::Stmt& stmt = node->AsStmt();
    Node* to = stmt.output();
    if (!HasOneUse(*graph, to)) return false;
    Node* last = to->outlinks()[0];
    const std::optional<QuantizedValue> quantized = QuantizedBy(*graph, last);
    if (!quantized) return false;
    const bool joins = stmt.op_type() == "concat" || stmt.op_type() == "stack";
    const NodeList parts = stmt.input_list("x");
    NodeList integers;
    std::vector<std::string> unused{last->outlinks()[0]->AsArg().name};
    for (Node* part : parts) {
      const std::optional<QuantizedValue> x = Dequantized(*graph, part);
      const bool same = x && SameSteps(*graph, *x, *quantized);
      if (!same && !joins) return false;
      integers.push_back(same ? x->integers : nullptr);
      unused.push_back(part->AsArg().name);
    }
    if (std::all_of(integers.begin(), integers.end(), [](const Node* part) { return part == nullptr; })) return false;
    AttributeMap attrs = stmt.attrs();
    if (stmt.op_type() == "pool2d" && stmt.GetAttr<std::string>("pooling_type") != "max") return false;
    if (stmt.op_type() == "pad") {
      if (stmt.input("value") != nullptr) return false;
      attrs["value"] = Scalar(int64_t{StepOf(*graph, stmt.GetAttr<Scalar>("value").to<double>(), *quantized)});
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      if (integers[i] != nullptr) continue;
      Binding inputs = last->AsStmt().inputs();
      inputs["x"] = {parts[i]};
      integers[i] = graph->NewArg(parts[i]->AsArg().name + ".quantized");
      InferStmt(graph,
                graph->NewStmt("quantize_linear", inputs, {{"out", {integers[i]}}}, last->AsStmt().attrs(), last));
    }
    Binding inputs = stmt.inputs();
    inputs["x"] = integers;
    Node* moved = graph->NewArg(unused[0] + ".quantized");
    InferStmt(graph, graph->NewStmt(stmt.op_type(), inputs, {{"out", {moved}}}, attrs, last));
    graph->ReplaceUses(last->outlinks()[0], moved);
    EraseUnused(graph, unused);
    return true;
  }

  // The same for pieces, all of which are quantised in the same steps.
  static bool Split(SSAGraph* graph, Node* node) {
    const std::optional<QuantizedValue> x = Dequantized(*graph, node->AsStmt().input("x"));
    if (!x) return false;
    const NodeList pieces = node->AsStmt().output_list();
    std::vector<std::string> unused{node->AsStmt().input("x")->AsArg().name};
    NodeList results;
    NodeList moved;
    for (Node* piece : pieces) {
      if (!HasOneUse(*graph, piece)) return false;
      Node* last = piece->outlinks()[0];
      const std::optional<QuantizedValue> quantized = QuantizedBy(*graph, last);
      if (!quantized || !SameSteps(*graph, *x, *quantized)) return false;
      results.push_back(last->outlinks()[0]);
      unused.push_back(results.back()->AsArg().name);
    }
    for (Node* result : results) moved.push_back(graph->NewArg(result->AsArg().name + ".quantized"));
    Binding inputs = node->AsStmt().inputs();
    inputs["x"] = {x->integers};
    InferStmt(graph, graph->NewStmt("split", inputs, {{"out", moved}}, node->AsStmt().attrs(), node));
    for (size_t i = 0; i < results.size(); ++i) graph->ReplaceUses(results[i], moved[i]);
    EraseUnused(graph, unused);
    return true;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(quantize_fuse_pass, wherry::mir::QuantizeFusePass)
    .BindTargets({TARGET(kAny)})
    .BindKernel("quantized_conv2d")
    .BindKernel("quantized_matmul")
    .BindKernel("quantized_add")
    .BindKernel("quantized_multiply")
    .BindKernel("quantized_mean");
