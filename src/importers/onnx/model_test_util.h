// A tiny writer of ONNX models, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/file_bytes.h"
#include "ir/program.h"

namespace wherry::onnx {

// ONNX's numbers for element types.
enum TestType : int { kTestFloat = 1, kTestInt32 = 6, kTestInt64 = 7, kTestBool = 9 };

struct TestGraph;

struct TestTensor {
  std::string name;
  std::vector<int64_t> dims;
  int type = kTestFloat;
  std::string raw;
  std::vector<float> floats;
  std::vector<int64_t> int32s;
  std::vector<int64_t> int64s;
  std::vector<std::pair<std::string, std::string>> external;
};

struct TestGraphRef {
  std::shared_ptr<TestGraph> graph;
};
// A function's attribute, by its name.
struct TestReference {
  std::string name;
};
using TestAttr = std::variant<int, int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                              std::vector<std::string>, TestTensor, TestGraphRef, TestReference>;

struct TestNode {
  std::string type;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, TestAttr>> attrs;
  std::string domain;
  std::string name;
};

struct TestValue {
  // A number, a name, or "" for a dimension of which nothing is known.
  using Dim = std::variant<int64_t, std::string>;
  std::string name;
  std::vector<Dim> dims;
  int type = kTestFloat;
};

struct TestGraph {
  std::vector<TestNode> nodes;
  std::vector<TestTensor> initializers;
  std::vector<TestValue> inputs;
  std::vector<TestValue> outputs;  // without a type
};

struct TestFunction {
  std::string domain;
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;
  std::vector<TestNode> nodes;
};

struct TestModel {
  TestGraph graph;
  std::vector<std::pair<std::string, int64_t>> opsets = {{"", 17}};
  std::vector<TestFunction> functions;
  std::vector<std::pair<std::string, std::string>> properties;  // metadata_props
  int64_t ir_version = 8;
  bool packed = false;    // repeated numbers
  bool shuffled = false;  // fields of a message in another order, with unknown ones between

  std::string Bytes() const;
};

// The raw data of floats or int64s.
std::string RawFloats(const std::vector<float>& values);
std::string RawInts(const std::vector<int64_t>& values);
TestTensor FloatTensor(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values);
TestTensor IntTensor(const std::string& name, const std::vector<int64_t>& values);

FileBytes InMemory(const std::string& name, const std::string& bytes);
// By the registered importers, from memory.
Program ImportBytes(const std::string& model);

// The one operator of that type in the main block; the test fails if there is none.
const OpDesc& FindOp(const Program& program, const std::string& type);
std::vector<std::string> Types(const Program& program, size_t block = 0);
// What is inferred about the model's result.
std::string ResultMeta(const Program& program, size_t output = 0);

}  // namespace wherry::onnx
