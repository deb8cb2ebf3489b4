// What the operators of com.microsoft that attend have in common.
#pragma once

#include <cstdint>
#include <string>

#include "importers/onnx/converter.h"

namespace wherry::onnx {

// A dimension that must be a number now, else Unsupported(). `what` names it.
int64_t KnownDim(OnnxContext& c, const std::string& x, size_t axis, const char* what);
// x from column `begin` up to but without `end`.
std::string Columns(OnnxContext& c, const std::string& x, int64_t begin, int64_t end);
// a + b, or the one that is there.
std::string Sum(OnnxContext& c, const std::string& a, const std::string& b);
// [batch, sequence, heads * size] as [batch, heads, sequence, size].
std::string HeadsApart(OnnxContext& c, const std::string& x, int64_t heads);
// Attribute scale, by default one over the root of a head's size.
double ScaleOf(OnnxContext& c, int64_t head_size);
// Attribute num_heads, which must divide the columns.
int64_t HeadsOf(OnnxContext& c, int64_t columns);

// Which positions of inputs an operator has attention's parts at.
struct AttentionInputs {
  static constexpr size_t kNone = 1000;
  size_t mask = kNone;
  size_t past = kNone;
  size_t added = kNone;        // to the scores
  size_t past_length = kNone;  // of a past that is a buffer
};
// The rest of an operator whose results are attention over the columns of `product`, queries, keys and values side by
// side, and the keys and values of past and present in one tensor.
void AttendColumns(OnnxContext& c, const std::string& product, const AttentionInputs& inputs);

}  // namespace wherry::onnx
