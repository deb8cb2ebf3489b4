#include "op/meta_tensor.h"

#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "core/tensor_copy.h"

namespace wherry {
namespace {

template <typename T>
std::optional<std::vector<Dim>> ReadValues(const void* data, size_t count) {
  std::vector<Dim> values;
  values.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, static_cast<const char*>(data) + i * sizeof(T), sizeof(T));
    if (!std::in_range<int64_t>(value)) return std::nullopt;
    values.emplace_back(static_cast<int64_t>(value));
  }
  return values;
}

std::optional<std::vector<Dim>> ReadValues(DataType dtype, const void* data, size_t count) {
  switch (dtype) {
    case DataType::kBool:
    case DataType::kUInt8: return ReadValues<uint8_t>(data, count);
    case DataType::kInt8: return ReadValues<int8_t>(data, count);
    case DataType::kInt16: return ReadValues<int16_t>(data, count);
    case DataType::kUInt16: return ReadValues<uint16_t>(data, count);
    case DataType::kInt32: return ReadValues<int32_t>(data, count);
    case DataType::kUInt32: return ReadValues<uint32_t>(data, count);
    case DataType::kInt64: return ReadValues<int64_t>(data, count);
    case DataType::kUInt64: return ReadValues<uint64_t>(data, count);
    default: return std::nullopt;
  }
}

std::vector<std::string> Texts(const std::vector<Dim>& dims) {
  std::vector<std::string> texts;
  for (const Dim& dim : dims) texts.push_back(dim.DebugString());
  return texts;
}

}  // namespace

MetaTensor::MetaTensor(const TensorMeta& meta)
    : dtype(meta.dtype),
      dims(meta.shape.begin(), meta.shape.end()),
      layout(meta.layout),
      pixel_stride(meta.pixel_stride) {}

MetaTensor MetaTensor::UnknownRank(DataType type) {
  MetaTensor meta(type, {});
  meta.rank_known = false;
  return meta;
}

MetaTensor MetaTensor::WithoutValues() const {
  MetaTensor meta(dtype, dims);
  meta.rank_known = rank_known;
  meta.layout = layout;
  meta.pixel_stride = pixel_stride;
  return meta;
}

bool MetaTensor::known() const {
  if (!rank_known) return false;
  for (const Dim& dim : dims) {
    if (!dim.known()) return false;
  }
  return true;
}

Shape MetaTensor::shape() const {
  WHERRY_CHECK(known(), "the shape of ", DebugString(), " is not known");
  Shape shape;
  for (const Dim& dim : dims) shape.push_back(dim.value());
  return shape;
}

TensorMeta MetaTensor::tensor_meta() const { return {dtype, shape(), layout, pixel_stride}; }

std::string MetaTensor::DebugString() const {
  std::string text = StrCat(ToString(dtype), "[", rank_known ? Join(Texts(dims), ",") : "?", "]");
  if (layout != DataLayout::kNCHW) text += StrCat(" ", ToString(layout));
  if (pixel_stride != 0) text += StrCat(" pixel_stride=", pixel_stride);
  if (values) text += StrCat(" = [", Join(Texts(*values), ", "), "]");
  return text;
}

void AttachValues(const DenseTensor& tensor, MetaTensor* meta) {
  if (!tensor.has_data() || !IsHostMemory(tensor.target())) return;
  const bool integers = IsInteger(tensor.dtype()) || tensor.dtype() == DataType::kBool;
  if (!integers || tensor.numel() > MetaTensor::kMaxValues) return;
  const DenseTensor plain = ToPlainHost(tensor);
  if (auto values = ReadValues(plain.dtype(), plain.raw_data(), static_cast<size_t>(plain.numel()))) {
    meta->values = std::move(values);
  }
}

SymIntArray::SymIntArray(const IntArray& array)
    : values(std::vector<Dim>(array.begin(), array.end())), count(static_cast<int64_t>(array.size())) {}

SymIntArray::SymIntArray(const MetaTensor& meta) {
  const bool integers = meta.dtype == DataType::kInt32 || meta.dtype == DataType::kInt64;
  WHERRY_ENFORCE(integers && (!meta.rank_known || meta.rank() <= 1), kInvalidArgument,
                 "a list of integers must be an i32 or i64 tensor of at most one dimension, this is ",
                 meta.DebugString());
  values = meta.values;
  if (values) {
    count = static_cast<int64_t>(values->size());
  } else if (meta.rank_known && meta.known()) {
    count = meta.rank() == 0 ? 1 : meta.dims[0].value();
  }
}

SymScalar::SymScalar(const Scalar& scalar) : value(scalar), dtype(scalar.dtype()) {
  if (IsInteger(dtype)) dim = scalar.to<int64_t>();
}

SymScalar::SymScalar(const MetaTensor& meta) : dtype(meta.dtype) {
  WHERRY_ENFORCE(!meta.known() || meta.shape().numel() == 1, kInvalidArgument,
                 "a scalar must have one element, the tensor is ", meta.DebugString());
  if (!meta.values || meta.values->size() != 1) return;
  const Dim& only = meta.values->front();
  if (IsInteger(dtype)) dim = only;
  const bool number = dtype == DataType::kBool || (IsInteger(dtype) && SizeOf(dtype) != 0);  // not 4-bit
  if (only.known() && number) value = Scalar::OfType(dtype, only.value());
}

}  // namespace wherry
