// Where the operands of an attention come from: the splits into heads, transposes, scalings and cuts through which they
// reach its products, for the operator to read by strides instead.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/ssa_graph.h"

namespace wherry::mir {

struct AttentionOperand {
  // [batch, heads, sequence, size], or with the heads side by side [batch, sequence, columns]; the batch may be several
  // dimensions, `batches`.
  Node* arg = nullptr;
  // The order that arg's axes must be brought into first to be the former, if it is not theirs.
  std::vector<int64_t> perm;
  bool packed = false;  // the latter
  int64_t column = 0;   // where the heads begin, when packed
  int64_t heads = 0;
  int64_t size = 0;
  Dim batch;
  std::vector<Dim> batches;
  Dim sequence;
  double factor = 1.0;  // that it is to be multiplied by
};

// Of a value [batch, heads, sequence, size] (swapped: [batch, heads, size, sequence]) with any number of batches, or
// the same with one batch and without heads. A value of three dimensions that is one of four with its heads in the
// batch is traced as that; one that is not has one head. Heads that were repeated, several for one of the query, count
// once. Nothing if heads or size are not numbers.
std::optional<AttentionOperand> TraceAttentionOperand(const SSAGraph& graph, Node* arg, bool swapped);

// The packed operand of which this one is a cut of the columns; nothing if it is none.
std::optional<AttentionOperand> CutFrom(const AttentionOperand& operand);

}  // namespace wherry::mir
