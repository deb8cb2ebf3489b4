// A block of a program as a picture: boxes for operators, inputs and outputs, lines for values; weights are left out.
// What --format svg and the HTML report draw.
#pragma once

#include <string>
#include <vector>

#include "ir/layered_layout.h"
#include "ir/program.h"

namespace wherry {

// What an operator is for, roughly: "product" (convolutions, matrix products, recurrent layers), "norm", "pool"
// (reductions too), "elementwise", "shape" (moves data), "convert" (casts, layouts, copies), "control", "other".
const char* OpCategory(const std::string& type);

// What is longer of a title or detail is cut where it is drawn.
inline constexpr size_t kMostCharacters = 34;

struct DrawnNode {
  enum class Kind : uint8_t { kInput, kOp, kOutput };
  Kind kind = Kind::kOp;
  int index = 0;       // of the input, op or output in the block
  std::string title;   // an op's type, else the name
  std::string detail;  // the (first) result's or the value's type, "f32[1,64,56,56]"
  LayoutPoint centre;
  LayoutSize size;
};
struct DrawnEdge {
  int from = 0;  // nodes
  int to = 0;
  std::string value;
  std::vector<LayoutPoint> route;
};
struct BlockDrawing {
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;
  LayoutSize size;
};
BlockDrawing DrawBlock(const Program& program, size_t index);

}  // namespace wherry
