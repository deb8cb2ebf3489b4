#include "ir/dot.h"

#include <set>

#include "base/check.h"
#include "core/text_cursor.h"

namespace wherry {

namespace {

std::string Id(size_t block, const std::string& value) { return QuoteExact(StrCat(block, ":", value)); }

void Values(const std::map<std::string, std::vector<std::string>>& params, size_t block, const std::string& op,
            bool into_op, std::set<std::string>* used, std::string* out) {
  for (const auto& [param, names] : params) {
    for (const std::string& name : names) {
      used->insert(name);
      const std::string value = Id(block, name);
      *out += StrCat("    ", into_op ? value : op, " -> ", into_op ? op : value, " [label=", QuoteExact(param), "];\n");
    }
  }
}

}  // namespace

std::string ToDot(const Program& program) {
  std::string out = "digraph program {\n  rankdir=TB;\n";
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    const Block& block = program.blocks[b];
    out += StrCat("  subgraph cluster_", b, " {\n    label=\"block ", b, "\";\n");
    std::set<std::string> used(block.inputs.begin(), block.inputs.end());
    used.insert(block.outputs.begin(), block.outputs.end());
    for (size_t i = 0; i < block.ops.size(); ++i) {
      const OpDesc& op = block.ops[i];
      const std::string id = StrCat("op_", b, "_", i);
      std::string label = op.Type();
      for (const auto& [name, value] : op.attrs()) label += StrCat("\n", name, " = ", ToString(value));
      if (i < block.picks.size() && block.picks[i].picked())
        label += StrCat("\n", block.picks[i].provider, " ", block.picks[i].key.DebugString());
      out += StrCat("    ", id, " [shape=box, style=filled, fillcolor=lightyellow, label=", QuoteExact(label), "];\n");
      Values(op.inputs(), b, id, true, &used, &out);
      Values(op.outputs(), b, id, false, &used, &out);
      for (int child : op.blocks()) out += StrCat("    ", id, " -> op_", child, "_0 [style=dotted];\n");
    }
    for (const std::string& name : used) {
      const auto type = block.values.find(name);
      const bool weight = program.weights.count(name) != 0;
      const std::string shape = type != block.values.end() ? type->second.DebugString()
                                : weight                   ? MetaTensor(program.weights.at(name).meta()).DebugString()
                                                           : "?";
      out += StrCat("    ", Id(b, name), " [shape=ellipse", weight ? ", style=dashed" : "",
                    ", label=", QuoteExact(StrCat(name, "\n", shape)), "];\n");
    }
    out += "  }\n";
  }
  return out + "}\n";
}

}  // namespace wherry
