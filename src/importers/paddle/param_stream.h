// Paddle's parameter files: records of one tensor each, without names.
#pragma once

#include <string>
#include <vector>

#include "base/file_bytes.h"
#include "core/dense_tensor.h"

namespace wherry::paddle {

// What the program says about a parameter.
struct ParamInfo {
  std::string name;
  DataType dtype = DataType::kUndefined;  // not known
  bool shape_known = false;
  std::vector<int64_t> dims;  // negative: not known
};

// Reads records one after the other. The tensors share the file's memory and keep it alive, except where their elements
// would not be aligned to their size, and bools, which are made 0 or 1: those are copied.
class ParamStream {
 public:
  explicit ParamStream(FileBytes file) : file_(std::move(file)) {}

  // The next record, checked against what the program says. Error(kCorrupt) that names the file, the parameter, and
  // expected and got.
  DenseTensor Next(const ParamInfo& param);
  // Error(kCorrupt) unless all bytes were read.
  void ExpectEnd() const;

 private:
  template <typename T>
  T Read(const ParamInfo& param, const char* what);
  std::span<const std::byte> Take(size_t size, const ParamInfo& param, const char* what);
  [[noreturn]] void Fail(const ParamInfo& param, const std::string& message) const;

  FileBytes file_;
  size_t position_ = 0;
  size_t count_ = 0;
};

// The tensors of a file that holds just `params`, which it has in the byte order of their names; sorts `params` so.
std::vector<DenseTensor> ReadCombinedParams(const FileBytes& file, std::vector<ParamInfo>* params);

}  // namespace wherry::paddle
