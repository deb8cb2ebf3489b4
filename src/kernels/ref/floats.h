// Values between types: tensors of coordinates read as doubles, and doubles written as elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/check.h"
#include "core/dense_tensor.h"
#include "kernels/ref/element.h"

namespace wherry::ref {

template <typename T>
std::vector<double> AsDoubles(const DenseTensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.numel()));
  std::transform(tensor.data<T>(), tensor.data<T>() + tensor.numel(), values.begin(),
                 [](T value) { return static_cast<double>(Load(value)); });
  return values;
}

// All elements of a float tensor.
inline std::vector<double> FloatsOf(const DenseTensor& tensor) {
  switch (tensor.dtype()) {
    case DataType::kFloat: return AsDoubles<float>(tensor);
    case DataType::kFP64: return AsDoubles<double>(tensor);
    case DataType::kFP16: return AsDoubles<Float16>(tensor);
    case DataType::kBF16: return AsDoubles<BFloat16>(tensor);
    default: Throw(ErrorCode::kInvalidArgument, "a tensor of ", ToString(tensor.dtype()), ", expected floats");
  }
}

// All elements of an i32 or i64 tensor.
inline std::vector<int64_t> IntsOf(const DenseTensor& tensor) {
  if (tensor.dtype() == DataType::kInt32) {
    return {tensor.data<int32_t>(), tensor.data<int32_t>() + tensor.numel()};
  }
  return {tensor.data<int64_t>(), tensor.data<int64_t>() + tensor.numel()};
}

// Integers are cut off towards zero, within their range; NaN is 0.
template <typename T>
T FromDouble(double value) {
  if constexpr (FloatElement<T>) {
    return Store<T>(value);
  } else if constexpr (std::same_as<T, bool>) {
    return value != 0.0;
  } else {
    if (std::isnan(value)) return 0;
    // The limits of 64-bit types are no doubles: the largest rounds up to one that does not fit.
    if (value <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
    if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(value);
  }
}

}  // namespace wherry::ref
