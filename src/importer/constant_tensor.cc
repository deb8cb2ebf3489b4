#include "importer/constant_tensor.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace wherry {

namespace {

template <typename T>
T Converted(const Scalar& value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return T(value.to<float>());
  } else {
    return value.to<T>();
  }
}

// Calls fn(T()) with the C++ type of the elements.
template <typename Fn>
void WithType(DataType dtype, Fn fn) {
  switch (dtype) {
    case DataType::kBool: return fn(bool());
    case DataType::kInt8: return fn(int8_t());
    case DataType::kUInt8: return fn(uint8_t());
    case DataType::kInt16: return fn(int16_t());
    case DataType::kUInt16: return fn(uint16_t());
    case DataType::kInt32: return fn(int32_t());
    case DataType::kUInt32: return fn(uint32_t());
    case DataType::kInt64: return fn(int64_t());
    case DataType::kUInt64: return fn(uint64_t());
    case DataType::kFP16: return fn(Float16());
    case DataType::kBF16: return fn(BFloat16());
    case DataType::kFloat: return fn(float());
    case DataType::kFP64: return fn(double());
    default: Throw(ErrorCode::kUnsupported, "a constant of type ", ToString(dtype));
  }
}

}  // namespace

DenseTensor FilledTensor(const Shape& shape, const Scalar& value, DataType dtype) {
  DenseTensor tensor;
  WithType(dtype, [&](auto type) {
    tensor = DenseTensor(HostAllocator(), TensorMeta{dtype, shape});
    using T = decltype(type);
    std::fill_n(tensor.mutable_data<T>(), tensor.numel(), Converted<T>(value));
  });
  return tensor;
}

DenseTensor TensorOfScalars(const Shape& shape, const std::vector<Scalar>& values, DataType dtype) {
  WHERRY_ENFORCE(shape.numel() == static_cast<int64_t>(values.size()), kInvalidArgument, "a constant of shape ",
                 shape.DebugString(), " has ", values.size(), " values");
  DenseTensor tensor;
  WithType(dtype, [&](auto type) {
    tensor = DenseTensor(HostAllocator(), TensorMeta{dtype, shape});
    using T = decltype(type);
    std::transform(values.begin(), values.end(), tensor.mutable_data<T>(),
                   [](const Scalar& value) { return Converted<T>(value); });
  });
  return tensor;
}

DenseTensor IntsTensor(const std::vector<int64_t>& values) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kInt64, Shape{static_cast<int64_t>(values.size())}});
  std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
  return tensor;
}

DenseTensor TensorOfBytes(const TensorMeta& meta, std::span<const std::byte> data, const FileBytes& file) {
  WHERRY_CHECK(data.size() == meta.nbytes(), data.size(), " bytes for ", meta.DebugString());
  if (meta.dtype == DataType::kBool || data.empty()) {
    DenseTensor tensor(HostAllocator(), meta);
    std::transform(data.begin(), data.end(), static_cast<std::byte*>(tensor.mutable_raw_data()),
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
    return tensor;
  }
  const size_t alignment = std::max<size_t>(SizeOf(meta.dtype), 1);  // of the complex types less would do
  constexpr size_t kSmall = 4096;                                    // not worth deferring
  if (reinterpret_cast<uintptr_t>(data.data()) % alignment != 0 && data.size() <= kSmall) {
    DenseTensor tensor(HostAllocator(), meta);
    std::memcpy(tensor.mutable_raw_data(), data.data(), data.size());
    return tensor;
  }
  return DenseTensor(meta, Buffer::OfFile(file, data, alignment));
}

}  // namespace wherry
