#include "kernels/ref/storage_types.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace wherry::ref {
namespace {

// A small float: sign, exponent, mantissa bits. The codes of the non-negative finite values are 0 ... largest, in
// rising order, those with the sign bit the same negated.
struct SmallFloat {
  int mantissa_bits;
  int bias;
  uint8_t largest;   // code of the largest finite value
  uint8_t infinity;  // 0: there is none
  uint8_t nan;       // codes from here to just below the sign bit are NaN, with either sign
  uint8_t sign;      // the bit
  // "fnuz": -0 is none, its code is the only NaN.
  bool unsigned_zero;
};
constexpr SmallFloat kE4M3FN = {3, 7, 0x7E, 0, 0x7F, 0x80, false};
constexpr SmallFloat kE5M2 = {2, 15, 0x7B, 0x7C, 0x7D, 0x80, false};
constexpr SmallFloat kE4M3FNUZ = {3, 8, 0x7F, 0, 0x80, 0x80, true};
constexpr SmallFloat kE5M2FNUZ = {2, 16, 0x7F, 0, 0x80, 0x80, true};
constexpr SmallFloat kE2M1 = {1, 1, 0x07, 0, 0x08, 0x08, false};

// Null: an integer, or f8e8m0.
const SmallFloat* FormatOf(DataType dtype) {
  switch (dtype) {
    case DataType::kFP8E4M3FN: return &kE4M3FN;
    case DataType::kFP8E5M2: return &kE5M2;
    case DataType::kFP8E4M3FNUZ: return &kE4M3FNUZ;
    case DataType::kFP8E5M2FNUZ: return &kE5M2FNUZ;
    case DataType::kFP4E2M1: return &kE2M1;
    default: return nullptr;
  }
}

double DecodeMagnitude(const SmallFloat& format, uint8_t code) {
  if (code >= format.nan) return std::numeric_limits<double>::quiet_NaN();
  if (format.infinity != 0 && code == format.infinity) return std::numeric_limits<double>::infinity();
  const int exponent = code >> format.mantissa_bits;
  const int mantissa = code & ((1 << format.mantissa_bits) - 1);
  // Exponent 0 is subnormal: no implied leading one, and the scale of exponent 1.
  const int significand = exponent == 0 ? mantissa : mantissa + (1 << format.mantissa_bits);
  return std::ldexp(significand, std::max(exponent, 1) - format.bias - format.mantissa_bits);
}

uint8_t EncodeSmallFloat(const SmallFloat& format, double value, bool saturate) {
  if (std::isnan(value)) {
    if (format.unsigned_zero || format.nan == format.sign) return format.sign;
    return static_cast<uint8_t>((std::signbit(value) ? format.sign : 0) | (format.sign - 1));
  }
  const double magnitude = std::fabs(value);
  const auto with_sign = [&](uint8_t code) {
    const bool minus = std::signbit(value) && !(format.unsigned_zero && code == 0);
    return static_cast<uint8_t>(code | (minus ? format.sign : 0));
  };
  uint8_t low = 0;  // the last code whose value is not above the magnitude
  uint8_t high = format.largest;
  while (low < high) {
    const uint8_t middle = static_cast<uint8_t>((low + high + 1) / 2);
    if (DecodeMagnitude(format, middle) <= magnitude) {
      low = middle;
    } else {
      high = static_cast<uint8_t>(middle - 1);
    }
  }
  if (low == format.largest) {
    // Where the next value would be if there were one.
    const double last = DecodeMagnitude(format, low);
    const double half = (last - DecodeMagnitude(format, static_cast<uint8_t>(low - 1))) / 2.0;
    const bool beyond = magnitude - last > half || (magnitude - last == half && low % 2 == 1);
    if (saturate || !beyond || format.nan == format.sign) {
      return beyond && !saturate && format.unsigned_zero ? format.sign : with_sign(low);
    }
    return with_sign(format.infinity != 0 ? format.infinity : format.nan);
  }
  const double below = magnitude - DecodeMagnitude(format, low);
  const double above = DecodeMagnitude(format, static_cast<uint8_t>(low + 1)) - magnitude;
  const bool up = above < below || (above == below && low % 2 == 1);
  return with_sign(static_cast<uint8_t>(low + (up ? 1 : 0)));
}

// Code c stands for 2^(c - 127), 255 for NaN.
constexpr int kE8M0Bias = 127;

uint8_t EncodePowerOfTwo(double value, bool saturate) {
  constexpr uint8_t kNan = 0xFF;
  constexpr int kLargest = 0xFE;
  if (std::isnan(value) || (!saturate && !(value > 0.0 && std::isfinite(value)))) return kNan;
  if (value <= 0.0) return 0;
  if (std::isinf(value)) return kLargest;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // in [0.5, 1)
  const int code = exponent + kE8M0Bias - (fraction == 0.5 ? 1 : 0);
  if (code > kLargest) return saturate ? kLargest : kNan;
  return static_cast<uint8_t>(std::max(code, 0));
}

bool IsSigned(DataType dtype) { return dtype == DataType::kInt4 || dtype == DataType::kInt2; }

uint8_t EncodeSmallInt(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kBeyond = 1 << 30;  // far outside; the low bits of what is there are as good as any
  return static_cast<uint8_t>(static_cast<int>(std::clamp(value, -kBeyond, kBeyond)));
}

float DecodeSmallInt(DataType dtype, int bits, uint8_t code) {
  const int limit = 1 << (bits - 1);
  return static_cast<float>(IsSigned(dtype) && code >= limit ? code - 2 * limit : int{code});
}

float DecodeElement(DataType dtype, int bits, uint8_t code) {
  if (dtype == DataType::kFP8E8M0) {
    return code == 0xFF ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0F, code - kE8M0Bias);
  }
  const SmallFloat* const format = FormatOf(dtype);
  if (format == nullptr) return DecodeSmallInt(dtype, bits, code);
  if (format->unsigned_zero && code == format->sign) return std::numeric_limits<float>::quiet_NaN();
  const double magnitude = DecodeMagnitude(*format, static_cast<uint8_t>(code & (format->sign - 1)));
  return static_cast<float>((code & format->sign) != 0 ? -magnitude : magnitude);
}

