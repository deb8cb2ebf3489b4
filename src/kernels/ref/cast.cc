// Conversion between element types.
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/number_strings.h"
#include "kernels/ref/storage_types.h"

namespace wherry::ref {
namespace {

template <typename To, typename From>
To ConvertElement(From value) {
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
    constexpr To kHalfBeyond = Limits::max() / 2 + 1;
    constexpr double kBeyond = 2.0 * static_cast<double>(kHalfBeyond);
    if (wide >= kBeyond) return Limits::max();
    return wide <= static_cast<double>(Limits::min()) ? Limits::min() : static_cast<To>(wide);
  } else {
    return static_cast<To>(wide);  // wraps
  }
}

// Calls convert(To{}) for the element type of the dtype; false for one that has none.
template <typename Convert>
bool WithElementType(DataType dtype, Convert convert) {
  switch (dtype) {
    case DataType::kBool: convert(bool{}); return true;
    case DataType::kInt8: convert(int8_t{}); return true;
    case DataType::kUInt8: convert(uint8_t{}); return true;
    case DataType::kInt16: convert(int16_t{}); return true;
    case DataType::kUInt16: convert(uint16_t{}); return true;
    case DataType::kInt32: convert(int32_t{}); return true;
    case DataType::kUInt32: convert(uint32_t{}); return true;
    case DataType::kInt64: convert(int64_t{}); return true;
    case DataType::kUInt64: convert(uint64_t{}); return true;
    case DataType::kFP16: convert(Float16{}); return true;
    case DataType::kBF16: convert(BFloat16{}); return true;
    case DataType::kFloat: convert(float{}); return true;
    case DataType::kFP64: convert(double{}); return true;
    default: return false;
  }
}

// From elements in memory to `out` of any type.
template <typename From>
void CastElements(const From* from, int64_t count, bool saturate, DenseTensor* out) {
  const bool plain = WithElementType(out->dtype(), [from, count, out](auto element) {
    using To = decltype(element);
    To* to = out->mutable_data<To>();
    for (int64_t i = 0; i < count; ++i) to[i] = ConvertElement<To>(from[i]);
  });
  if (plain) return;
  if (out->dtype() == DataType::kString) {
    for (int64_t i = 0; i < count; ++i) out->mutable_data<std::string>()[i] = NumberString(from[i]);
    return;
  }
  WHERRY_ENFORCE(IsStorageOnly(out->dtype()), kUnsupported, "cast to ", ToString(out->dtype()), " is not implemented");
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(Load(from[i]));
  EncodeStorage(out->dtype(), values, saturate, out->mutable_raw_data());
}

template <typename T>
void Cast(const CpuContext& /*context*/, const DenseTensor& x, bool saturate, DenseTensor* out) {
  CastElements(x.data<T>(), x.numel(), saturate, out);
}

void CastFromStrings(const CpuContext& /*context*/, const DenseTensor& x, bool saturate, DenseTensor* out) {
  const auto* from = x.data<std::string>();
  const int64_t count = x.numel();
  if (IsInteger(out->dtype()) && SizeOf(out->dtype()) > 0) {
    // Beyond 2^53 a double is not exact.
    std::vector<int64_t> values(static_cast<size_t>(count));
    for (size_t i = 0; i < values.size(); ++i) values[i] = IntegerOf(from[i]);
    return CastElements(values.data(), count, saturate, out);
  }
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = NumberOf(from[i]);
  CastElements(values.data(), count, saturate, out);
}

// The storage-only types have no C++ type to be registered with.
void CastFromStorage(const CpuContext& /*context*/, const DenseTensor& x, bool saturate, DenseTensor* out) {
  const std::vector<float> values = DecodeStorage(x.dtype(), x.raw_data(), x.numel());
  CastElements(values.data(), x.numel(), saturate, out);
}

void CopyBits(const DenseTensor& x, DenseTensor* out) { x.CopyBytesTo(out->mutable_raw_data()); }
template <typename T>
void Bitcast(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  CopyBits(x, out);
}
void BitcastStorage(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) { CopyBits(x, out); }

}  // namespace

