// Arrays of tensors.
#include "importers/paddle/converter.h"

namespace wherry::paddle {

namespace {

void Create(OpContext& c) { c.EmitResult("sequence_construct", {}); }

// In a ProgramDesc the array is the variable that is written, which has no value before the first time.
void Write(OpContext& c) {
  std::string array = c.OptionalInput({"Array", 0});
  if (array.empty()) array = c.Emit("sequence_construct", {});
  c.EmitResult("sequence_write",
               {{"sequence", {array}}, {"x", {c.Input({"X", 1})}}, {"position", {c.Input({"I", 2})}}});
}

void Read(OpContext& c) {
  c.EmitResult("sequence_at", {{"sequence", {c.Input({"X", 0})}}, {"position", {c.Input({"I", 1})}}},
               {{"dtype", c.DeclaredType({"Out", 0})}});
}

void Length(OpContext& c) {
  c.Result({"Out", 0}, c.Reshaped(c.Emit("sequence_length", {{"sequence", {c.Input({"X", 0})}}}), {1}));
}

void ToTensor(OpContext& c) {
  const std::string array = c.Input({"X", 0});
  const auto axis = c.Attr<int64_t>("axis", 0);
  c.EmitResult("sequence_concat", {{"sequence", {array}}},
               {{"axis", axis}, {"new_axis", c.Attr<bool>("use_stack", false)}, {"dtype", c.DeclaredType({"Out", 0})}});
  if (c.ResultCount({"OutIndex", 1}) > 0) {
    c.Result({"OutIndex", 1}, c.Emit("sequence_sizes", {{"sequence", {array}}}, {{"axis", axis}}));
  }
}

}  // namespace

REGISTER_CONVERTER(pir, create_array, &Convert<Create>);
REGISTER_CONVERTER(pir, create_array_like, &Convert<Create>);
REGISTER_CONVERTER(paddle, write_to_array, &Convert<Write>);
REGISTER_CONVERTER(pir, array_write_, &Convert<Write>);
REGISTER_CONVERTER(paddle, read_from_array, &Convert<Read>);
REGISTER_CONVERTER(pir, array_read, &Convert<Read>);
REGISTER_CONVERTER(paddle, lod_array_length, &Convert<Length>);
REGISTER_CONVERTER(pir, array_length, &Convert<Length>);
REGISTER_CONVERTER(paddle, tensor_array_to_tensor, &Convert<ToTensor>);
REGISTER_CONVERTER(pir, array_to_tensor, &Convert<ToTensor>);

}  // namespace wherry::paddle