uint8_t EncodeElement(DataType dtype, double value, bool saturate) {
  if (dtype == DataType::kFP8E8M0) return EncodePowerOfTwo(value, saturate);
  const SmallFloat* const format = FormatOf(dtype);
  return format == nullptr ? EncodeSmallInt(value) : EncodeSmallFloat(*format, value, saturate);
}

}  // namespace

bool IsStorageOnly(DataType dtype) {
  return SubByteBits(dtype) != 0 || dtype == DataType::kFP8E8M0 || FormatOf(dtype) != nullptr;
}

std::vector<float> DecodeStorage(DataType dtype, const void* data, int64_t count) {
  WHERRY_CHECK(IsStorageOnly(dtype), ToString(dtype), " is no storage type");
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  const int bits = SubByteBits(dtype) == 0 ? 8 : SubByteBits(dtype);
  const auto in_byte = static_cast<size_t>(8 / bits);
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto shift = static_cast<int>(i % in_byte) * bits;
    values[i] = DecodeElement(dtype, bits, static_cast<uint8_t>((bytes[i / in_byte] >> shift) & ((1 << bits) - 1)));
  }
  return values;
}

void EncodeStorage(DataType dtype, std::span<const double> values, bool saturate, void* data) {
  WHERRY_CHECK(IsStorageOnly(dtype), ToString(dtype), " is no storage type");
  uint8_t* bytes = static_cast<uint8_t*>(data);
  const int bits = SubByteBits(dtype) == 0 ? 8 : SubByteBits(dtype);
  const auto in_byte = static_cast<size_t>(8 / bits);
  for (size_t i = 0; i < values.size(); ++i) {
    const int code = EncodeElement(dtype, values[i], saturate) & ((1 << bits) - 1);
    const auto shift = static_cast<int>(i % in_byte) * bits;
    bytes[i / in_byte] = static_cast<uint8_t>((shift == 0 ? 0 : bytes[i / in_byte]) | (code << shift));
  }
}

}  // namespace wherry::ref
