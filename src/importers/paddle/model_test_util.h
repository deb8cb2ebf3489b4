// A tiny writer of Paddle models, for tests: the bytes of a ProgramDesc and of parameter records.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/file_bytes.h"
#include "importer/importer.h"
#include "ir/program.h"

namespace wherry::paddle {

struct TestBlockRef {
  int block;
};
struct TestVarRef {
  std::string name;
};
using TestAttr = std::variant<bool, int, int64_t, float, double, std::string, std::vector<int>, std::vector<int64_t>,
                              std::vector<float>, std::vector<std::string>, TestBlockRef, TestVarRef>;

struct TestVar {
  std::string name;
  int dtype = 5;  // FP32
  std::vector<int64_t> dims;
  bool persistable = false;
  int type = 7;
};

struct TestOp {
  std::string type;
  std::vector<std::pair<std::string, std::vector<std::string>>> inputs;
  std::vector<std::pair<std::string, std::vector<std::string>>> outputs;
  std::vector<std::pair<std::string, TestAttr>> attrs;
};

struct TestBlock {
  std::vector<TestVar> vars;
  std::vector<TestOp> ops;
};

struct TestModel {
  std::vector<TestBlock> blocks = std::vector<TestBlock>(1);
  int64_t version = 0;
  bool packed = false;    // repeated numbers
  bool shuffled = false;  // fields of a message in another order, with unknown ones between

  // A variable, and the feed or fetch operator for it.
  void AddInput(const std::string& name, const std::vector<int64_t>& dims, int dtype = 5);
  void AddOutput(const std::string& name);
  void AddParam(const std::string& name, const std::vector<int64_t>& dims, int dtype = 5);
  void AddVar(const std::string& name, const std::vector<int64_t>& dims, int dtype = 5);
  TestOp& AddOp(TestOp op, size_t block = 0);

  std::string Bytes() const;

 private:
  int feeds_ = 0;
  int fetches_ = 0;
};

namespace internal {

using Writer = protozero::pbf_writer;
using Message = std::string;

// A message of fields, each written apart so that their order can be turned round.
class MessageWriter {
 public:
  explicit MessageWriter(const TestModel& model) : model_(model) {}

  void Add(const std::function<void(Writer&)>& write) {
    std::string field;
    Writer writer(field);
    write(writer);
    fields_.push_back(std::move(field));
  }
  void Text(uint32_t tag, const std::string& text) {
    Add([&](Writer& w) { w.add_string(tag, text); });
  }
  void Int(uint32_t tag, int64_t value) {
    Add([&](Writer& w) { w.add_int64(tag, value); });
  }
  template <typename T>
  void Ints(uint32_t tag, const std::vector<T>& values) {
    if (model_.packed) return Add([&](Writer& w) { w.add_packed_int64(tag, values.begin(), values.end()); });
    for (const T value : values) Int(tag, value);
  }
  void Floats(uint32_t tag, const std::vector<float>& values) {
    if (model_.packed) return Add([&](Writer& w) { w.add_packed_float(tag, values.begin(), values.end()); });
    for (const float value : values) Add([&](Writer& w) { w.add_float(tag, value); });
  }

  Message Finish() const {
    Message bytes;
    if (!model_.shuffled) {
      for (const Message& field : fields_) bytes += field;
      return bytes;
    }
    // Fields of the same number keep their order.
    std::map<uint8_t, Message, std::greater<>> by_tag;
    for (const Message& field : fields_) by_tag[static_cast<uint8_t>(field[0])] += field;
    for (const auto& [tag, field] : by_tag) {
      bytes += field;
      Writer(bytes).add_int64(100, -1);
      Writer(bytes).add_string(101, "unknown");
    }
    return bytes;
  }

