// The one-dimensional Winograd transforms on vectors of channels. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_CONV_WINOGRAD_TRANSFORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_CONV_WINOGRAD_TRANSFORM_INL_H_
#undef WHERRY_KERNELS_CPU_CONV_WINOGRAD_TRANSFORM_INL_H_
#else
#define WHERRY_KERNELS_CPU_CONV_WINOGRAD_TRANSFORM_INL_H_
#endif

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// c - a * b.
HWY_INLINE FloatVec NegMulAdd(float a, FloatVec b, FloatVec c) { return hn::NegMulAdd(Set(a), b, c); }

// kTile: outputs of a one-dimensional tile. Input maps kTile + 2 inputs to as many points: row p holds the coefficients
// of the product of (x - q) over the other finite points q. Output evaluates at them: row i holds their i-th powers.
template <int kTile>
struct WinogradTransform;

// Points 0, 1, -1 and infinity.
template <>
struct WinogradTransform<2> {
  static HWY_INLINE void Input(const FloatVec (&d)[4], FloatVec (&o)[4]) {
    o[0] = hn::Sub(d[0], d[2]);
    o[1] = hn::Add(d[1], d[2]);
    o[2] = hn::Sub(d[2], d[1]);
    o[3] = hn::Sub(d[3], d[1]);
  }
  static HWY_INLINE void Output(const FloatVec (&m)[4], FloatVec (&o)[2]) {
    o[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    o[1] = hn::Add(m[3], hn::Sub(m[1], m[2]));
  }
};

// Points 0, +-s, +-t and infinity, s = sqrt(1/2), t = sqrt(2). The rows of +-p share their even and odd parts.
template <>
struct WinogradTransform<4> {
  static constexpr float kS = 0.70710678f;
  static constexpr float kT = 1.41421356f;

  static HWY_INLINE void Input(const FloatVec (&d)[6], FloatVec (&o)[6]) {
    const FloatVec even_s = NegMulAdd(2.0f, d[2], d[4]);
    const FloatVec odd_s = hn::Mul(Set(kS), NegMulAdd(2.0f, d[1], d[3]));
    const FloatVec even_t = NegMulAdd(0.5f, d[2], d[4]);
    const FloatVec odd_t = hn::Mul(Set(kT), NegMulAdd(0.5f, d[1], d[3]));
    o[0] = NegMulAdd(2.5f, d[2], hn::Add(d[0], d[4]));
    o[1] = hn::Add(even_s, odd_s);
    o[2] = hn::Sub(even_s, odd_s);
    o[3] = hn::Add(even_t, odd_t);
    o[4] = hn::Sub(even_t, odd_t);
    o[5] = NegMulAdd(2.5f, d[3], hn::Add(d[1], d[5]));
  }
  static HWY_INLINE void Output(const FloatVec (&m)[6], FloatVec (&o)[4]) {
    const FloatVec sum_s = hn::Add(m[1], m[2]);
    const FloatVec difference_s = hn::Sub(m[1], m[2]);
    const FloatVec sum_t = hn::Add(m[3], m[4]);
    const FloatVec difference_t = hn::Sub(m[3], m[4]);
    o[0] = hn::Add(m[0], hn::Add(sum_s, sum_t));
    o[1] = MulAdd(Set(kS), difference_s, hn::Mul(Set(kT), difference_t));
    o[2] = MulAdd(Set(0.5f), sum_s, hn::Add(sum_t, sum_t));
    o[3] = MulAdd(Set(kS * 0.5f), difference_s, MulAdd(Set(kT * 2.0f), difference_t, m[5]));
  }
};

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
