// Values whose elements lie, in order, inside another value's memory: the results of slice, split, gather, transpose
// and layout in their argument, and the arguments of concat in its result. Where that is so for an op's shapes, nothing
// need be copied. They lie without gaps, but for channels in NHWC: a part of those has gaps from pixel to pixel, which
// kernels take that say so (Kernel::pixel_strides). (reshape and its like are views for all shapes: kTraitView.)
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "op/op_schema.h"

namespace wherry {

struct MemoryPiece {
  bool possible = false;  // for some numbers in place of the symbols
  // Of the first element, where the shapes are known and it is so: in elements of the whole as if that had no gaps.
  std::optional<int64_t> offset;
  bool strided = false;  // it has the gaps: from one pixel to the next it is as far as in the whole
};

// The axes from the outermost in memory to the innermost: NHWC has its channels (axis 1) last.
std::vector<size_t> MemoryOrder(const MetaTensor& type);

// Whether the op's results may be pieces of its argument x, or its arguments x pieces of its result.
bool GivesPieces(const OpSchema& schema);
bool TakesPieces(const OpSchema& schema);
// Whether its results may lie in x and never write to it.
inline bool Views(const OpSchema& schema) { return GivesPieces(schema) || schema.Has(kTraitView); }

// Of the op's result number `index` in x. Types have to be plain or NHWC alike, but for layout.
MemoryPiece PieceOfArgument(const OpSchema& schema, const std::vector<BoundArg>& args,
                            const std::vector<const MetaTensor*>& results, size_t index);
// Of x[index] in the op's result.
MemoryPiece PieceOfResult(const std::vector<BoundArg>& args, const MetaTensor& result, int64_t axis, size_t index);

}  // namespace wherry
