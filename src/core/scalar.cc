#include "wherry/scalar.h"

#include <cstring>
#include <string>

#include "base/check.h"
#include "core/dense_tensor.h"
#include "core/number_text.h"
#include "core/tensor_copy.h"
#include "wherry/tensor.h"

namespace wherry {
namespace {

template <typename T>
T Read(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

DenseTensor HostValues(const Tensor& tensor, const char* what) {
  WHERRY_ENFORCE(tensor.defined(), kInvalidArgument, "an undefined tensor is no ", what);
  return ToPlainHost(*tensor.impl());
}

}  // namespace

Scalar Scalar::OfType(DataType dtype, int64_t value) {
  Scalar scalar;
  scalar.dtype_ = dtype;
  switch (dtype) {
    case DataType::kBool: scalar.integer_ = value != 0 ? 1 : 0; return scalar;
    case DataType::kInt8: scalar.integer_ = static_cast<int8_t>(value); return scalar;
    case DataType::kUInt8: scalar.integer_ = static_cast<uint8_t>(value); return scalar;
    case DataType::kInt16: scalar.integer_ = static_cast<int16_t>(value); return scalar;
    case DataType::kUInt16: scalar.integer_ = static_cast<uint16_t>(value); return scalar;
    case DataType::kInt32: scalar.integer_ = static_cast<int32_t>(value); return scalar;
    case DataType::kUInt32: scalar.integer_ = static_cast<uint32_t>(value); return scalar;
    case DataType::kInt64:
    case DataType::kUInt64: scalar.integer_ = value; return scalar;
    default: Throw(ErrorCode::kInvalidArgument, "the integer ", value, " cannot be a scalar of type ", ToString(dtype));
  }
}

Scalar Scalar::OfType(DataType dtype, double value) {
  Scalar scalar;
  scalar.dtype_ = dtype;
  switch (dtype) {
    case DataType::kFP16: scalar.floating_ = static_cast<float>(Float16(static_cast<float>(value))); return scalar;
    case DataType::kBF16: scalar.floating_ = static_cast<float>(BFloat16(static_cast<float>(value))); return scalar;
    case DataType::kFloat: scalar.floating_ = static_cast<float>(value); return scalar;
    case DataType::kFP64: scalar.floating_ = value; return scalar;
    default:
      Throw(ErrorCode::kInvalidArgument, "the number ", NumberText(value), " cannot be a scalar of type ",
            ToString(dtype));
  }
}

Scalar::Scalar(const Tensor& tensor) {
  const DenseTensor host = HostValues(tensor, "scalar");
  const DataType dtype = host.dtype();
  WHERRY_ENFORCE(host.numel() == 1, kInvalidArgument, "a scalar must have one element, the tensor is ",
                 host.meta().DebugString());
  const void* data = host.raw_data();
  switch (dtype) {
    case DataType::kBool: *this = OfType(dtype, int64_t{Read<uint8_t>(data)}); return;
    case DataType::kInt8: *this = OfType(dtype, int64_t{Read<int8_t>(data)}); return;
    case DataType::kUInt8: *this = OfType(dtype, int64_t{Read<uint8_t>(data)}); return;
    case DataType::kInt16: *this = OfType(dtype, int64_t{Read<int16_t>(data)}); return;
    case DataType::kUInt16: *this = OfType(dtype, int64_t{Read<uint16_t>(data)}); return;
    case DataType::kInt32: *this = OfType(dtype, int64_t{Read<int32_t>(data)}); return;
    case DataType::kUInt32: *this = OfType(dtype, int64_t{Read<uint32_t>(data)}); return;
    case DataType::kInt64:
    case DataType::kUInt64: *this = OfType(dtype, Read<int64_t>(data)); return;
    case DataType::kFP16: *this = OfType(dtype, double{static_cast<float>(Read<Float16>(data))}); return;
    case DataType::kBF16: *this = OfType(dtype, double{static_cast<float>(Read<BFloat16>(data))}); return;
    case DataType::kFloat: *this = OfType(dtype, double{Read<float>(data)}); return;
    case DataType::kFP64: *this = OfType(dtype, Read<double>(data)); return;
    default:
      Throw(ErrorCode::kInvalidArgument, "a scalar must be a bool, an integer or a float, the tensor is ",
            host.meta().DebugString());
  }
}

std::string Scalar::DebugString() const {
  std::string text;
  switch (dtype_) {
    case DataType::kBool: return integer_ != 0 ? "true" : "false";
    case DataType::kInt64: return std::to_string(integer_);
    case DataType::kFP64: return NumberText(floating_);
    case DataType::kUInt64: text = std::to_string(static_cast<uint64_t>(integer_)); break;
    // Every f16 and bf16 is a float, whose text is shorter than the double's.
    default: text = is_floating() ? NumberText(static_cast<float>(floating_)) : std::to_string(integer_); break;
  }
  return StrCat(ToString(dtype_), "(", text, ")");
}

IntArray::IntArray(const Tensor& tensor) {
  const DenseTensor host = HostValues(tensor, "list of integers");
  WHERRY_ENFORCE((host.dtype() == DataType::kInt32 || host.dtype() == DataType::kInt64) && host.shape().rank() <= 1,
                 kInvalidArgument, "a list of integers must be an i32 or i64 tensor of at most one dimension, this is ",
                 host.meta().DebugString());
  const char* data = static_cast<const char*>(host.raw_data());
  const size_t size = SizeOf(host.dtype());
  const auto count = static_cast<size_t>(host.numel());
  values_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    values_.push_back(size == 4 ? Read<int32_t>(data + i * size) : Read<int64_t>(data + i * size));
  }
}

}  // namespace wherry
