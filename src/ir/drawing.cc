#include "ir/drawing.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "op/schema_registry.h"

namespace wherry {

namespace {

constexpr double kCharacterWidth = 6.6;
constexpr double kPadding = 20;
constexpr double kLeastWidth = 64;

bool Contains(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [text](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string TypeText(const Program& program, const Block& block, const std::string& name) {
  const auto type = block.values.find(name);
  if (type != block.values.end()) return type->second.DebugString();
  const auto weight = program.weights.find(name);
  return weight == program.weights.end() ? "?" : weight->second.meta().DebugString();
}

LayoutSize SizeFor(const DrawnNode& node) {
  const size_t characters = std::min(std::max(node.title.size() + 1, node.detail.size()), kMostCharacters);
  return {std::max(kLeastWidth, static_cast<double>(characters) * kCharacterWidth + kPadding), 40};
}

}  // namespace

const char* OpCategory(const std::string& type) {
  const OpSchema* schema = SchemaRegistry::Global().Find(type);
  if (schema != nullptr && schema->RunByRuntime()) return "control";
  if (type == "cast" || type == "layout" || type == "io_copy") return "convert";
  if (Contains(type, {"conv", "matmul", "mul_", "attention", "lstm", "gru", "rnn", "einsum"}) || type == "fc" ||
      type == "mul")
    return "product";
  if (Contains(type, {"norm", "softmax"})) return "norm";
  if (Contains(type, {"pool", "reduce", "mean", "sum", "argm", "arg_m", "topk"})) return "pool";
  if (schema != nullptr && schema->Has(kTraitView)) return "shape";
  if (schema != nullptr && (schema->Has(kTraitUnary) || schema->Has(kTraitBinary))) return "elementwise";
  if (Contains(type, {"elementwise", "affine"})) return "elementwise";
  if (Contains(type, {"reshape", "transpose", "concat", "split", "slice", "gather", "squeeze", "expand", "tile", "pad",
                      "shape", "stack", "flatten", "scatter", "shuffle", "flip", "interp", "embedding"}))
    return "shape";
  return "other";
}

BlockDrawing DrawBlock(const Program& program, size_t index) {
  const Block& block = program.blocks[index];
  BlockDrawing drawing;
  std::vector<LayoutEdge> edges;
  std::map<std::string, int> producer;  // value -> node
  const auto add = [&](DrawnNode::Kind kind, size_t number, std::string title, std::string detail) {
    DrawnNode node{kind, static_cast<int>(number), std::move(title), std::move(detail), {}, {}};
    node.size = SizeFor(node);
    drawing.nodes.push_back(std::move(node));
    return static_cast<int>(drawing.nodes.size()) - 1;
  };
  const auto connect = [&](const std::string& value, int to) {
    const auto from = producer.find(value);
    if (from == producer.end()) return;  // a weight
    edges.push_back({from->second, to});
    drawing.edges.push_back({from->second, to, value, {}});
  };
  for (size_t i = 0; i < block.inputs.size(); ++i) {
    const std::string& name = block.inputs[i];
    producer[name] = add(DrawnNode::Kind::kInput, i, name, TypeText(program, block, name));
  }
  for (size_t i = 0; i < block.ops.size(); ++i) {
    const OpDesc& op = block.ops[i];
    std::string detail;
    for (const auto& [param, names] : op.outputs()) {
      if (!names.empty() && detail.empty()) detail = TypeText(program, block, names[0]);
    }
    const int node = add(DrawnNode::Kind::kOp, i, op.Type(), std::move(detail));
    std::set<std::string> seen;
    for (const auto& [param, names] : op.inputs()) {
      for (const std::string& name : names) {
        if (seen.insert(name).second) connect(name, node);
      }
    }
    for (const auto& [param, names] : op.outputs()) {
      for (const std::string& name : names) producer[name] = node;
    }
  }
  for (size_t i = 0; i < block.outputs.size(); ++i) {
    const std::string& name = i < block.output_names.size() ? block.output_names[i] : block.outputs[i];
    connect(block.outputs[i], add(DrawnNode::Kind::kOutput, i, name, TypeText(program, block, block.outputs[i])));
  }
  std::vector<LayoutSize> sizes;
  for (const DrawnNode& node : drawing.nodes) sizes.push_back(node.size);
  LayeredLayout layout = LayOut(sizes, edges);
  for (size_t i = 0; i < drawing.nodes.size(); ++i) drawing.nodes[i].centre = layout.centres[i];
  for (size_t i = 0; i < drawing.edges.size(); ++i) drawing.edges[i].route = std::move(layout.routes[i]);
  drawing.size = layout.size;
  return drawing;
}

}  // namespace wherry
