// What the converters of Paddle's operators work with. A converter serves a ProgramDesc operator, a PIR operator, or
// both where they mean the same:
//
//   void ConvertRelu6(OpContext& c) { c.Result("Out", c.Emit("relu6", {{"x", {c.Input({"X", 0})}}})); }
//   REGISTER_CONVERTER(paddle, relu6, &Convert<ConvertRelu6>);
//   REGISTER_CONVERTER(pir, relu6, &Convert<ConvertRelu6, 1>);
//
// In PIR position alone says what an operand is, so a file with one too few would be another program: there the
// registration counts the operands, absent ones too, and the results, where those are not one.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "importer/convert_context.h"
#include "importer/importer.h"

namespace wherry::paddle {

// Where an operator has a tensor: the parameter's name in a ProgramDesc, the operand's or result's position in PIR. -1
// or null: not there in that format.
struct Param {
  const char* name;
  int position = -1;
};

// A list of integers, or one number, that is known now or comes from a tensor.
struct Ints {
  std::optional<std::vector<int64_t>> values;
  std::string tensor;  // i64 or i32, if not known
};
struct Number {
  std::optional<Scalar> value;
  std::string tensor;
};

// What converters tell one another about values of a program.
struct ValueNotes {
  std::unordered_map<std::string, std::string> bytes;  // whole numbers in floats -> the i8 that they are made of
  // Rows of sequences one behind the other -> how many each has (LoD), i64.
  std::unordered_map<std::string, std::string> lengths;
};

class OpContext : public ConvertContext {
 public:
  using ConvertContext::ConvertContext;
  using ConvertContext::Input;
  using ConvertContext::OptionalInput;

  bool pir() const { return op().format == "pir"; }

  // The one value of a parameter. Absent: Error(kCorrupt), or empty.
  std::string Input(Param param) const;
  std::string OptionalInput(Param param) const;
  // All values of a parameter (of a PIR vector); none if it is absent. Error(kCorrupt) if one of several is.
  std::vector<std::string> InputList(Param param) const;
  bool HasInput(Param param) const { return !InputList(param).empty(); }

  // An attribute that ProgramDesc alone has: `fallback` in PIR.
  template <typename T>
  T DescAttr(const std::string& name, const T& fallback) const {
    return pir() ? fallback : Attr<T>(name, fallback);
  }

  // Error(kCorrupt) unless a PIR operator has these numbers of operands and results, absent ones counted.
  void ExpectForm(int operands, int results) const;
  // Error(kUnsupported) if a ProgramDesc operator has one of these inputs.
  void Refuse(std::initializer_list<const char*> inputs) const;

  // Binds a result; nothing happens when the operator does not have it.
  void Result(Param param, const std::string& value, size_t k = 0);
  size_t ResultCount(Param param) const;
  // Adds an op and binds it to the result "Out", the first in PIR.
  void EmitResult(const std::string& type, const OpInputs& inputs, const OpAttrs& attrs = {}) {
    Result({"Out", 0}, Emit(type, inputs, attrs));
  }
  // The rank that the file declares for a result; nullopt if it does not.
  std::optional<int> DeclaredRank(Param param) const;

  // A list given as one-element tensors (`list`), as a tensor, or as an attribute; the first that is there. In PIR, the
  // operand, which may be a vector, or the attribute. Absent: nullopt.
  std::optional<Ints> OptionalInts(Param tensor, Param list, const std::string& attr);
  Ints IntsOf(Param tensor, Param list, const std::string& attr);
  // In a ProgramDesc, ends of -1 where a step is negative mean before the first element: Paddle 3 counts them from the
  // end instead, and writes others.
  void OpenEnds(const std::optional<std::vector<int64_t>>& steps, Ints* ends) const;
  // Must be known now, else Unsupported().
  std::vector<int64_t> KnownInts(Param tensor, Param list, const std::string& attr);
  int64_t KnownInt(Param tensor, const std::string& attr, int64_t fallback);
  // A number given as a tensor or as an attribute; or `fallback`.
  Number NumberOf(Param tensor, const std::string& attr, const std::optional<Scalar>& fallback = std::nullopt);
  // Adds it as an op's IntArray or Scalar argument: an attribute if it is known, else the tensor.
  static void Pass(const char* name, const Ints& ints, OpInputs* inputs, OpAttrs* attrs);
  static void Pass(const char* name, const Number& number, OpInputs* inputs, OpAttrs* attrs);
  // As a tensor in any case: of one dimension, i64; a number of rank 0 and type `dtype`.
  std::string TensorOf(const Ints& ints);
  std::string TensorOf(const Number& number, DataType dtype);

