// ImportRule: how one operator type of a model format becomes one of Wherry's. Generated from the `import` keys of
// ops/*.yaml. What a rule cannot say is a converter (REGISTER_CONVERTER); a type has a rule or a converter, never both.
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "op/attribute.h"

namespace wherry {

// One input or output. Formats that name parameters (paddle) have `theirs`; where position decides (pir, onnx) it is
// null, and the i-th entry is the i-th operand or result.
struct ImportTensor {
  const char* ours;  // argument or output of the schema; null: theirs is of no use to ours and is ignored
  const char* theirs;
};

struct ImportAttr {
  const char* ours;    // attribute of the schema
  const char* theirs;  // the format's attribute; null: `value` is a constant
  AttrType type;       // of ours
  const char* value;   // what ParseAttribute reads: the constant, or what holds when theirs is absent; null: the
                       // schema's default

  // `value` parsed. Precondition: it is not null.
  Attribute ParsedValue() const { return ParseAttribute(type, value); }
};

// Constant data. An argument that is neither among `inputs` nor `attrs` keeps the schema's default. One that is in both
// (an IntArray or Scalar) is the tensor where the model gives it, else the attribute.
struct ImportRule {
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  const char* format;  // "paddle", "pir", "onnx"
  const char* domain;  // onnx: "" or "com.microsoft"
  const char* type;    // as the format spells it; pir: without "pd_op."
  int since;           // the first and the last opset that it is for (onnx; elsewhere 1 and kNoLimit)
  int until;
  const char* op;  // Wherry's operator
  std::span<const ImportTensor> inputs;
  std::span<const ImportTensor> outputs;
  std::span<const ImportAttr> attrs;
};

// The rules of a program's or plug-in's own operators, which their generated code registers.
struct ImportRuleSet {
  std::span<const ImportRule> rules;
};

// Sorted by format, domain, type and since; the opsets of one type do not overlap.
std::span<const ImportRule> BuiltinImportRules();

// The rule for an operator type, built-in or registered, or null. Formats without opsets pass 1. Thread-safe.
// Error(kAlreadyExists) when a plug-in was loaded since the last call that has a rule for a type which has one already.
const ImportRule* FindImportRule(std::string_view format, std::string_view domain, std::string_view type,
                                 int opset = 1);

}  // namespace wherry
