#include "importer/constant_tensor.h"

#include <algorithm>

#include "base/check.h"

namespace wherry {

namespace {

template <typename T>
void Fill(const Scalar& value, DenseTensor* tensor) {
  T element;
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    element = T(value.to<float>());
  } else {
    element = value.to<T>();
  }
  std::fill_n(tensor->mutable_data<T>(), tensor->numel(), element);
}

}  // namespace

DenseTensor FilledTensor(const Shape& shape, const Scalar& value, DataType dtype) {
  WHERRY_ENFORCE(SizeOf(dtype) > 0, kUnsupported, "a constant of type ", ToString(dtype));
  DenseTensor tensor(HostAllocator(), TensorMeta{dtype, shape});
  switch (dtype) {
    case DataType::kBool: Fill<bool>(value, &tensor); break;
    case DataType::kInt8: Fill<int8_t>(value, &tensor); break;
    case DataType::kUInt8: Fill<uint8_t>(value, &tensor); break;
    case DataType::kInt16: Fill<int16_t>(value, &tensor); break;
    case DataType::kUInt16: Fill<uint16_t>(value, &tensor); break;
    case DataType::kInt32: Fill<int32_t>(value, &tensor); break;
    case DataType::kUInt32: Fill<uint32_t>(value, &tensor); break;
    case DataType::kInt64: Fill<int64_t>(value, &tensor); break;
    case DataType::kUInt64: Fill<uint64_t>(value, &tensor); break;
    case DataType::kFP16: Fill<Float16>(value, &tensor); break;
    case DataType::kBF16: Fill<BFloat16>(value, &tensor); break;
    case DataType::kFloat: Fill<float>(value, &tensor); break;
    case DataType::kFP64: Fill<double>(value, &tensor); break;
    default: Throw(ErrorCode::kUnsupported, "a constant of type ", ToString(dtype));
  }
  return tensor;
}

DenseTensor IntsTensor(const std::vector<int64_t>& values) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kInt64, Shape{static_cast<int64_t>(values.size())}});
  std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
  return tensor;
}

}  // namespace wherry
