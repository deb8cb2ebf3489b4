// What reshapes and transposes say, as passes that move or join them need it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/node.h"

namespace wherry::mir {

// Operators that give another shape to the same elements in the same order.
inline bool IsView(std::string_view op) {
  return op == "reshape" || op == "squeeze" || op == "unsqueeze" || op == "flatten";
}

// The axes of a transpose's argument in the order of its result, none negative, none left out. The argument's rank must
// be known.
std::vector<int64_t> Permutation(const Node::Stmt& transpose);

// The `shape` attribute of a reshape from `source` to `wanted`, where that can be said in numbers: a symbol that the
// source has at the same place is copied (0), and one other is what is left (-1).
std::optional<std::vector<int64_t>> ReshapeEntries(const std::vector<Dim>& source, const std::vector<Dim>& wanted);

}  // namespace wherry::mir
