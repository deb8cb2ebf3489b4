#include "ir/fuse_base.h"

namespace wherry::mir {

int FuseBase::operator()(SSAGraph* graph) {
  if (pattern_.nodes().empty()) BuildPattern();
  int replaced = 0;
  for (const key2nodes_t& match : FindMatches(*graph, pattern_)) {
    if (!Check(graph, match)) continue;
    InsertNewNode(graph, match);
    for (const auto& node : pattern_.nodes()) {
      if (node->is_op()) graph->EraseStmt(match.at(node->key()));
    }
    ++replaced;
  }
  graph->CountSearch(replaced);
  return replaced;
}

}  // namespace wherry::mir
