// Sequences. The element type of one is known where its values' were when it was made.
#include "base/strings.h"
#include "importers/onnx/converter.h"

namespace wherry::onnx {

namespace {

DataType ElementType(OnnxContext& c, const std::string& sequence) { return c.block().program().ElementType(sequence); }

void Give(OnnxContext& c, const std::string& sequence, DataType element) {
  c.block().program().SetElementType(sequence, element);
  c.Bind(0, sequence);
}

// The first input; a tensor where the operator takes a sequence is a contradiction.
std::string SequenceInput(OnnxContext& c) {
  const std::string value = c.Input(0);
  const DataType dtype = c.TypeOf(value);
  if (dtype != DataType::kSequence && dtype != DataType::kUndefined) {
    c.Corrupt("its input is ", c.Meta(value).DebugString(), ", expected a sequence");
  }
  return value;
}

void Empty(OnnxContext& c) { Give(c, c.Emit("sequence_construct", {}), DataTypeOf(c.Attr<int64_t>("dtype", 1))); }

void Construct(OnnxContext& c) {
  std::vector<std::string> tensors;
  for (size_t i = 0; i < c.InputCount(); ++i) tensors.push_back(c.Input(i));
  Give(c, c.Emit("sequence_construct", {{"x", tensors}}),
       tensors.empty() ? DataType::kUndefined : c.TypeOf(tensors[0]));
}

void Insert(OnnxContext& c) {
  const std::string sequence = SequenceInput(c);
  DataType element = ElementType(c, sequence);
  if (element == DataType::kUndefined) element = c.TypeOf(c.Input(1));
  Give(c,
       c.Emit("sequence_insert", {{"sequence", {sequence}}, {"x", {c.Input(1)}}, {"position", {c.OptionalInput(2)}}}),
       element);
}

void Erase(OnnxContext& c) {
  const std::string sequence = SequenceInput(c);
  Give(c, c.Emit("sequence_erase", {{"sequence", {sequence}}, {"position", {c.OptionalInput(1)}}}),
       ElementType(c, sequence));
}

void At(OnnxContext& c) {
  const std::string sequence = SequenceInput(c);
  c.EmitResult("sequence_at", {{"sequence", {sequence}}, {"position", {c.Input(1)}}},
               {{"dtype", ElementType(c, sequence)}});
}

void Length(OnnxContext& c) { c.EmitResult("sequence_length", {{"sequence", {SequenceInput(c)}}}); }

void Concat(OnnxContext& c) {
  const std::string sequence = SequenceInput(c);
  c.EmitResult("sequence_concat", {{"sequence", {sequence}}},
               {{"axis", c.Attr<int64_t>("axis")},
                {"new_axis", c.Attr<int64_t>("new_axis", 0) != 0},
                {"dtype", ElementType(c, sequence)}});
}

// An optional value is a sequence of none or one; whatever else is given where one may be is there.
bool IsOptional(OnnxContext& c, const std::string& value) { return c.block().program().IsOptional(value); }

void Optional(OnnxContext& c) {
  const std::string value = c.OptionalInput(0);
  const std::string optional = c.Emit(
      "sequence_construct", {{"x", value.empty() ? std::vector<std::string>() : std::vector<std::string>{value}}});
  c.block().program().SetOptional(optional);
  Give(c, optional, value.empty() ? DataType::kUndefined : c.TypeOf(value));
}

void OptionalHasElement(OnnxContext& c) {
  const std::string value = c.OptionalInput(0);
  if (value.empty() || !IsOptional(c, value)) {
    return c.Bind(0, c.ConstantScalar(Scalar(!value.empty()), DataType::kBool));
  }
  c.Bind(0, c.Cast(c.Emit("sequence_length", {{"sequence", {value}}}), DataType::kBool));
}

void OptionalGetElement(OnnxContext& c) {
  const std::string value = c.Input(0);
  if (!IsOptional(c, value)) return c.Bind(0, value);
  c.EmitResult("sequence_at",
               {{"sequence", {value}}, {"position", {c.ConstantScalar(Scalar(int64_t{0}), DataType::kInt64)}}},
               {{"dtype", ElementType(c, value)}});
}

void Split(OnnxContext& c) {
  const std::string x = c.Input(0);
  Give(c,
       c.Emit("sequence_split", {{"x", {x}}, {"split", {c.OptionalInput(1)}}},
              {{"axis", c.Attr<int64_t>("axis", 0)}, {"keepdims", c.Attr<int64_t>("keepdims", 1) != 0}}),
       c.TypeOf(x));
}

}  // namespace

REGISTER_CONVERTER(onnx, SequenceEmpty, &Convert<Empty>);
REGISTER_CONVERTER(onnx, SequenceConstruct, &Convert<Construct>);
REGISTER_CONVERTER(onnx, SequenceInsert, &Convert<Insert>);
REGISTER_CONVERTER(onnx, SequenceErase, &Convert<Erase>);
REGISTER_CONVERTER(onnx, SequenceAt, &Convert<At>);
REGISTER_CONVERTER(onnx, SequenceLength, &Convert<Length>);
REGISTER_CONVERTER(onnx, ConcatFromSequence, &Convert<Concat>);
REGISTER_CONVERTER(onnx, SplitToSequence, &Convert<Split>);
REGISTER_CONVERTER(onnx, Optional, &Convert<Optional>);
REGISTER_CONVERTER(onnx, OptionalHasElement, &Convert<OptionalHasElement>);
REGISTER_CONVERTER(onnx, OptionalGetElement, &Convert<OptionalGetElement>);

}  // namespace wherry::onnx
