// Tests of the reference kernels as text. An expectation is one line, continued on lines that begin with a blank:
//
//   softmax | x = f32[2] 0 0 | axis = -1 | -> f32[2] 0.5 0.5
//
// op | argument = value | ... | -> output -> output. Tensors are dtype[dims] and their elements, a list argument is
// given once for each entry, attributes are written as ParseAttribute reads them.
#pragma once

#include <string>
#include <string_view>

namespace wherry::ref {

// Runs every line with the ref kernel of its op and compares type, shape and elements: integers exactly, floats to
// within 1e-6 (f16: 1e-3) of the larger of 1 and the value. Failures name the line.
void ExpectAll(std::string_view text);

// Runs one line without outputs and returns the message of the Error that it throws; "" when there is none.
std::string ErrorOf(std::string_view line);

}  // namespace wherry::ref
