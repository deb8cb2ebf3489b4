// ForeignOp: one operator as a model file has it, in a form that all importers share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "op/attribute.h"

namespace wherry {

// Value type. Inputs are names of the program being built; outputs are what the file calls them, and get their values
// when the operator is converted.
struct ForeignOp {
  // A parameter by name (Paddle: "X") or, where position decides (ONNX, PIR), one operand or result with an empty name.
  // An empty value is absent; so is a slot that is not there.
  struct Slot {
    std::string name;
    std::vector<std::string> values;

    // Its values; none if it is absent. Error(kCorrupt) if one of several is: the others would take its place.
    std::vector<std::string> Present() const;
  };

  std::string format;  // as import rules and converters have it: "paddle", "pir", "onnx"
  std::string domain;
  std::string type;
  int opset = 1;      // of the domain, where the format has that
  std::string label;  // for people: "conv2d_3"
  int block = 0;      // the block of the file that it stands in, and its place there
  int index = 0;
  std::vector<Slot> inputs;
  std::vector<Slot> outputs;
  // Values as the file has them (int, float, string, lists, ...). What has no place here (tensors, blocks) the importer
  // keeps.
  AttributeMap attrs;
  // The format always writes all attributes (PIR): one that is absent is missing, whatever a default says.
  bool complete = false;
  // A data type attribute that the file writes as a number; null where it never does. kUndefined: there is no such
  // type.
  DataType (*data_type_of)(int64_t number) = nullptr;

  // Null if absent.
  const Slot* FindInput(std::string_view name) const { return Find(inputs, name); }
  const Slot* FindOutput(std::string_view name) const { return Find(outputs, name); }
  const Attribute* FindAttr(const std::string& name) const {
    const auto it = attrs.find(name);
    return it == attrs.end() ? nullptr : &it->second;
  }

 private:
  static const Slot* Find(const std::vector<Slot>& slots, std::string_view name) {
    for (const Slot& slot : slots) {
      if (slot.name == name) return &slot;
    }
    return nullptr;
  }
};

// "operator conv2d 'conv2d_3' (block 0, number 12)", for messages.
std::string Describe(const ForeignOp& op);

}  // namespace wherry
