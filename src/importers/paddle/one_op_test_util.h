// Programs of one operator, for tests of what it becomes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "importers/paddle/model_test_util.h"

namespace wherry::paddle {

struct Declared {
  std::string name;
  std::vector<int64_t> dims;
  int dtype = 5;  // FP32
};

// The program whose inputs are these and whose outputs are all of the operator's, types inferred.
inline Program ImportOp(const std::vector<Declared>& inputs, const TestOp& op) {
  TestModel model;
  for (const Declared& input : inputs) model.AddInput(input.name, input.dims, input.dtype);
  model.AddOp(op);
  for (const auto& [parameter, names] : op.outputs) {
    for (const std::string& name : names) model.AddOutput(name);
  }
  Program program = ImportBytes(model.Bytes());
  InferProgram(&program);
  return program;
}

// The type of a value, or of an output of the program.
inline std::string MetaOf(const Program& program, const std::string& value) {
  return program.main().values.at(value).DebugString();
}
inline std::string MetaOf(const Program& program, size_t output = 0) {
  return MetaOf(program, program.main().outputs[output]);
}

inline bool Has(const Program& program, const std::string& type) {
  const auto& ops = program.main().ops;
  return std::any_of(ops.begin(), ops.end(), [&](const OpDesc& op) { return op.Type() == type; });
}

}  // namespace wherry::paddle