  // The numbers of attribute `values` or, in older files, of fp32_values and its kin.
  std::vector<Scalar> ListedValues() const;

  // Short forms for values that converters build from several operators.
  std::string Unary(const std::string& type, const std::string& x) { return Emit(type, {{"x", {x}}}); }
  std::string Binary(const std::string& type, const std::string& x, const std::string& y) {
    return Emit(type, {{"x", {x}}, {"y", {y}}});
  }
  // `value` in the type of `x`, rank 0.
  std::string Like(const std::string& x, double value) { return ConstantScalar(Scalar(value), TypeOf(x)); }
  std::string Scaled(const std::string& x, double scale, double bias = 0.0);
  std::string Reshaped(const std::string& x, std::vector<int64_t> shape);
  std::string Transposed(const std::string& x, std::vector<int64_t> perm);
  std::string Cast(const std::string& x, DataType dtype);
  std::string Unsqueezed(const std::string& x, std::vector<int64_t> axes);
  std::string Squeezed(const std::string& x, std::vector<int64_t> axes);
  std::string Expanded(const std::string& x, const std::string& shape) {
    return Emit("expand", {{"x", {x}}, {"shape", {shape}}});
  }
  // One dimension of x, as i64[1].
  std::string Dimension(const std::string& x, int64_t axis);
  // One or more lists of integers as one, i64.
  std::string Joined(const std::vector<std::string>& lists) {
    return Emit("concat", {{"x", lists}}, {{"axis", int64_t{0}}});
  }
  // 0, 1, ... up to but without `end`, a list of one number.
  std::string CountTo(const std::string& end) {
    return Emit("arange", {{"end", {end}}}, {{"start", Scalar(int64_t{0})}});
  }
  // axis + rank for a negative axis; one outside is Error(kCorrupt).
  int64_t Axis(int64_t axis, int rank) const;

  // x with `axes` (none: all) as one behind the others, of rank 1 at least; they become what they are counted from the
  // front, in order.
  std::string LastTogether(const std::string& x, std::vector<int64_t>* axes);

  // Whether the attribute data_format (or data_layout) puts channels last; Unsupported() if it is neither form.
  bool ChannelsLast() const;
  // Channels moved from the last axis to axis 1, and back.
  std::string ToChannelsFirst(const std::string& x);
  std::string ToChannelsLast(const std::string& x);
  // An input, and a result, of an operator whose channels may be last, with channels on axis 1.
  std::string ImageInput(Param param, bool channels_last) {
    return channels_last ? ToChannelsFirst(Input(param)) : Input(param);
  }
  void ImageResult(Param param, const std::string& value, bool channels_last) {
    Result(param, channels_last ? ToChannelsLast(value) : value);
  }

  // The lengths of the sequences in an input; empty if it has none. They go on to results of as many rows.
  std::string LengthsOf(const std::string& value) const;
  void SetLengths(const std::string& value, const std::string& lengths) { notes->lengths[value] = lengths; }
  void PassLengths();

  // The element type that the file declares for a result; kUndefined if it does not.
  DataType DeclaredType(Param param) const;

  // What the file says about a result, by its name there; set by the importers.
  using RankLookup = std::function<std::optional<int>(const std::string& name)>;
  const RankLookup* declared_rank = nullptr;
  using MetaLookup = std::function<MetaTensor(const std::string& name)>;
  const MetaLookup* declared_meta = nullptr;
  ValueNotes* notes = nullptr;  // never null while a converter runs

 private:
  const ForeignOp::Slot* InputSlot(Param param) const;
  std::optional<size_t> OutputPosition(Param param) const;
  Ints FromList(const std::vector<std::string>& values);
  Ints FromTensor(const std::string& value);
};

// The form that REGISTER_CONVERTER takes; the counts are those of the PIR operator.
template <void (*Fn)(OpContext&), int kOperands = -1, int kResults = 1>
void Convert(void* context) {
  auto& c = *static_cast<OpContext*>(context);
  if (c.pir()) c.ExpectForm(kOperands, kResults);
  Fn(c);
}

}  // namespace wherry::paddle
