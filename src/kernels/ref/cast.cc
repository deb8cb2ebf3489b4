// Conversion between element types.
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"

namespace wherry::ref {
namespace {

template <typename To, typename From>
To Convert(From value) {
  const Wide<From> wide = Load(value);
  if constexpr (std::same_as<To, bool>) {
    return wide != Wide<From>{0};
  } else if constexpr (FloatElement<To>) {
    // f32 from an integer in one rounding: by way of double, 64-bit integers would be rounded twice.
    if constexpr (std::integral<From> && std::same_as<To, float>) return static_cast<float>(wide);
    return Store<To>(static_cast<double>(wide));
  } else if constexpr (FloatElement<From>) {
    using Limits = std::numeric_limits<To>;
    if (std::isnan(wide)) return 0;
    // Both bounds are powers of two (or 0), so exact in double: lowest, and highest + 1.
    constexpr double kBeyond = 2.0 * static_cast<double>(Limits::max() / 2 + 1);
    if (wide >= kBeyond) return Limits::max();
    return wide <= static_cast<double>(Limits::min()) ? Limits::min() : static_cast<To>(wide);
  } else {
    return static_cast<To>(wide);  // wraps
  }
}

template <typename To, typename From>
void ConvertAll(const DenseTensor& x, DenseTensor* out) {
  const From* from = x.data<From>();
  To* to = out->mutable_data<To>();
  for (int64_t i = 0, count = x.numel(); i < count; ++i) to[i] = Convert<To>(from[i]);
}

template <typename T>
void Cast(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  switch (out->dtype()) {
    case DataType::kBool: return ConvertAll<bool, T>(x, out);
    case DataType::kInt8: return ConvertAll<int8_t, T>(x, out);
    case DataType::kUInt8: return ConvertAll<uint8_t, T>(x, out);
    case DataType::kInt16: return ConvertAll<int16_t, T>(x, out);
    case DataType::kUInt16: return ConvertAll<uint16_t, T>(x, out);
    case DataType::kInt32: return ConvertAll<int32_t, T>(x, out);
    case DataType::kUInt32: return ConvertAll<uint32_t, T>(x, out);
    case DataType::kInt64: return ConvertAll<int64_t, T>(x, out);
    case DataType::kUInt64: return ConvertAll<uint64_t, T>(x, out);
    case DataType::kFP16: return ConvertAll<Float16, T>(x, out);
    case DataType::kBF16: return ConvertAll<BFloat16, T>(x, out);
    case DataType::kFloat: return ConvertAll<float, T>(x, out);
    case DataType::kFP64: return ConvertAll<double, T>(x, out);
    default:
      Throw(ErrorCode::kUnsupported, "cast from ", ToString(x.dtype()), " to ", ToString(out->dtype()),
            " is not implemented");
  }
}

}  // namespace

REGISTER_KERNEL(cast, ref, kHost, kNCHW, Cast, WHERRY_REF_ALL);

}  // namespace wherry::ref
