// Random tensors: the same for a seed on every machine with the same standard library.
#pragma once

#include <cstdint>

#include <map>
#include <string>

#include "ir/program.h"
#include "wherry/tensor.h"

namespace wherry {

// Floats uniform in [-1, 1), integers and bools 0 or 1. Error(kUnsupported) for strings and storage-only types.
Tensor RandomTensor(DataType dtype, const Shape& shape, uint64_t seed);
// RandomInputs (wherry/program.h) for a program that is there.
std::map<std::string, Tensor> RandomInputsFor(const Program& program, const std::map<std::string, Shape>& shapes,
                                              uint64_t seed = 0);

// Numbers for the symbols of the inputs' dimensions: what `shapes` says, by input name, else as RandomInputsFor takes
// them.
SymbolValues InputSymbols(const Program& program, const std::map<std::string, Shape>& shapes);

}  // namespace wherry
