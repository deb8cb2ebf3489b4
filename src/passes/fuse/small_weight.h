// A constant matrix of integers with scales, as weight_only_linear takes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/fuse_util.h"

namespace wherry::mir {

struct SmallWeight {
  std::string name;    // of the matrix in the graph
  DenseTensor weight;  // a row per column of the result; computed when first read where it lay otherwise
  int bits = 8;
  int64_t group_size = -1;
  DenseTensor scale;
  std::optional<DenseTensor> zero_point;  // where they are not those that an absent one stands for
};

// What dequantize_linear reads, for products whose right-hand side is its result, or with `transposed` that
// transposed. Nothing where a part is not constant or scales lie along both axes or within words.
std::optional<SmallWeight> SmallWeightOf(const SSAGraph& graph, const Node::Stmt& dequantize, bool transposed);

}  // namespace wherry::mir
