// ConvertContext: what a rule or a converter has in hand while it turns one foreign operator into Wherry's.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "importer/foreign_op.h"
#include "importer/program_builder.h"

namespace wherry {

// Values for the parameters of an op, as {{"x", {a}}, {"y", {b}}}. Empty names and empty lists are left out.
using OpInputs = std::vector<std::pair<std::string, std::vector<std::string>>>;
using OpAttrs = std::vector<std::pair<std::string, Attribute>>;

// Importers derive from it what their format needs. Lives for one operator; not thread-safe.
class ConvertContext {
 public:
  ConvertContext(const ForeignOp& op, BlockBuilder* block) : op_(op), block_(*block) {}
  ConvertContext(const ConvertContext&) = delete;
  ConvertContext& operator=(const ConvertContext&) = delete;

  const ForeignOp& op() const { return op_; }
  BlockBuilder& block() { return block_; }

  // --- the operator's inputs, by position in op().inputs
  // The one value there; empty if absent. Error(kCorrupt) if there are several.
  std::string OptionalInput(size_t position) const;
  // Absent: Error(kCorrupt).
  std::string Input(size_t position) const;

  // --- its attributes
  bool HasAttr(const std::string& name) const { return op_.FindAttr(name) != nullptr; }
  // T: bool, int64_t, double, std::string, std::vector of those, Scalar, DataType (by name, or by the format's number).
  // Another type or value: Error(kCorrupt) naming the attribute. Absent: Error(kCorrupt), or `fallback` in formats that
  // leave attributes out.
  template <typename T>
  T Attr(const std::string& name) const;
  template <typename T>
  T Attr(const std::string& name, const T& fallback) const {
    return HasAttr(name) || op_.complete ? Attr<T>(name) : fallback;
  }

  // --- what is known about values
  const MetaTensor& Meta(const std::string& value) const { return block_.Meta(value); }
  // Unknown: Unsupported().
  int Rank(const std::string& value) const;
  DataType TypeOf(const std::string& value) const { return Meta(value).dtype; }
  // All elements as integers, if they are known numbers now and the value is an integer or bool tensor.
  std::optional<std::vector<int64_t>> ConstantInts(const std::string& value) const;
  // All elements of a float constant; nullopt if it is none.
  std::optional<std::vector<double>> ConstantFloats(const std::string& value) const;
  // The one element, if it is known now.
  std::optional<Scalar> ConstantScalar(const std::string& value) const;

  // --- building
  // Adds an op with one result and returns it. `stem` empty: named after the operator's first output.
  std::string Emit(const std::string& type, const OpInputs& inputs, const OpAttrs& attrs = {},
                   const std::string& stem = "");
  // With the first `count` outputs of the schema, or `count` results in a list output.
  std::vector<std::string> EmitMany(const std::string& type, const OpInputs& inputs, const OpAttrs& attrs,
                                    size_t count);
  std::string Constant(DenseTensor tensor, const std::string& stem = "");
  std::string ConstantInts(const std::vector<int64_t>& values);     // i64[n]
  std::string ConstantScalar(const Scalar& value, DataType dtype);  // rank 0

  // --- the operator's results
  // What the file's k-th value at a position of op().outputs becomes. A result that is never bound is one that nobody
  // may use.
  void Bind(size_t position, const std::string& value, size_t k = 0);
  // Emit() and Bind(0, ...).
  void EmitResult(const std::string& type, const OpInputs& inputs, const OpAttrs& attrs = {});
  // Forgets the bindings.
  void ClearResults() { results_.clear(); }
  // (the file's name, the value) in the order they were bound.
  const std::vector<std::pair<std::string, std::string>>& results() const { return results_; }

  // Ends the conversion: Error(kUnsupported) with this reason, which reads after "operator conv2d: ".
  template <typename... Args>
  [[noreturn]] void Unsupported(const Args&... args) const {
    Throw(ErrorCode::kUnsupported, args...);
  }
  // The operator contradicts its format.
  template <typename... Args>
  [[noreturn]] void Corrupt(const Args&... args) const {
    Throw(ErrorCode::kCorrupt, args...);
  }

  // A name for a value of this operator: that of its first output, else its label or type.
  std::string Stem() const;

 private:
  OpDesc MakeDesc(const std::string& type, const OpInputs& inputs, const OpAttrs& attrs) const;

  const ForeignOp& op_;
  BlockBuilder& block_;
  std::vector<std::pair<std::string, std::string>> results_;
};

}  // namespace wherry
