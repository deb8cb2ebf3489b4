// The order in which the nodes of a graph can be imported: a file should have them sorted, but may not.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "importers/onnx/model_proto.h"

namespace wherry::onnx {

// The names of outer graphs that a node's graphs use, at any depth.
std::set<std::string> CapturedNames(const NodeProto& node);

// Positions in graph.nodes, each after those whose results it uses, else in the file's order. Error(kCorrupt) naming
// the nodes when two of them give one name, or one that of an input or initializer, or when nodes use each other's
// results in a circle.
std::vector<size_t> OrderOfNodes(const GraphProto& graph);

}  // namespace wherry::onnx
