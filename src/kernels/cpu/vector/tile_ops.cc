#include "kernels/cpu/vector/tile_ops.h"

#include <utility>

#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/tile_ops.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/activation-inl.h"
#include "kernels/cpu/simd/pow-inl.h"
#include "kernels/cpu/vector/reduce-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

using Op = ElementwiseOp;

template <Op kOp>
HWY_INLINE FloatVec Binary(FloatVec x, FloatVec y) {
  if constexpr (kOp == Op::kAdd) {
    return hn::Add(x, y);
  } else if constexpr (kOp == Op::kSub) {
    return hn::Sub(x, y);
  } else if constexpr (kOp == Op::kMul) {
    return hn::Mul(x, y);
  } else if constexpr (kOp == Op::kDiv) {
    return hn::Div(x, y);
  } else if constexpr (kOp == Op::kMax) {
    return MaxNan(x, y);
  } else if constexpr (kOp == Op::kMin) {
    return MinNan(x, y);
  } else {
    static_assert(kOp == Op::kPow);
    return Pow(x, y);
  }
}

template <Op kOp>
HWY_INLINE FloatVec Unary(FloatVec x, FloatVec a, FloatVec b) {
  return Activate<static_cast<ActKind>(static_cast<int>(kOp) - static_cast<int>(Op::kActivation))>(x, a, b);
}

template <Op kOp>
void Tile(const float* x, const float* y, float* out, int64_t n, float a, float b) {
  if constexpr (kOp <= Op::kPow) {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) Store(Binary<kOp>(Load(x + i), Load(y + i)), out + i);
    if (i < n) StoreN(Binary<kOp>(LoadN(x + i, n - i), LoadN(y + i, n - i)), out + i, n - i);
  } else if constexpr (kOp == Op::kConstant) {
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) Store(Set(a), out + i);
    if (i < n) StoreN(Set(a), out + i, n - i);
  } else {
    const FloatVec va = Set(a);
    const FloatVec vb = Set(b);
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) Store(Unary<kOp>(Load(x + i), va, vb), out + i);
    if (i < n) StoreN(Unary<kOp>(LoadN(x + i, n - i), va, vb), out + i, n - i);
  }
}

template <int... kOp>
constexpr std::array<TileOp, kElementwiseOps> MakeTable(std::integer_sequence<int, kOp...>) {
  return {&Tile<static_cast<Op>(kOp)>...};
}

constexpr std::array<TileOp, kElementwiseOps> kTileOps = MakeTable(std::make_integer_sequence<int, kElementwiseOps>());

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

const std::array<TileOp, kElementwiseOps>& TileOps() { return *WHERRY_ISA_CALL(kTileOps); }

}  // namespace wherry::cpu
#endif  // HWY_ONCE
