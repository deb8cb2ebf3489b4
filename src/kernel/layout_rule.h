// Which tensors of a call the layout in a kernel's key is about.
#pragma once

#include <cstddef>

#include "op/op_schema.h"

namespace wherry {

// Whether the argument lies in the layout of the kernel's key. It does if the op's layout rule names it (a rule that
// names no tensor stands for all tensors) or if it is the list of epilogue operands, those as large as the output being
// laid out like it. Every other tensor is plain, a convolution's filter above all. All outputs lie in the kernel's
// layout. Below rank 3 both layouts are the same order.
bool FollowsLayout(const OpSchema& schema, size_t arg);

// The layout that a tensor of this rank has for a kernel of this layout (kAny: `call_layout`, that of the call's key).
DataLayout LayoutForKernel(DataLayout kernel_layout, DataLayout call_layout, bool follows, int rank);

}  // namespace wherry
