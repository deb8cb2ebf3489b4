#include "predictor/cxx_explain_diagram.h"

#include "ir/drawing.h"

namespace wherry {

namespace {

DiagramPoint PointOf(const LayoutPoint& point) { return {point.x, point.y}; }

DiagramOp MakeOp(const Block& block, size_t index) {
  const OpDesc& desc = block.ops[index];
  DiagramOp op;
  op.name = desc.DisplayName();
  op.type = desc.Type();
  op.category = OpCategory(op.type);
  op.inputs = desc.inputs();
  op.outputs = desc.outputs();
  for (const auto& [name, value] : desc.attrs()) op.attributes[name] = ToString(value);
  op.blocks = desc.blocks();
  if (index < block.picks.size() && block.picks[index].picked()) {
    const KernelPick& pick = block.picks[index];
    op.kernel = pick.provider + ":" + op.type + (pick.variant.empty() ? "" : ":" + pick.variant);
    op.key = pick.key.DebugString();
    op.reason = pick.reason;
  }
  return op;
}

Diagram MakeDiagram(const Program& program, size_t index) {
  const Block& block = program.blocks[index];
  Diagram diagram;
  diagram.inputs = block.inputs;
  diagram.outputs = block.output_names.empty() ? block.outputs : block.output_names;
  diagram.aliases = block.aliases;
  for (const auto& [name, type] : block.values) diagram.types[name] = type.DebugString();
  for (size_t i = 0; i < block.ops.size(); ++i) {
    diagram.ops.push_back(MakeOp(block, i));
    for (const auto& [param, names] : block.ops[i].inputs()) {
      for (const std::string& name : names) {
        const auto weight = program.weights.find(name);
        if (weight != program.weights.end()) diagram.weights[name] = weight->second.meta().DebugString();
      }
    }
  }
  const BlockDrawing drawing = DrawBlock(program, index);
  for (const DrawnNode& drawn : drawing.nodes) {
    DiagramNode node;
    node.kind = drawn.kind == DrawnNode::Kind::kOp ? 'o' : drawn.kind == DrawnNode::Kind::kInput ? 'i' : 'r';
    node.index = drawn.index;
    node.centre = PointOf(drawn.centre);
    node.width = drawn.size.width;
    node.height = drawn.size.height;
    diagram.nodes.push_back(node);
  }
  for (const DrawnEdge& drawn : drawing.edges) {
    DiagramEdge edge{drawn.from, drawn.to, drawn.value, {}};
    for (const LayoutPoint& point : drawn.route) edge.route.push_back(PointOf(point));
    diagram.edges.push_back(std::move(edge));
  }
  diagram.width = drawing.size.width;
  diagram.height = drawing.size.height;
  return diagram;
}

}  // namespace

std::vector<Diagram> MakeDiagrams(const Program& program) {
  std::vector<Diagram> diagrams;
  for (size_t i = 0; i < program.blocks.size(); ++i) diagrams.push_back(MakeDiagram(program, i));
  return diagrams;
}

}  // namespace wherry