 private:
  const TestModel& model_;
  std::vector<Message> fields_;
};

inline Message TensorDescBytes(const TestModel& model, int dtype, const std::vector<int64_t>& dims) {
  MessageWriter desc(model);
  desc.Int(1, dtype);
  desc.Ints(2, dims);
  return desc.Finish();
}

inline Message VarBytes(const TestModel& model, const TestVar& var) {
  MessageWriter type(model);
  type.Int(1, var.type);
  if (var.dtype >= 0) {
    MessageWriter lod_tensor(model);
    lod_tensor.Text(1, TensorDescBytes(model, var.dtype, var.dims));
    type.Text(3, lod_tensor.Finish());
  }
  MessageWriter bytes(model);
  bytes.Text(1, var.name);
  bytes.Text(2, type.Finish());
  bytes.Int(3, var.persistable ? 1 : 0);
  return bytes.Finish();
}

struct AttrFields {
  MessageWriter& out;
  void operator()(bool v) const { Kind(6), out.Int(10, v ? 1 : 0); }
  void operator()(int v) const { Kind(0), out.Int(3, v); }
  void operator()(int64_t v) const { Kind(9), out.Int(13, v); }
  void operator()(float v) const {
    Kind(1), out.Add([v](Writer& w) { w.add_float(4, v); });
  }
  void operator()(double v) const {
    Kind(15), out.Add([v](Writer& w) { w.add_double(19, v); });
  }
  void operator()(const std::string& v) const { Kind(2), out.Text(5, v); }
  void operator()(const std::vector<int>& v) const { Kind(3), out.Ints(6, v); }
  void operator()(const std::vector<int64_t>& v) const { Kind(11), out.Ints(15, v); }
  void operator()(const std::vector<float>& v) const { Kind(4), out.Floats(7, v); }
  void operator()(const std::vector<std::string>& v) const {
    Kind(5);
    for (const std::string& text : v) out.Text(8, text);
  }
  void operator()(const TestBlockRef& v) const { Kind(8), out.Int(12, v.block); }
  void operator()(const TestVarRef& v) const { Kind(13), out.Text(17, v.name); }
  void Kind(int kind) const { out.Int(2, kind); }
};

inline Message OpBytes(const TestModel& model, const TestOp& op) {
  MessageWriter bytes(model);
  for (const bool is_input : {true, false}) {
    for (const auto& [name, values] : is_input ? op.inputs : op.outputs) {
      MessageWriter slot(model);
      slot.Text(1, name);
      for (const std::string& value : values) slot.Text(2, value);
      bytes.Text(is_input ? 1 : 2, slot.Finish());
    }
  }
  bytes.Text(3, op.type);
  for (const auto& [name, value] : op.attrs) {
    MessageWriter attr(model);
    attr.Text(1, name);
    std::visit(AttrFields{attr}, value);
    bytes.Text(4, attr.Finish());
  }
  return bytes.Finish();
}

}  // namespace internal

inline void TestModel::AddInput(const std::string& name, const std::vector<int64_t>& dims, int dtype) {
  AddVar(name, dims, dtype);
  AddOp({"feed", {{"X", {"feed"}}}, {{"Out", {name}}}, {{"col", feeds_++}}});
}
inline void TestModel::AddOutput(const std::string& name) {
  AddOp({"fetch", {{"X", {name}}}, {{"Out", {"fetch"}}}, {{"col", fetches_++}}});
}
inline void TestModel::AddParam(const std::string& name, const std::vector<int64_t>& dims, int dtype) {
  blocks[0].vars.push_back({name, dtype, dims, true});
}
inline void TestModel::AddVar(const std::string& name, const std::vector<int64_t>& dims, int dtype) {
  blocks[0].vars.push_back({name, dtype, dims});
}
inline TestOp& TestModel::AddOp(TestOp op, size_t block) {
  if (blocks.size() <= block) blocks.resize(block + 1);
  blocks[block].ops.push_back(std::move(op));
  return blocks[block].ops.back();
}

inline std::string TestModel::Bytes() const {
  internal::MessageWriter program(*this);
  for (size_t i = 0; i < blocks.size(); ++i) {
    internal::MessageWriter block(*this);
    block.Int(1, static_cast<int64_t>(i));
    block.Int(2, i == 0 ? -1 : 0);
    for (const TestVar& var : blocks[i].vars) block.Text(3, internal::VarBytes(*this, var));
    if (i == 0) {
      block.Text(3, internal::VarBytes(*this, {"feed", -1, {}, true, 9}));
      block.Text(3, internal::VarBytes(*this, {"fetch", -1, {}, true, 10}));
    }
    for (const TestOp& op : blocks[i].ops) block.Text(4, internal::OpBytes(*this, op));
    program.Text(1, block.Finish());
  }
  internal::MessageWriter of_version(*this);
  of_version.Int(1, version);
  program.Text(4, of_version.Finish());
  return program.Finish();
}

// One parameter record. `data`: the raw elements.
inline std::string ParamRecord(const std::vector<int64_t>& dims, const std::string& data, int dtype = 5) {
  const std::string desc = internal::TensorDescBytes(TestModel(), dtype, dims);
  std::string bytes(16, '\0');  // version, LoD level 0, version
  const auto size = static_cast<int32_t>(desc.size());
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  return bytes + desc + data;
}

// The bytes of these floats.
inline std::string FloatBytes(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

inline FileBytes InMemory(const std::string& name, const std::string& bytes) {
  // A copy of exactly this size, so that the address sanitizer sees a read past the end.
  auto owner = std::make_shared<std::vector<char>>(bytes.begin(), bytes.end());
  return FileBytes{name, std::as_bytes(std::span<const char>(*owner)), owner};
}

// By the registered importers, from memory.
inline Program ImportBytes(const std::string& model, const std::string& params = "") {
  return ImportModel(InMemory("model", model), params.empty() ? FileBytes() : InMemory("params", params));
}

// The one operator of that type in the main block; the test fails if there is none.
inline const OpDesc& FindOp(const Program& program, const std::string& type) {
  const OpDesc* found = nullptr;
  for (const OpDesc& op : program.main().ops) {
    if (op.Type() != type) continue;
    EXPECT_EQ(found, nullptr) << "several operators of type " << type;
    found = &op;
  }
  static const OpDesc kNone;
  EXPECT_NE(found, nullptr) << "no operator of type " << type;
  return found == nullptr ? kNone : *found;
}

}  // namespace wherry::paddle
