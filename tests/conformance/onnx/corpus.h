// The file that dump_corpus.py writes: ONNX's own tests, each a model with inputs and the outputs expected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wherry/tensor.h"

namespace wherry::onnx_tests {

// A tensor or sequence; nullopt: a value that is left out. An optional one is a sequence of at most one.
struct NamedValue {
  std::string name;
  std::optional<Tensor> value;
};

struct DataSet {
  std::vector<NamedValue> inputs;
  std::vector<NamedValue> outputs;
};

struct OnnxTest {
  std::string name;
  std::string kind;  // "node", "simple", ...
  double rtol = 0;
  double atol = 0;
  std::string model;
  std::string_view data;  // of the data sets, in the file's bytes
  uint32_t sets = 0;
};

// The tests in `bytes`, which must outlive them. Error(kCorrupt) for a file of another form.
std::vector<OnnxTest> ReadCorpus(std::string_view bytes);
// Error(kUnsupported) for elements of a type that Wherry lacks.
std::vector<DataSet> ReadDataSets(const OnnxTest& test);

// Empty when `got` is what is `expected`: same types and shapes, and numbers that are as near as numpy.allclose asks
// (bfloat16: two units in the last place); else the first difference.
std::string Difference(const Tensor& got, const Tensor& expected, double rtol, double atol);
// Likewise, for floating numbers within `tolerance` times the largest magnitude (half-precision ones: at least four
// units in the last place), whole ones within `steps`.
std::string Drift(const Tensor& got, const Tensor& expected, double tolerance, double steps);

}  // namespace wherry::onnx_tests
