// Reductions of a run of floats to one, and of one vector to a lane. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_VECTOR_REDUCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_VECTOR_REDUCE_INL_H_
#undef WHERRY_KERNELS_CPU_VECTOR_REDUCE_INL_H_
#else
#define WHERRY_KERNELS_CPU_VECTOR_REDUCE_INL_H_
#endif

#include <cmath>

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// The larger and the smaller, or NaN if either is NaN.
HWY_INLINE FloatVec MaxNan(FloatVec a, FloatVec b) { return hn::IfThenElse(hn::IsNaN(a), a, Larger(a, b)); }
HWY_INLINE FloatVec MinNan(FloatVec a, FloatVec b) { return hn::IfThenElse(hn::IsNaN(a), a, Smaller(a, b)); }

struct SumOp {
  static constexpr float kIdentity = 0.0f;
  HWY_INLINE FloatVec operator()(FloatVec a, FloatVec b) const { return hn::Add(a, b); }
  HWY_INLINE double Scalar(double a, double b) const { return a + b; }
  HWY_INLINE float Lanes(FloatVec v) const { return hn::GetLane(hn::SumOfLanes(FloatTag(), v)); }
};

struct MaxOp {
  static constexpr float kIdentity = -__builtin_inff();
  HWY_INLINE FloatVec operator()(FloatVec a, FloatVec b) const { return MaxNan(a, b); }
  HWY_INLINE double Scalar(double a, double b) const { return std::isnan(a) ? a : std::isnan(b) ? b : a > b ? a : b; }
  // The instructions for it may drop a NaN.
  HWY_INLINE float Lanes(FloatVec v) const {
    const FloatMask nan = hn::IsNaN(v);
    return hn::AllFalse(FloatTag(), nan) ? hn::GetLane(hn::MaxOfLanes(FloatTag(), v)) : __builtin_nanf("");
  }
};

struct MinOp {
  static constexpr float kIdentity = __builtin_inff();
  HWY_INLINE FloatVec operator()(FloatVec a, FloatVec b) const { return MinNan(a, b); }
  HWY_INLINE double Scalar(double a, double b) const { return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? a : b; }
  // The instructions for it may drop a NaN.
  HWY_INLINE float Lanes(FloatVec v) const {
    const FloatMask nan = hn::IsNaN(v);
    return hn::AllFalse(FloatTag(), nan) ? hn::GetLane(hn::MinOfLanes(FloatTag(), v)) : __builtin_nanf("");
  }
};

struct ProductOp {
  static constexpr float kIdentity = 1.0f;
  HWY_INLINE FloatVec operator()(FloatVec a, FloatVec b) const { return hn::Mul(a, b); }
  HWY_INLINE double Scalar(double a, double b) const { return a * b; }
  HWY_INLINE float Lanes(FloatVec v) const {
    HWY_ALIGN float lanes[kLanes];
    hn::Store(v, FloatTag(), lanes);
    for (int64_t width = kLanes / 2; width > 0; width /= 2) {
      for (int64_t i = 0; i < width; ++i) lanes[i] *= lanes[i + width];
    }
    return lanes[0];
  }
};

// The maximum of numbers; NaN may be lost.
struct NumberMaxOp {
  static constexpr float kIdentity = -__builtin_inff();
  HWY_INLINE FloatVec operator()(FloatVec a, FloatVec b) const { return Larger(a, b); }
  HWY_INLINE float Lanes(FloatVec v) const { return hn::GetLane(hn::MaxOfLanes(FloatTag(), v)); }
};

// The first n of p, `fill` in the other lanes.
HWY_INLINE FloatVec LoadNOr(const float* p, int64_t n, float fill) {
  return hn::IfThenElse(hn::FirstN(FloatTag(), static_cast<size_t>(n)), LoadN(p, n), Set(fill));
}

// v in the first n lanes, 0 in the others.
HWY_INLINE FloatVec KeepN(FloatVec v, int64_t n) {
  return hn::IfThenElseZero(hn::FirstN(FloatTag(), static_cast<size_t>(n)), v);
}

// Reduces map(x[0..n)). Four accumulators: one would wait 4 cycles for each addition.
template <class Op, class Map>
HWY_INLINE float ReduceMapped(const float* x, int64_t n, const Map& map) {
  const Op op;
  FloatVec acc[4] = {Set(Op::kIdentity), Set(Op::kIdentity), Set(Op::kIdentity), Set(Op::kIdentity)};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    WHERRY_UNROLL
    for (int j = 0; j < 4; ++j) acc[j] = op(acc[j], map(Load(x + i + j * kLanes)));
  }
  for (; i + kLanes <= n; i += kLanes) acc[0] = op(acc[0], map(Load(x + i)));
  if (i < n) {
    const FloatMask live = hn::FirstN(FloatTag(), static_cast<size_t>(n - i));
    acc[1] = op(acc[1], hn::IfThenElse(live, map(LoadN(x + i, n - i)), Set(Op::kIdentity)));
  }
  return op.Lanes(op(op(acc[0], acc[1]), op(acc[2], acc[3])));
}

struct Identity {
  HWY_INLINE FloatVec operator()(FloatVec v) const { return v; }
};

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
