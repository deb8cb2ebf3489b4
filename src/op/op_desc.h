// OpDesc: one operator of a program, by names: its type, inputs, outputs and attributes.
#pragma once

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "op/attribute.h"
#include "op/attribute_cast.h"

namespace wherry {

// Value type. Parameter names are those of the op's schema; an argument that is absent has no entry. An IntArray or
// Scalar argument is either an attribute or an input of the same name.
class OpDesc {
 public:
  OpDesc() = default;
  explicit OpDesc(std::string type) : type_(std::move(type)) {}

  const std::string& Type() const { return type_; }
  void SetType(const std::string& type) { type_ = type; }

  const std::map<std::string, std::vector<std::string>>& inputs() const { return inputs_; }
  const std::map<std::string, std::vector<std::string>>& outputs() const { return outputs_; }
  // Names bound to a parameter; empty when there is none.
  const std::vector<std::string>& Input(const std::string& param) const;
  const std::vector<std::string>& Output(const std::string& param) const;
  bool HasInput(const std::string& param) const { return !Input(param).empty(); }
  bool HasOutput(const std::string& param) const { return !Output(param).empty(); }
  void SetInput(const std::string& param, const std::vector<std::string>& names);
  void SetOutput(const std::string& param, const std::vector<std::string>& names);

  const AttributeMap& attrs() const { return attrs_; }
  bool HasAttr(const std::string& name) const { return attrs_.count(name) != 0; }
  // Error(kNotFound) / Error(kInvalidArgument) naming op and attribute.
  const Attribute& GetAttribute(const std::string& name) const;
  // T: bool, int, int64_t, float, double, std::string, std::vector<bool|int|int64_t|float|double|std::string>, Scalar,
  // IntArray, DataType, DataLayout, Target, Epilogue, ElementwiseProgram.
  template <typename T>
  T GetAttr(const std::string& name) const {
    return AttributeCast<T>(GetAttribute(name));
  }
  void SetAttribute(const std::string& name, Attribute value) { attrs_[name] = std::move(value); }
  template <typename T>
  void SetAttr(const std::string& name, const T& value) {
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
      attrs_[name] = Attribute(value);
    } else if constexpr (std::is_integral_v<T>) {
      attrs_[name] = Attribute(static_cast<int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      attrs_[name] = Attribute(static_cast<double>(value));
    } else if constexpr (std::is_same_v<T, std::vector<int>>) {
      attrs_[name] = Attribute(std::vector<int64_t>(value.begin(), value.end()));
    } else if constexpr (std::is_same_v<T, std::vector<float>>) {
      attrs_[name] = Attribute(std::vector<double>(value.begin(), value.end()));
    } else {
      attrs_[name] = Attribute(value);
    }
  }
  void EraseAttr(const std::string& name) { attrs_.erase(name); }

  // Blocks of the program that a control-flow op owns (indices), in the order of its schema: if: then, else.
  const std::vector<int>& blocks() const { return blocks_; }
  void SetBlocks(std::vector<int> blocks) { blocks_ = std::move(blocks); }

  // A name for people: where it came from in the model ("conv2d_3", an ONNX node's name). May be empty; not unique.
  const std::string& label() const { return label_; }
  void SetLabel(std::string label) { label_ = std::move(label); }
  // The first result's name, else the type.
  const std::string& FirstResult() const;
  // What messages and reports call it: the label, else the first result's name, else the type.
  const std::string& DisplayName() const { return label_.empty() ? FirstResult() : label_; }

  std::string DebugString() const;  // "softmax(x: a) -> (out: b) {axis = -1}"

 private:
  std::string type_;
  std::map<std::string, std::vector<std::string>> inputs_;
  std::map<std::string, std::vector<std::string>> outputs_;
  AttributeMap attrs_;
  std::vector<int> blocks_;
  std::string label_;
};

}  // namespace wherry
