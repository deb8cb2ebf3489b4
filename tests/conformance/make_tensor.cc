#include "conformance/make_tensor.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include "base/check.h"

namespace wherry::conformance {

namespace {

// Calls fn with a null pointer to the C++ type of `dtype`.
template <typename Fn>
void Dispatch(DataType dtype, Fn fn) {
  switch (dtype) {
    case DataType::kBool: return fn(static_cast<bool*>(nullptr));
    case DataType::kInt8: return fn(static_cast<int8_t*>(nullptr));
    case DataType::kUInt8: return fn(static_cast<uint8_t*>(nullptr));
    case DataType::kInt16: return fn(static_cast<int16_t*>(nullptr));
    case DataType::kUInt16: return fn(static_cast<uint16_t*>(nullptr));
    case DataType::kInt32: return fn(static_cast<int32_t*>(nullptr));
    case DataType::kUInt32: return fn(static_cast<uint32_t*>(nullptr));
    case DataType::kInt64: return fn(static_cast<int64_t*>(nullptr));
    case DataType::kUInt64: return fn(static_cast<uint64_t*>(nullptr));
    case DataType::kFP16: return fn(static_cast<Float16*>(nullptr));
    case DataType::kBF16: return fn(static_cast<BFloat16*>(nullptr));
    case DataType::kFloat: return fn(static_cast<float*>(nullptr));
    case DataType::kFP64: return fn(static_cast<double*>(nullptr));
    default: Throw(ErrorCode::kUnsupported, "no test data of type ", ToString(dtype));
  }
}

template <typename T>
T FromDouble(double value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    // Infinities and NaN are asked for of every type.
    constexpr auto kLeast = static_cast<double>(std::numeric_limits<T>::min());
    constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
    if (std::isnan(value)) return 0;
    if (value <= kLeast) return std::numeric_limits<T>::min();
    return value >= kMost ? std::numeric_limits<T>::max() : static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
double AsDouble(T value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}

DenseTensor GuardedTensor(const TensorMeta& meta) {
  return DenseTensor(meta, GuardedBuffer(meta.nbytes(), SizeOf(meta.dtype)));
}

template <typename T>
void Fill(const CaseTensor& spec, uint64_t seed, T* out, int64_t count) {
  if (!spec.values.empty()) {
    for (int64_t i = 0; i < count; ++i) out[i] = FromDouble<T>(spec.values[static_cast<size_t>(i)]);
    return;
  }
  constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
  double low = kIsFloat ? -1 : std::is_signed_v<T> ? -9 : 0;
  double high = kIsFloat || std::is_same_v<T, bool> ? 1 : 9;
  if (spec.low <= spec.high) {
    low = spec.low;
    high = spec.high;
  }
  std::mt19937_64 random(seed);
  // The distributions of <random> differ between libraries; these numbers do not.
  for (int64_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random() >> 11U) * 0x1.0p-53;
    out[i] = FromDouble<T>(kIsFloat ? low + unit * (high - low) : std::floor(low + unit * (high - low + 1)));
  }
}

}  // namespace

std::shared_ptr<Buffer> GuardedBuffer(size_t bytes, size_t element_size) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t usable = (bytes + page - 1) / page * page;
  void* base = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  WHERRY_ENFORCE(base != MAP_FAILED, kResourceExhausted, "cannot map ", usable + page, " bytes");
  WHERRY_CHECK(mprotect(static_cast<char*>(base) + usable, page, PROT_NONE) == 0, "mprotect");
  WHERRY_CHECK(bytes % element_size == 0, bytes, " bytes are not whole elements");
  void* data = static_cast<char*>(base) + (usable - bytes);
  return std::make_shared<Buffer>(data, bytes, Target::kHost,
                                  [base, usable, page](void*) { munmap(base, usable + page); });
}

DenseTensor MakeTensor(const CaseTensor& spec, uint64_t seed) {
  TensorMeta meta;
  meta.dtype = spec.dtype;
  meta.shape = Shape(spec.shape.data(), spec.shape.size());
  DenseTensor tensor = GuardedTensor(meta);
  Dispatch(spec.dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    Fill(spec, seed, static_cast<T*>(tensor.mutable_raw_data()), tensor.numel());
  });
  return tensor;
}

std::vector<double> ToDoubles(const DenseTensor& tensor) {
  DenseTensor plain = tensor;
  if (tensor.layout() != DataLayout::kNCHW || tensor.meta().pixel_stride != 0) {
    plain = ConvertTensor(tensor, tensor.dtype(), DataLayout::kNCHW);
  }
  std::vector<double> values(static_cast<size_t>(plain.numel()));
  Dispatch(plain.dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const auto* data = static_cast<const T*>(plain.raw_data());
    for (size_t i = 0; i < values.size(); ++i) values[i] = AsDouble(data[i]);
  });
  return values;
}

DenseTensor ConvertTensor(const DenseTensor& tensor, DataType dtype, DataLayout layout, int64_t pixel_padding) {
  TensorMeta meta = tensor.meta();
  meta.layout = layout;
  meta.pixel_stride = 0;
  if (pixel_padding != 0) meta.pixel_stride = meta.effective_pixel_stride() + pixel_padding;
  DenseTensor copy = GuardedTensor(meta);
  CopyHostTensor(tensor, &copy);
  if (dtype == tensor.dtype()) return copy;
  WHERRY_CHECK(layout == DataLayout::kNCHW, "a type is converted in plain layout");
  const std::vector<double> values = ToDoubles(copy);
  meta.dtype = dtype;
  DenseTensor result = GuardedTensor(meta);
  Dispatch(dtype, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    auto* data = static_cast<T*>(result.mutable_raw_data());
    for (size_t i = 0; i < values.size(); ++i) data[i] = FromDouble<T>(values[i]);
  });
  return result;
}

void InjectSpecialValues(DenseTensor* tensor, uint64_t seed) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(), kInf, -kInf, 0.0, -0.0, 6e4, -6e4, 1e-7};
  Dispatch(tensor->dtype(), [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    auto* data = static_cast<T*>(tensor->mutable_raw_data());
    // Every third element or so, so that vectors mix special and ordinary lanes.
    uint64_t next = seed;
    for (int64_t i = static_cast<int64_t>(seed % 3); i < tensor->numel(); i += 3) {
      data[i] = FromDouble<T>(kSpecial[next++ % std::size(kSpecial)]);
    }
  });
}

}  // namespace wherry::conformance
