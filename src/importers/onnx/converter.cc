#include "importers/onnx/converter.h"

#include <numeric>

#include "base/strings.h"

namespace wherry::onnx {

bool OnnxContext::HasOutput(size_t position) const {
  return position < op().outputs.size() && !op().outputs[position].values.empty();
}

DenseTensor OnnxContext::Tensor(const std::string& name) {
  const auto it = node_.tensors.find(name);
  if (it == node_.tensors.end()) Corrupt("attribute ", name, " is missing or no tensor");
  DenseTensor tensor = tensors_.Read(it->second);
  block().program().SetFileBytes(tensors_.file_bytes());
  return tensor;
}

std::optional<Ints> OnnxContext::IntsAt(size_t position) const {
  const std::string value = OptionalInput(position);
  if (value.empty()) return std::nullopt;
  Ints ints;
  ints.values = ConstantInts(value);
  if (!ints.values) ints.tensor = value;
  return ints;
}

std::optional<Ints> OnnxContext::OptionalInts(size_t position, const std::string& attr) const {
  if (auto ints = IntsAt(position)) return ints;
  if (!HasAttr(attr)) return std::nullopt;
  Ints ints;
  ints.values = Attr<std::vector<int64_t>>(attr);
  return ints;
}

std::optional<std::vector<int64_t>> OnnxContext::KnownInts(size_t position, const std::string& attr) const {
  auto ints = OptionalInts(position, attr);
  if (!ints) return std::nullopt;
  if (!ints->values) Unsupported(attr, " is a tensor that is not constant");
  return std::move(ints->values);
}

void OnnxContext::Pass(const char* name, const Ints& ints, OpInputs* inputs, OpAttrs* attrs) {
  if (ints.values) {
    attrs->emplace_back(name, IntArray(*ints.values));
  } else {
    inputs->emplace_back(name, std::vector<std::string>{ints.tensor});
  }
}

void OnnxContext::PassScalar(const char* name, size_t position, OpInputs* inputs, OpAttrs* attrs) const {
  const std::string value = OptionalInput(position);
  if (value.empty()) return;
  if (auto scalar = ConvertContext::ConstantScalar(value)) {
    attrs->emplace_back(name, *scalar);
  } else {
    inputs->emplace_back(name, std::vector<std::string>{value});
  }
}

int64_t OnnxContext::Axis(int64_t axis, int rank, bool past_end) const {
  const int64_t last = past_end ? rank : rank - 1;
  if (axis < -int64_t{rank} || axis > last) Corrupt("axis ", axis, " of an input of rank ", rank);
  return axis < 0 ? axis + rank : axis;
}

std::string OnnxContext::Scaled(const std::string& x, double scale, double bias) {
  return Emit("scale", {{"x", {x}}}, {{"scale", Scalar(scale)}, {"bias", Scalar(bias)}});
}

std::string OnnxContext::Reshaped(const std::string& x, std::vector<int64_t> shape) {
  return Emit("reshape", {{"x", {x}}}, {{"shape", IntArray(std::move(shape))}});
}

std::string OnnxContext::Unsqueezed(const std::string& x, std::vector<int64_t> axes) {
  return Emit("unsqueeze", {{"x", {x}}}, {{"axis", IntArray(std::move(axes))}});
}

std::string OnnxContext::Squeezed(const std::string& x, std::vector<int64_t> axes) {
  return Emit("squeeze", {{"x", {x}}}, {{"axis", IntArray(std::move(axes))}});
}

std::string OnnxContext::AsMatrix(const std::string& x, int64_t axis) {
  const auto flat = [&](const std::string& value, int64_t first, int64_t last) {
    return Emit("flatten", {{"x", {value}}}, {{"start_axis", first}, {"stop_axis", last}});
  };
  const int rank = Rank(x);
  if (axis == 0) return Unsqueezed(rank == 1 ? x : flat(x, 0, -1), {0});
  if (axis == rank) return Unsqueezed(rank == 1 ? x : flat(x, 0, -1), {1});
  const std::string rows = axis == 1 ? x : flat(x, 0, axis - 1);
  return rank - axis == 1 ? rows : flat(rows, 1, -1);
}

std::string OnnxContext::Dimension(const std::string& x, int64_t axis) {
  return Emit("slice", {{"x", {Unary("shape", x)}}},
              {{"axes", std::vector<int64_t>{0}}, {"starts", IntArray({axis})}, {"ends", IntArray({axis + 1})}});
}

std::string OnnxContext::PositionsAlong(const std::string& x, int64_t axis, int64_t behind) {
  if (axis >= Rank(x)) Corrupt("axis ", axis, " of ", Meta(x).DebugString());
  const Dim size = Meta(x).dims[static_cast<size_t>(axis)];
  const std::string positions = size.known()
                                    ? Emit("arange", {}, {{"start", Scalar(int64_t{0})}, {"end", Scalar(size.value())}})
                                    : Emit("arange", {{"end", {Dimension(x, axis)}}}, {{"start", Scalar(int64_t{0})}});
  std::vector<int64_t> axes(static_cast<size_t>(behind));
  std::iota(axes.begin(), axes.end(), 1);
  return axes.empty() ? positions : Unsqueezed(positions, std::move(axes));
}

std::string OnnxContext::Cast(const std::string& x, DataType dtype) {
  if (TypeOf(x) == dtype) return x;
  return Emit("cast", {{"x", {x}}}, {{"dtype", dtype}});
}

}  // namespace wherry::onnx
