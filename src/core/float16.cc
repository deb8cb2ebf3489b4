#include <bit>
#include <cstdint>

#include "wherry/types.h"

namespace wherry {

Float16::Float16(float value) {
  const uint32_t source = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (source >> 16U) & 0x8000U;
  const uint32_t magnitude = source & 0x7fffffffU;
  uint32_t result;
  if (magnitude > 0x7f800000U) {  // NaN: keep the upper payload bits, quiet
    result = 0x7e00U | ((magnitude >> 13U) & 0x1ffU);
  } else if (magnitude >= 0x477ff000U) {  // 65520 and more round to infinity
    result = 0x7c00U;
  } else if (magnitude >= 0x38800000U) {  // 2^-14: a normal number
    const uint32_t odd = (magnitude >> 13U) & 1U;
    result = (magnitude - 0x38000000U + 0xfffU + odd) >> 13U;
  } else {
    // A subnormal: adding 0.5 aligns the last bit of a float with 2^-24, and the adder rounds to nearest even.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    result = std::bit_cast<uint32_t>(aligned) - 0x3f000000U;
  }
  bits = static_cast<uint16_t>(result | sign);
}

Float16::operator float() const {
  const uint32_t sign = (bits & 0x8000U) << 16U;
  const uint32_t exponent = (bits >> 10U) & 0x1fU;
  const uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0x1fU) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13U));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;  // exact
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
}

BFloat16::BFloat16(float value) {
  const uint32_t source = std::bit_cast<uint32_t>(value);
  if ((source & 0x7fffffffU) > 0x7f800000U) {  // rounding could carry a NaN into infinity
    bits = static_cast<uint16_t>((source >> 16U) | 0x40U);
    return;
  }
  bits = static_cast<uint16_t>((source + 0x7fffU + ((source >> 16U) & 1U)) >> 16U);
}

BFloat16::operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16U); }

}  // namespace wherry
