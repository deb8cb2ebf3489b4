// Comparisons, logic of bools and selection, with broadcasting, in any layout.
#include <initializer_list>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/element_types.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

void RunTile(const CpuContext& context, TypedTile tile, std::initializer_list<const DenseTensor*> inputs,
             DenseTensor* out) {
  RunTyped(tile, {inputs.begin(), inputs.size()}, out, context.pool());
}

// `left` and `right` are x and y in the order in which the loop takes them.
#define WHERRY_CPU_COMPARISON(name, op, left, right)                                                   \
  template <typename T>                                                                                \
  void name(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) { \
    RunTile(context, TypedTileOf(TypedOp::op, x.dtype()), {&(left), &(right)}, out);                   \
  }
WHERRY_CPU_COMPARISON(Equal, kEqual, x, y)
WHERRY_CPU_COMPARISON(NotEqual, kNotEqual, x, y)
WHERRY_CPU_COMPARISON(LessThan, kLess, x, y)
WHERRY_CPU_COMPARISON(LessEqual, kLessEqual, x, y)
WHERRY_CPU_COMPARISON(GreaterThan, kLess, y, x)
WHERRY_CPU_COMPARISON(GreaterEqual, kLessEqual, y, x)
#undef WHERRY_CPU_COMPARISON

#define WHERRY_CPU_LOGIC(name, op)                                                                     \
  template <typename T>                                                                                \
  void name(const CpuContext& context, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) { \
    RunTile(context, LogicTileOf(LogicOp::op), {&x, &y}, out);                                         \
  }
WHERRY_CPU_LOGIC(LogicalAnd, kAnd)
WHERRY_CPU_LOGIC(LogicalOr, kOr)
WHERRY_CPU_LOGIC(LogicalXor, kXor)
#undef WHERRY_CPU_LOGIC

template <typename T>
void LogicalNot(const CpuContext& context, const DenseTensor& x, DenseTensor* out) {
  RunTile(context, LogicTileOf(LogicOp::kNot), {&x}, out);
}

// NaN is what differs from itself.
template <typename T>
void IsNan(const CpuContext& context, const DenseTensor& x, DenseTensor* out) {
  RunTile(context, TypedTileOf(TypedOp::kNotEqual, x.dtype()), {&x, &x}, out);
}

template <typename T>
void Where(const CpuContext& context, const DenseTensor& condition, const DenseTensor& x, const DenseTensor& y,
           DenseTensor* out) {
  RunTile(context, SelectTileOf(sizeof(T)), {&condition, &x, &y}, out);
}

}  // namespace

#define WHERRY_CPU_COMPARABLE float, int32_t, int64_t, uint8_t, bool
REGISTER_KERNEL(equal, cpu, kNative, kAny, Equal, WHERRY_CPU_COMPARABLE).PixelStrides();
REGISTER_KERNEL(not_equal, cpu, kNative, kAny, NotEqual, WHERRY_CPU_COMPARABLE).PixelStrides();
REGISTER_KERNEL(less_than, cpu, kNative, kAny, LessThan, WHERRY_CPU_COMPARABLE).PixelStrides();
REGISTER_KERNEL(less_equal, cpu, kNative, kAny, LessEqual, WHERRY_CPU_COMPARABLE).PixelStrides();
REGISTER_KERNEL(greater_than, cpu, kNative, kAny, GreaterThan, WHERRY_CPU_COMPARABLE).PixelStrides();
REGISTER_KERNEL(greater_equal, cpu, kNative, kAny, GreaterEqual, WHERRY_CPU_COMPARABLE).PixelStrides();
REGISTER_KERNEL(logical_and, cpu, kNative, kAny, LogicalAnd, bool).PixelStrides();
REGISTER_KERNEL(logical_or, cpu, kNative, kAny, LogicalOr, bool).PixelStrides();
REGISTER_KERNEL(logical_xor, cpu, kNative, kAny, LogicalXor, bool).PixelStrides();
REGISTER_KERNEL(logical_not, cpu, kNative, kAny, LogicalNot, bool).PixelStrides();
REGISTER_KERNEL(isnan, cpu, kNative, kAny, IsNan, float).PixelStrides();
REGISTER_KERNEL(where, cpu, kNative, kAny, Where, WHERRY_CPU_ALL).PixelStrides();

}  // namespace wherry::cpu
