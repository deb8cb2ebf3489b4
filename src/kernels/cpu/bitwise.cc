// Logic of bits with broadcasting, in any layout.
#include <array>
#include <type_traits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

template <typename T>
void RunBits(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out, BitOp op) {
  const std::array<const DenseTensor*, 2> inputs = {&x, &y};
  RunTyped(BitTileOf(op, sizeof(T)), inputs, out, context.pool());
}

#define WHERRY_CPU_BITWISE(name, op)                                                                   \
  template <typename T>                                                                                \
  void name(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) { \
    RunBits<T>(context, x, y, out, BitOp::op);                                                         \
  }
WHERRY_CPU_BITWISE(BitwiseAnd, kAnd)
WHERRY_CPU_BITWISE(BitwiseOr, kOr)
WHERRY_CPU_BITWISE(BitwiseXor, kXor)
#undef WHERRY_CPU_BITWISE

template <typename T>
void BitwiseNot(const CpuContext& context, const DenseTensor& x, DenseTensor* out) {
  const std::array<const DenseTensor*, 1> inputs = {&x};
  const bool is_bool = std::is_same_v<T, bool>;
  RunTyped(is_bool ? LogicTileOf(LogicOp::kNot) : BitTileOf(BitOp::kNot, sizeof(T)), inputs, out, context.pool());
}

// Of unsigned integers: others may be moved by negative numbers, which is an Error.
template <typename T>
void ShiftLeft(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, bool /*is_arithmetic*/,
               DenseTensor* out) {
  RunBits<T>(context, x, y, out, BitOp::kShiftLeft);
}
template <typename T>
void ShiftRight(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, bool /*is_arithmetic*/,
                DenseTensor* out) {
  RunBits<T>(context, x, y, out, BitOp::kShiftRight);
}

}  // namespace

#define WHERRY_CPU_UNSIGNED uint8_t, uint16_t, uint32_t, uint64_t
#define WHERRY_CPU_BITS WHERRY_CPU_UNSIGNED, int8_t, int16_t, int32_t, int64_t, bool
REGISTER_KERNEL(bitwise_and, cpu, kNative, kAny, BitwiseAnd, WHERRY_CPU_BITS).PixelStrides();
REGISTER_KERNEL(bitwise_or, cpu, kNative, kAny, BitwiseOr, WHERRY_CPU_BITS).PixelStrides();
REGISTER_KERNEL(bitwise_xor, cpu, kNative, kAny, BitwiseXor, WHERRY_CPU_BITS).PixelStrides();
REGISTER_KERNEL(bitwise_not, cpu, kNative, kAny, BitwiseNot, WHERRY_CPU_BITS).PixelStrides();
REGISTER_KERNEL(bitwise_left_shift, cpu, kNative, kAny, ShiftLeft, WHERRY_CPU_UNSIGNED).PixelStrides();
REGISTER_KERNEL(bitwise_right_shift, cpu, kNative, kAny, ShiftRight, WHERRY_CPU_UNSIGNED).PixelStrides();

}  // namespace wherry::cpu
