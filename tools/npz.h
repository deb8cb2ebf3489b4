// NumPy's .npz files: a zip archive of .npy arrays.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "wherry/error.h"
#include "wherry/tensor.h"

namespace wherry::tools {

// Arrays by name, stored or deflated, of types f2 f4 f8, i1 to i8, u1 to u8 and bool, little-endian, C or Fortran
// order. Throws Error: kNotFound, kCorrupt (with the array's name), kUnsupported (another type).
std::map<std::string, Tensor> ReadNpz(const std::string& path);

// The names of its arrays alone.
std::vector<std::string> NamesInNpz(const std::string& path);

// Stored, in the given order, bf16 as f32; complete or not at all. Error(kInvalidArgument), before anything is written,
// on names that a zip archive cannot hold or that programs which unpack it should not see (see CheckNames).
void WriteNpz(const std::string& path, const std::vector<std::pair<std::string, Tensor>>& arrays);

// One .npy file's bytes.
Tensor ParseNpy(const std::string& name, const std::vector<char>& bytes);
std::string NpyHeader(const Tensor& tensor);

}  // namespace wherry::tools
