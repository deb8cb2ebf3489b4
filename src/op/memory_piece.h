// Values whose elements lie, in order and without gaps, inside another value's memory: the results of slice, split and
// transpose in their argument, and the arguments of concat in its result. Where that is so for an op's shapes, nothing
// need be copied. (reshape and its like are views for all shapes: kTraitView.)
#pragma once

#include <optional>
#include <vector>

#include "op/op_schema.h"

namespace wherry {

struct MemoryPiece {
  bool possible = false;          // for some numbers in place of the symbols
  std::optional<int64_t> offset;  // of the first element, in elements, where the shapes are known and it is so
};

// Whether the op's results may be pieces of its argument x, or its arguments x pieces of its result.
bool GivesPieces(const OpSchema& schema);
bool TakesPieces(const OpSchema& schema);

// Of the op's result number `index` in x. Types have to be plain or NHWC alike.
MemoryPiece PieceOfArgument(const OpSchema& schema, const std::vector<BoundArg>& args,
                            const std::vector<const MetaTensor*>& results, size_t index);
// Of x[index] in the op's result.
MemoryPiece PieceOfResult(const std::vector<BoundArg>& args, const MetaTensor& result, int64_t axis, size_t index);

}  // namespace wherry
