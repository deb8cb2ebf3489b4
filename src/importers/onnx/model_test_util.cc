#include "importers/onnx/model_test_util.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <protozero/pbf_writer.hpp>

#include "importer/importer.h"

namespace wherry::onnx {

namespace {

using protozero::pbf_writer;

// The fields of one message, written in order, or backwards with unknown fields between.
class Fields {
 public:
  explicit Fields(const TestModel& model) : model_(model) {}

  void Add(const std::function<void(pbf_writer&)>& write) {
    std::string field;
    pbf_writer writer(field);
    write(writer);
    fields_.push_back(field);
  }
  void AddString(uint32_t tag, const std::string& text) {
    Add([&](pbf_writer& w) { w.add_string(tag, text); });
  }
  void AddInt(uint32_t tag, int64_t value) {
    Add([&](pbf_writer& w) { w.add_int64(tag, value); });
  }
  void AddInts(uint32_t tag, const std::vector<int64_t>& values) {
    Add([&](pbf_writer& w) {
      if (model_.packed) return w.add_packed_int64(tag, values.begin(), values.end());
      for (const int64_t value : values) w.add_int64(tag, value);
    });
  }
  void AddFloats(uint32_t tag, const std::vector<float>& values) {
    Add([&](pbf_writer& w) {
      if (model_.packed) return w.add_packed_float(tag, values.begin(), values.end());
      for (const float value : values) w.add_float(tag, value);
    });
  }

  std::string Message() const {
    std::string message;
    if (!model_.shuffled) {
      for (const std::string& field : fields_) message += field;
      return message;
    }
    // Repeated fields must stay in order among themselves, so fields go by tag, backwards.
    std::vector<std::string> sorted = fields_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const std::string& a, const std::string& b) {
      return static_cast<uint8_t>(a[0]) / 8 > static_cast<uint8_t>(b[0]) / 8;
    });
    for (const std::string& field : sorted) {
      message += field;
      pbf_writer writer(message);
      writer.add_string(1000, "unknown");
    }
    return message;
  }

 private:
  const TestModel& model_;
  std::vector<std::string> fields_;
};

class ModelWriter {
 public:
  explicit ModelWriter(const TestModel& model) : model_(model) {}

  std::string Model() const {
    Fields fields(model_);
    fields.AddInt(1, model_.ir_version);
    fields.AddString(2, "a test");
    fields.AddString(7, Graph(model_.graph));
    for (const auto& [domain, version] : model_.opsets) fields.AddString(8, Opset(domain, version));
    for (const auto& [key, value] : model_.properties) {
      Fields entry(model_);
      entry.AddString(1, key);
      entry.AddString(2, value);
      fields.AddString(14, entry.Message());
    }
    for (const TestFunction& function : model_.functions) fields.AddString(25, Function(function));
    return fields.Message();
  }

 private:
  std::string Opset(const std::string& domain, int64_t version) const {
    Fields fields(model_);
    fields.AddString(1, domain);
    fields.AddInt(2, version);
    return fields.Message();
  }

  std::string Graph(const TestGraph& graph) const {
    Fields fields(model_);
    for (const TestNode& node : graph.nodes) fields.AddString(1, Node(node));
    fields.AddString(2, "graph");
    for (const TestTensor& tensor : graph.initializers) fields.AddString(5, Tensor(tensor));
    for (const TestValue& value : graph.inputs) fields.AddString(11, Value(value));
    for (const TestValue& value : graph.outputs) {
      Fields output(model_);
      output.AddString(1, value.name);
      fields.AddString(12, output.Message());
    }
    return fields.Message();
  }

  std::string Value(const TestValue& value) const {
    Fields shape(model_);
    for (const TestValue::Dim& dim : value.dims) {
      Fields fields(model_);
      if (const auto* number = std::get_if<int64_t>(&dim)) {
        fields.AddInt(1, *number);
      } else if (!std::get<std::string>(dim).empty()) {
        fields.AddString(2, std::get<std::string>(dim));
      }
      shape.AddString(1, fields.Message());
    }
    Fields tensor(model_);
    tensor.AddInt(1, value.type);
    tensor.AddString(2, shape.Message());
    Fields type(model_);
    type.AddString(1, tensor.Message());
    Fields info(model_);
    info.AddString(1, value.name);
    info.AddString(2, type.Message());
    return info.Message();
  }

  std::string Tensor(const TestTensor& tensor) const {
    Fields fields(model_);
    fields.AddInts(1, tensor.dims);
    fields.AddInt(2, tensor.type);
    if (!tensor.floats.empty()) fields.AddFloats(4, tensor.floats);
    if (!tensor.int32s.empty()) fields.AddInts(5, tensor.int32s);
    if (!tensor.int64s.empty()) fields.AddInts(7, tensor.int64s);
    fields.AddString(8, tensor.name);
    if (!tensor.raw.empty()) fields.AddString(9, tensor.raw);
    for (const auto& [key, value] : tensor.external) {
      Fields entry(model_);
      entry.AddString(1, key);
      entry.AddString(2, value);
      fields.AddString(13, entry.Message());
    }
    if (!tensor.external.empty()) fields.AddInt(14, 1);
    return fields.Message();
  }

