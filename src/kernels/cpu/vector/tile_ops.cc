#include "kernels/cpu/vector/tile_ops.h"

#include <utility>

#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/tile_ops.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/activation-inl.h"
#include "kernels/cpu/simd/hyperbolic-inl.h"
#include "kernels/cpu/simd/pow-inl.h"
#include "kernels/cpu/simd/remainder-inl.h"
#include "kernels/cpu/simd/trig-inl.h"
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
  } else if constexpr (kOp == Op::kPow) {
    return Pow(x, y);
  } else if constexpr (kOp == Op::kFmod) {
    return Fmod(x, y);
  } else {
    static_assert(kOp == Op::kRemainder);
    return FloorRemainder(x, y);
  }
}

template <Op kOp>
HWY_INLINE FloatVec Unary(FloatVec x, FloatVec a, FloatVec b) {
  if constexpr (kOp == Op::kSin) {
    return Sin(x);
  } else if constexpr (kOp == Op::kCos) {
    return Cos(x);
  } else if constexpr (kOp == Op::kTan) {
    return Tan(x);
  } else if constexpr (kOp == Op::kAsin) {
    return Asin(x);
  } else if constexpr (kOp == Op::kAcos) {
    return Acos(x);
  } else if constexpr (kOp == Op::kAtan) {
    return Atan(x);
  } else if constexpr (kOp == Op::kSinh) {
    return Sinh(x);
  } else if constexpr (kOp == Op::kCosh) {
    return Cosh(x);
  } else if constexpr (kOp == Op::kAsinh) {
    return Asinh(x);
  } else if constexpr (kOp == Op::kAcosh) {
    return Acosh(x);
  } else if constexpr (kOp == Op::kAtanh) {
    return Atanh(x);
  } else if constexpr (kOp == Op::kExpm1) {
    return Expm1(x);
  } else if constexpr (kOp == Op::kLog1p) {
    return Log1p(x);
  } else {
    return Activate<static_cast<ActKind>(static_cast<int>(kOp) - static_cast<int>(Op::kActivation))>(x, a, b);
  }
}

// out[i] = fn(a vector's worth from i on) for i < n. The last vector of at least one overlaps the one before: a masked
// store takes dozens of cycles on some processors, as long as the rest of a short row. It is computed first, since out
// may be what is read.
template <class Fn>
HWY_INLINE void ForEachVector(float* out, int64_t n, const Fn& fn) {
  if (n < kLanes) {
    if (n > 0) StoreN(fn.First(n), out, n);
    return;
  }
  const FloatVec last = fn.At(n - kLanes);
  for (int64_t i = 0; i + kLanes < n; i += kLanes) Store(fn.At(i), out + i);
  Store(last, out + n - kLanes);
}

template <Op kOp>
struct OfBoth {
  const float* x;
  const float* y;
  HWY_INLINE FloatVec At(int64_t i) const { return Binary<kOp>(Load(x + i), Load(y + i)); }
  HWY_INLINE FloatVec First(int64_t n) const { return Binary<kOp>(LoadN(x, n), LoadN(y, n)); }
};

template <Op kOp>
struct OfUniformX {
  FloatVec x;
  const float* y;
  HWY_INLINE FloatVec At(int64_t i) const { return Binary<kOp>(x, Load(y + i)); }
  HWY_INLINE FloatVec First(int64_t n) const { return Binary<kOp>(x, LoadN(y, n)); }
};

template <Op kOp>
struct OfUniformY {
  const float* x;
  FloatVec y;
  HWY_INLINE FloatVec At(int64_t i) const { return Binary<kOp>(Load(x + i), y); }
  HWY_INLINE FloatVec First(int64_t n) const { return Binary<kOp>(LoadN(x, n), y); }
};

template <Op kOp>
struct OfOne {
  const float* x;
  FloatVec a, b;
  HWY_INLINE FloatVec At(int64_t i) const { return Unary<kOp>(Load(x + i), a, b); }
  HWY_INLINE FloatVec First(int64_t n) const { return Unary<kOp>(LoadN(x, n), a, b); }
};

struct Constant {
  FloatVec a;
  HWY_INLINE FloatVec At(int64_t /*i*/) const { return a; }
  HWY_INLINE FloatVec First(int64_t /*n*/) const { return a; }
};

template <Op kOp>
void Tile(const float* x, const float* y, float* out, int64_t n, float a, float b) {
  if constexpr (kOp < Op::kConstant) {
    ForEachVector(out, n, OfBoth<kOp>{x, y});
  } else if constexpr (kOp == Op::kConstant) {
    ForEachVector(out, n, Constant{Set(a)});
  } else {
    ForEachVector(out, n, OfOne<kOp>{x, Set(a), Set(b)});
  }
}

template <Op kOp>
void TileOfUniformX(const float* x, const float* y, float* out, int64_t n, float /*a*/, float /*b*/) {
  ForEachVector(out, n, OfUniformX<kOp>{Set(*x), y});
}

template <Op kOp>
void TileOfUniformY(const float* x, const float* y, float* out, int64_t n, float /*a*/, float /*b*/) {
  ForEachVector(out, n, OfUniformY<kOp>{x, Set(*y)});
}

template <int... kOp, int... kBinary>
constexpr TileOpTable MakeTable(std::integer_sequence<int, kOp...>, std::integer_sequence<int, kBinary...>) {
  return {{&Tile<static_cast<Op>(kOp)>...},
          {&TileOfUniformX<static_cast<Op>(kBinary)>...},
          {&TileOfUniformY<static_cast<Op>(kBinary)>...}};
}

constexpr TileOpTable kTileOps = MakeTable(std::make_integer_sequence<int, kElementwiseOps>(),
                                           std::make_integer_sequence<int, kBinaryElementwiseOps>());

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

const TileOpTable& TileOps() { return *WHERRY_ISA_CALL(kTileOps); }

}  // namespace wherry::cpu
#endif  // HWY_ONCE
