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

// The tensor at an index, from the end where it is negative, and the array without it.
void Pop(OpContext& c) {
  const std::string array = c.Input({"input", 0});
  const std::string index = c.ConstantScalar(Scalar(c.Attr<int64_t>("index", -1)), DataType::kInt64);
  c.Result({"array_out", 0}, c.Emit("sequence_erase", {{"sequence", {array}}, {"position", {index}}}));
  c.Result({"out", 1}, c.Emit("sequence_at", {{"sequence", {array}}, {"position", {index}}},
                              {{"dtype", c.DeclaredType({"out", 1})}}));
}

std::vector<int64_t> KnownBound(OpContext& c, Param param, const char* name) {
  std::vector<int64_t> bound = c.KnownInts(param, {nullptr}, name);
  if (bound.size() != 1) c.Corrupt(name, " has ", bound.size(), " numbers, expected 1");
  return bound;
}

// The tensors from one number to another, of an array whose length is not known: it is read from the front.
void SliceArray(OpContext& c) {
  const std::string array = c.Input({"input", 0});
  const int64_t start = KnownBound(c, {nullptr, 1}, "starts")[0];
  const int64_t end = KnownBound(c, {nullptr, 2}, "ends")[0];
  constexpr int64_t kMost = 256;
  if (start < 0 || end < start || end - start > kMost) c.Unsupported("it takes tensors ", start, " to ", end);
  std::vector<std::string> parts;
  for (int64_t i = start; i < end; ++i) {
    const std::string position = c.ConstantScalar(Scalar(i), DataType::kInt64);
    parts.push_back(c.Emit("sequence_at", {{"sequence", {array}}, {"position", {position}}},
                           {{"dtype", c.block().program().ElementType(array)}}));
  }
  c.EmitResult("sequence_construct", {{"x", parts}});
}

void SliceArrayDense(OpContext& c) {
  const std::string position = c.ConstantScalar(Scalar(KnownBound(c, {nullptr, 1}, "starts")[0]), DataType::kInt64);
  c.EmitResult("sequence_at", {{"sequence", {c.Input({"input", 0})}}, {"position", {position}}},
               {{"dtype", c.DeclaredType({"out", 0})}});
}

}  // namespace

REGISTER_CONVERTER(pir, create_array, &Convert<Create, 0>);
REGISTER_CONVERTER(pir, create_array_like, &Convert<Create, 1>);
REGISTER_CONVERTER(paddle, write_to_array, &Convert<Write>);
REGISTER_CONVERTER(pir, array_write_, &Convert<Write, 3>);
REGISTER_CONVERTER(paddle, read_from_array, &Convert<Read>);
REGISTER_CONVERTER(pir, array_read, &Convert<Read, 2>);
REGISTER_CONVERTER(paddle, lod_array_length, &Convert<Length>);
REGISTER_CONVERTER(pir, array_length, &Convert<Length, 1>);
REGISTER_CONVERTER(paddle, tensor_array_to_tensor, &Convert<ToTensor>);
REGISTER_CONVERTER(pir, array_pop, &Convert<Pop, 1, 2>);
REGISTER_CONVERTER(pir, slice_array, &Convert<SliceArray, 3>);
REGISTER_CONVERTER(pir, slice_array_dense, &Convert<SliceArrayDense, 2>);
REGISTER_CONVERTER(pir, array_to_tensor, &Convert<ToTensor, 1, 2>);

}  // namespace wherry::paddle
