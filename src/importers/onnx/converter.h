// What the converters of ONNX's operators work with:
//
//   void Size(OnnxContext& c) { c.EmitResult("prod", {{"x", {c.Unary("shape", c.Input(0))}}}); }
//   REGISTER_CONVERTER(onnx, Size, &Convert<Size>);
//
// A converter serves all opsets of its type.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "importer/convert_context.h"
#include "importer/importer.h"
#include "importers/onnx/model_proto.h"
#include "importers/onnx/tensor_reader.h"

namespace wherry::onnx {

// A list of integers that is known now or comes from a tensor.
struct Ints {
  std::optional<std::vector<int64_t>> values;
  std::string tensor;  // if not known
};

class OnnxContext : public ConvertContext {
 public:
  using ConvertContext::ConstantInts;
  // `node`: whose operator `op` is, with the same attributes but for those that a function's caller gives.
  OnnxContext(const ForeignOp& op, const NodeProto& node, BlockBuilder* block, TensorReader* tensors)
      : ConvertContext(op, block), node_(node), tensors_(*tensors) {}

  // What adds operators to a block of this operator's, for the same inputs and attributes.
  OnnxContext Inside(BlockBuilder* block) const { return OnnxContext(op(), node_, block, &tensors_); }

  int opset() const { return op().opset; }
  bool HasInput(size_t position) const { return !OptionalInput(position).empty(); }
  bool HasOutput(size_t position) const;
  size_t InputCount() const { return op().inputs.size(); }

  // An attribute that is a tensor. Absent: Error(kCorrupt).
  bool HasTensor(const std::string& name) const { return node_.tensors.count(name) != 0; }
  DenseTensor Tensor(const std::string& name);

  // A list given as the input at `position`. Absent: nullopt.
  std::optional<Ints> IntsAt(size_t position) const;
  // The input at `position` or, where that is absent, the attribute, as older opsets have it.
  std::optional<Ints> OptionalInts(size_t position, const std::string& attr) const;
  // The same, and it must be known now, else Unsupported(). `what` names it in messages.
  std::optional<std::vector<int64_t>> KnownInts(size_t position, const std::string& attr) const;
  // Adds it as an op's IntArray argument: an attribute if it is known, else the tensor.
  static void Pass(const char* name, const Ints& ints, OpInputs* inputs, OpAttrs* attrs);
  // The input at `position` as an op's Scalar argument. Nothing happens if it is absent.
  void PassScalar(const char* name, size_t position, OpInputs* inputs, OpAttrs* attrs) const;

  // An axis that counts from the end when it is negative, for a value of this rank; `past_end`: the rank itself is one.
  int64_t Axis(int64_t axis, int rank, bool past_end = false) const;

  // Short forms for values that converters build from several operators.
  std::string Unary(const std::string& type, const std::string& x) { return Emit(type, {{"x", {x}}}); }
  std::string Binary(const std::string& type, const std::string& x, const std::string& y) {
    return Emit(type, {{"x", {x}}, {"y", {y}}});
  }
  std::string Scaled(const std::string& x, double scale, double bias = 0.0);
  std::string Reshaped(const std::string& x, std::vector<int64_t> shape);
  std::string Unsqueezed(const std::string& x, std::vector<int64_t> axes);
  std::string Squeezed(const std::string& x, std::vector<int64_t> axes);
  std::string Cast(const std::string& x, DataType dtype);
  // [the product of the dimensions before `axis`, that of the others]; axis from 0 to the rank.
  std::string AsMatrix(const std::string& x, int64_t axis);
  // One dimension of x, as i64[1].
  std::string Dimension(const std::string& x, int64_t axis);
  // 0, 1, ... up to but without that dimension, along axis 0 of a tensor with `behind` more axes of 1.
  std::string PositionsAlong(const std::string& x, int64_t axis, int64_t behind);
  // `value` in the type of `x`, rank 0.
  std::string Like(const std::string& x, double value) { return ConstantScalar(Scalar(value), TypeOf(x)); }

 private:
  const NodeProto& node_;
  TensorReader& tensors_;
};

// The form that REGISTER_CONVERTER takes.
template <void (*Fn)(OnnxContext&)>
void Convert(void* context) {
  Fn(*static_cast<OnnxContext*>(context));
}

}  // namespace wherry::onnx
