// Models of one operator, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/file_test_util.h"
#include "importers/onnx/model_test_util.h"

namespace wherry::onnx {

// A model of one operator that reads "x" and what is added.
class OneOp {
 public:
  OneOp(const std::string& type, int64_t opset) {
    model_.opsets = {{"", opset}};
    node_.type = type;
    node_.outputs = {"y"};
  }
  OneOp& Input(const std::string& name, const std::vector<TestValue::Dim>& dims, int type = kTestFloat) {
    model_.graph.inputs.push_back({name, dims, type});
    node_.inputs.push_back(name);
    return *this;
  }
  OneOp& Weight(TestTensor tensor) {
    node_.inputs.push_back(tensor.name);
    model_.graph.initializers.push_back(std::move(tensor));
    return *this;
  }
  OneOp& Absent() {
    node_.inputs.emplace_back();
    return *this;
  }
  OneOp& Attr(const std::string& name, TestAttr value) {
    node_.attrs.emplace_back(name, std::move(value));
    return *this;
  }
  OneOp& Outputs(std::vector<std::string> outputs) {
    node_.outputs = std::move(outputs);
    return *this;
  }
  Program Import() {
    model_.graph.nodes = {node_};
    model_.graph.outputs.clear();
    for (const std::string& output : node_.outputs) model_.graph.outputs.push_back({output, {}});
    return ImportBytes(model_.Bytes());
  }
  // The types of what is emitted, then what is inferred about the first result: "relu: f32[2]".
  std::string Summary() {
    const Program program = Import();
    std::string summary;
    for (const std::string& type : Types(program)) summary += type + " ";
    return summary + ResultMeta(program);
  }
  // Must fail.
  Error ImportError() {
    return ErrorOf([this] { Import(); });
  }

 private:
  TestModel model_;
  TestNode node_;
};

inline std::vector<TestValue::Dim> Dims(const std::vector<int64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}
inline OneOp Unary(const std::string& type, int64_t opset, const std::vector<int64_t>& dims) {
  OneOp op(type, opset);
  op.Input("x", Dims(dims));
  return op;
}
inline TestTensor Zeros(const std::string& name, const std::vector<int64_t>& dims) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  return FloatTensor(name, dims, std::vector<float>(count));
}

}  // namespace wherry::onnx
