// Comparing a kernel's results with what is expected.
#pragma once

#include <string>
#include <vector>

#include "conformance/case.h"
#include "core/dense_tensor.h"

namespace wherry::conformance {

// The greatest relative error of a type: 0 for all but floats.
double ToleranceFor(const Tolerance& tolerance, DataType dtype);

// "" when every element of `got` is within `tolerance` of `expected`: |a - b| <= tolerance * max(|b|, r), r being the
// root mean square of the finite expected elements (a sum that cancels is not held to its own size), at most 1 for
// elementwise operators; NaN equals NaN, an infinity itself. Otherwise how many differ and the worst. Shapes must be
// equal; `expected` may have another floating type.
std::string Difference(const DenseTensor& got, const DenseTensor& expected, double tolerance, bool elementwise);

}  // namespace wherry::conformance