  std::string Node(const TestNode& node) const {
    Fields fields(model_);
    for (const std::string& input : node.inputs) fields.AddString(1, input);
    for (const std::string& output : node.outputs) fields.AddString(2, output);
    if (!node.name.empty()) fields.AddString(3, node.name);
    fields.AddString(4, node.type);
    for (const auto& [name, value] : node.attrs) fields.AddString(5, Attribute(name, value));
    if (!node.domain.empty()) fields.AddString(7, node.domain);
    return fields.Message();
  }

  std::string Attribute(const std::string& name, const TestAttr& attr) const {
    Fields fields(model_);
    fields.AddString(1, name);
    int kind = 0;
    if (const auto* small = std::get_if<int>(&attr)) {
      fields.AddInt(3, *small);
      kind = 2;
    } else if (const auto* integer = std::get_if<int64_t>(&attr)) {
      fields.AddInt(3, *integer);
      kind = 2;
    } else if (const auto* number = std::get_if<float>(&attr)) {
      fields.Add([&](pbf_writer& w) { w.add_float(2, *number); });
      kind = 1;
    } else if (const auto* text = std::get_if<std::string>(&attr)) {
      fields.AddString(4, *text);
      kind = 3;
    } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&attr)) {
      fields.AddInts(8, *integers);
      kind = 7;
    } else if (const auto* numbers = std::get_if<std::vector<float>>(&attr)) {
      fields.AddFloats(7, *numbers);
      kind = 6;
    } else if (const auto* texts = std::get_if<std::vector<std::string>>(&attr)) {
      for (const std::string& one : *texts) fields.AddString(9, one);
      kind = 8;
    } else if (const auto* tensor = std::get_if<TestTensor>(&attr)) {
      fields.AddString(5, Tensor(*tensor));
      kind = 4;
    } else if (const auto* graph = std::get_if<TestGraphRef>(&attr)) {
      fields.AddString(6, Graph(*graph->graph));
      kind = 5;
    } else {
      fields.Add([&](pbf_writer& w) { w.add_string(21, std::get<TestReference>(attr).name); });
      kind = 2;
    }
    fields.Add([&](pbf_writer& w) { w.add_int32(20, kind); });
    return fields.Message();
  }

  std::string Function(const TestFunction& function) const {
    Fields fields(model_);
    fields.AddString(1, function.name);
    for (const std::string& input : function.inputs) fields.AddString(4, input);
    for (const std::string& output : function.outputs) fields.AddString(5, output);
    for (const std::string& attribute : function.attributes) fields.AddString(6, attribute);
    for (const TestNode& node : function.nodes) fields.AddString(7, Node(node));
    for (const auto& [domain, version] : model_.opsets) fields.AddString(9, Opset(domain, version));
    fields.AddString(10, function.domain);
    return fields.Message();
  }

  const TestModel& model_;
};

template <typename T>
std::string Raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

std::string TestModel::Bytes() const { return ModelWriter(*this).Model(); }

std::string RawFloats(const std::vector<float>& values) { return Raw(values); }
std::string RawInts(const std::vector<int64_t>& values) { return Raw(values); }

TestTensor FloatTensor(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
  TestTensor tensor;
  tensor.name = name;
  tensor.dims = dims;
  tensor.raw = RawFloats(values);
  return tensor;
}

TestTensor IntTensor(const std::string& name, const std::vector<int64_t>& values) {
  TestTensor tensor;
  tensor.name = name;
  tensor.dims = {static_cast<int64_t>(values.size())};
  tensor.type = kTestInt64;
  tensor.raw = RawInts(values);
  return tensor;
}

FileBytes InMemory(const std::string& name, const std::string& bytes) {
  auto owned = std::make_shared<const std::string>(bytes);
  const auto* data = reinterpret_cast<const std::byte*>(owned->data());
  return FileBytes{name, {data, owned->size()}, std::move(owned)};
}

Program ImportBytes(const std::string& model) { return ImportModel(InMemory("a.onnx", model)); }

const OpDesc& FindOp(const Program& program, const std::string& type) {
  for (const OpDesc& op : program.main().ops) {
    if (op.Type() == type) return op;
  }
  ADD_FAILURE() << "there is no " << type;
  static const OpDesc none("none");
  return none;
}

std::vector<std::string> Types(const Program& program, size_t block) {
  std::vector<std::string> types;
  for (const OpDesc& op : program.blocks.at(block).ops) types.push_back(op.Type());
  return types;
}

std::string ResultMeta(const Program& program, size_t output) {
  Program copy = program.Clone();
  InferProgram(&copy);
  return copy.main().values.at(copy.main().outputs.at(output)).DebugString();
}

}  // namespace wherry::onnx
