// Operators that only move elements, on types that exist only as storage: 8-bit and 4-bit floats, 4-bit and 2-bit
// integers. They run on a type that holds the elements, and their results have the stored type again.
#pragma once

#include "importer/foreign_op.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

// If the operator is such a one and reads such a type: puts values of the type that holds its elements in place of its
// operands, and returns the stored type; else kUndefined. `op` is the context's.
DataType HoldOperands(OnnxContext* context, ForeignOp* op);
// The results that are of the type that holds elements of `stored`, as those.
void StoreResults(OnnxContext* context, DataType stored);

}  // namespace wherry::onnx
