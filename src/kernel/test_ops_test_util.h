// Operators and kernels for the tests of this layer, registered out of the tree.
//   kt_scale(x, Scalar factor = 2)      kernels ref (host; f32, f64), apart (kCustom; f32)
//   kt_add(x, y)                        promotes; ref (host; f32, f64)
//   kt_image(x, filter, operands, Epilogue)   layout from x; out = x * filter[0]; ref (host, NCHW), native NHWC variant
//                                       "fast", ref variant "single" for one image only
//   kt_positive(x)                      dynamic output: the positive elements; ref (host; f32)
//   kt_full(IntArray shape, Scalar value, DataType dtype = f32, Backend place = undefined)   ref (host; f32, i64)
//   kt_planned(x, int step = 1)         the kernel refuses steps below 1 and counts its plans; ref (host; f32)
//   kt_split(x, int parts)              list output of `parts` copies of x; ref (host; f32)
#pragma once

#include <initializer_list>
#include <vector>

#include "core/dense_tensor.h"
#include "op/op_schema.h"

namespace wherry {

const OpSchema& TestOp(const char* name);

// Plans made by kt_planned so far.
int TestPlanCount();

DenseTensor HostTensor(const Shape& shape, const std::vector<float>& values);
std::vector<float> HostValues(const DenseTensor& tensor);

}  // namespace wherry
