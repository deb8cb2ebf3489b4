// What the InferMeta functions share: axes, broadcasting, values, epilogue checks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "op/epilogue.h"
#include "op/meta_tensor.h"

namespace wherry {

// axis + rank for a negative axis. Error(kInvalidArgument) naming `what` unless -rank <= axis < rank.
int NormalizeAxis(int64_t axis, int rank, const char* what);
// The axes of a list, normalised; a repeated one is Error(kInvalidArgument).
std::vector<int> NormalizeAxes(const std::vector<int64_t>& axes, int rank, const char* what);
// The list as numbers; nullopt when it is not known or holds a symbol.
std::optional<std::vector<int64_t>> KnownNumbers(const SymIntArray& array);

std::string DimsText(const std::vector<Dim>& dims);  // "[N,3,4]"

// Broadcasts the dimensions; Error(kInvalidArgument) with both shapes when numbers contradict. `a` and `b` name the
// operands.
std::vector<Dim> BroadcastDims(const MetaTensor& x, const MetaTensor& y, const char* a, const char* b);
// Known and different. Symbols are never in conflict.
bool Conflict(const Dim& a, const Dim& b);
// The more telling of two dimensions that must be equal.
Dim MergeDims(const Dim& a, const Dim& b);

// Whether tensors of this meta carry values: integer or bool, all dimensions known, at most kMaxValues elements.
bool MayHaveValues(const MetaTensor& meta);
// Attaches values unless one of them does not fit the type (it would wrap) or the meta may not have any.
void SetValues(MetaTensor* meta, std::optional<std::vector<Dim>> values);
// For each element of `out` (known shape), the index into a tensor of shape `dims` that broadcasts to it.
std::vector<size_t> BroadcastIndices(const std::vector<Dim>& out, const std::vector<Dim>& dims);

// The axis of an op's result that its epilogue's channels are: 1 for convolutions, -1 (the last) for products.
int EpilogueChannelAxis(std::string_view op);
// Checks an epilogue against its operands and the output: indices in range, channel operands of channels elements, add
// operands of the output's shape. `channel_axis` may be -1 for the last.
void CheckEpilogue(const Epilogue& epilogue, const std::vector<const MetaTensor*>& operands, const MetaTensor& out,
                   int channel_axis);

}  // namespace wherry
