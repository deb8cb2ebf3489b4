#include "kernels/ref/storage_types.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace wherry::ref {
namespace {

// A small float: sign, exponent, mantissa bits. The codes of the non-negative finite values are 0 ... largest, in
// rising order.
struct SmallFloat {
  int mantissa_bits;
  int bias;
  uint8_t largest;   // code of the largest finite value
  uint8_t infinity;  // 0: there is none
  uint8_t nan;       // codes from here to 0x7f are NaN
};
constexpr SmallFloat kE4M3FN = {3, 7, 0x7E, 0, 0x7F};
constexpr SmallFloat kE5M2 = {2, 15, 0x7B, 0x7C, 0x7D};

const SmallFloat& FormatOf(DataType dtype) { return dtype == DataType::kFP8E4M3FN ? kE4M3FN : kE5M2; }

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
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (std::isnan(value)) return sign | 0x7F;
  const double magnitude = std::fabs(value);
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
    if (saturate || !beyond) return sign | low;
    return sign | (format.infinity != 0 ? format.infinity : format.nan);
  }
  const double below = magnitude - DecodeMagnitude(format, low);
  const double above = DecodeMagnitude(format, static_cast<uint8_t>(low + 1)) - magnitude;
  const bool up = above < below || (above == below && low % 2 == 1);
  return sign | static_cast<uint8_t>(low + (up ? 1 : 0));
}

uint8_t EncodeNibble(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kBeyond = 1 << 30;  // far outside; the low bits of what is there are as good as any
  return static_cast<uint8_t>(static_cast<int>(std::clamp(value, -kBeyond, kBeyond)) & 0xF);
}

float DecodeNibble(DataType dtype, uint8_t nibble) {
  return static_cast<float>(dtype == DataType::kInt4 && nibble >= 8 ? nibble - 16 : int{nibble});
}

bool IsNibble(DataType dtype) { return dtype == DataType::kInt4 || dtype == DataType::kUInt4; }

}  // namespace

bool IsStorageOnly(DataType dtype) {
  return IsNibble(dtype) || dtype == DataType::kFP8E4M3FN || dtype == DataType::kFP8E5M2;
}

std::vector<float> DecodeStorage(DataType dtype, const void* data, int64_t count) {
  WHERRY_CHECK(IsStorageOnly(dtype), ToString(dtype), " is no storage type");
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    if (IsNibble(dtype)) {
      values[i] = DecodeNibble(dtype, static_cast<uint8_t>(i % 2 == 0 ? bytes[i / 2] & 0xF : bytes[i / 2] >> 4));
    } else {
      const double magnitude = DecodeMagnitude(FormatOf(dtype), bytes[i] & 0x7F);
      values[i] = static_cast<float>((bytes[i] & 0x80) != 0 ? -magnitude : magnitude);
    }
  }
  return values;
}

void EncodeStorage(DataType dtype, std::span<const double> values, bool saturate, void* data) {
  WHERRY_CHECK(IsStorageOnly(dtype), ToString(dtype), " is no storage type");
  uint8_t* bytes = static_cast<uint8_t*>(data);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!IsNibble(dtype)) {
      bytes[i] = EncodeSmallFloat(FormatOf(dtype), values[i], saturate);
    } else if (i % 2 == 0) {
      bytes[i / 2] = EncodeNibble(values[i]);
    } else {
      bytes[i / 2] = static_cast<uint8_t>(bytes[i / 2] | (EncodeNibble(values[i]) << 4));
    }
  }
}

}  // namespace wherry::ref