REGISTER_KERNEL(cast, ref, kHost, kNCHW, Cast, WHERRY_REF_ALL);
REGISTER_KERNEL_VARIANT(cast, ref, strings, kHost, kString, kNCHW).Run(&KernelImpl<&CastFromStrings>::Compute);
REGISTER_KERNEL_VARIANT(cast, ref, storage, kHost, kFP8E4M3FN, kNCHW).Run(&KernelImpl<&CastFromStorage>::Compute);
REGISTER_KERNEL_VARIANT(cast, ref, storage, kHost, kFP8E5M2, kNCHW).Run(&KernelImpl<&CastFromStorage>::Compute);
REGISTER_KERNEL_VARIANT(cast, ref, storage, kHost, kInt4, kNCHW).Run(&KernelImpl<&CastFromStorage>::Compute);
REGISTER_KERNEL_VARIANT(cast, ref, storage, kHost, kUInt4, kNCHW).Run(&KernelImpl<&CastFromStorage>::Compute);
REGISTER_KERNEL_VARIANT(cast, ref, storage, kHost, kInt2, kNCHW).Run(&KernelImpl<&CastFromStorage>::Compute);
REGISTER_KERNEL_VARIANT(cast, ref, storage, kHost, kUInt2, kNCHW).Run(&KernelImpl<&CastFromStorage>::Compute);
REGISTER_KERNEL_VARIANT(cast, ref, storage, kHost, kFP4E2M1, kNCHW).Run(&KernelImpl<&CastFromStorage>::Compute);
REGISTER_KERNEL_VARIANT(cast, ref, storage, kHost, kFP8E4M3FNUZ, kNCHW).Run(&KernelImpl<&CastFromStorage>::Compute);
REGISTER_KERNEL_VARIANT(cast, ref, storage, kHost, kFP8E5M2FNUZ, kNCHW).Run(&KernelImpl<&CastFromStorage>::Compute);
REGISTER_KERNEL_VARIANT(cast, ref, storage, kHost, kFP8E8M0, kNCHW).Run(&KernelImpl<&CastFromStorage>::Compute);
REGISTER_KERNEL(bitcast, ref, kHost, kNCHW, Bitcast, WHERRY_REF_ALL, WHERRY_REF_COMPLEX);
REGISTER_KERNEL_VARIANT(bitcast, ref, storage, kHost, kInt4, kNCHW).Run(&KernelImpl<&BitcastStorage>::Compute);
REGISTER_KERNEL_VARIANT(bitcast, ref, storage, kHost, kUInt4, kNCHW).Run(&KernelImpl<&BitcastStorage>::Compute);
REGISTER_KERNEL_VARIANT(bitcast, ref, storage, kHost, kInt2, kNCHW).Run(&KernelImpl<&BitcastStorage>::Compute);
REGISTER_KERNEL_VARIANT(bitcast, ref, storage, kHost, kUInt2, kNCHW).Run(&KernelImpl<&BitcastStorage>::Compute);
REGISTER_KERNEL_VARIANT(bitcast, ref, storage, kHost, kFP4E2M1, kNCHW).Run(&KernelImpl<&BitcastStorage>::Compute);
REGISTER_KERNEL_VARIANT(bitcast, ref, storage, kHost, kFP8E4M3FNUZ, kNCHW).Run(&KernelImpl<&BitcastStorage>::Compute);
REGISTER_KERNEL_VARIANT(bitcast, ref, storage, kHost, kFP8E5M2FNUZ, kNCHW).Run(&KernelImpl<&BitcastStorage>::Compute);
REGISTER_KERNEL_VARIANT(bitcast, ref, storage, kHost, kFP8E8M0, kNCHW).Run(&KernelImpl<&BitcastStorage>::Compute);
REGISTER_KERNEL_VARIANT(bitcast, ref, storage, kHost, kFP8E4M3FN, kNCHW).Run(&KernelImpl<&BitcastStorage>::Compute);
REGISTER_KERNEL_VARIANT(bitcast, ref, storage, kHost, kFP8E5M2, kNCHW).Run(&KernelImpl<&BitcastStorage>::Compute);

}  // namespace wherry::ref
