// The one-dimensional Winograd transforms of integers. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_QUANTIZED_BYTE_WINOGRAD_TRANSFORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_QUANTIZED_BYTE_WINOGRAD_TRANSFORM_INL_H_
#undef WHERRY_KERNELS_CPU_QUANTIZED_BYTE_WINOGRAD_TRANSFORM_INL_H_
#else
#define WHERRY_KERNELS_CPU_QUANTIZED_BYTE_WINOGRAD_TRANSFORM_INL_H_
#endif

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// kTile: outputs of a one-dimensional tile. Input maps kTile + 2 inputs to as many points: row p holds the coefficients
// of the product of (b x - a) over the other finite points a/b, with the divisor's sign. Output evaluates at the
// points. Divide takes the divisors (2 * 2; 30 * 30) out of two-dimensional results.
template <int kTile>
struct ByteWinogradTransform;

// Points 0, 1, -1 and infinity.
template <>
struct ByteWinogradTransform<2> {
  static HWY_INLINE void Input(const WordVec (&d)[4], WordVec (&o)[4]) {
    o[0] = hn::Sub(d[0], d[2]);
    o[1] = hn::Add(d[1], d[2]);
    o[2] = hn::Sub(d[2], d[1]);
    o[3] = hn::Sub(d[3], d[1]);
  }
  static HWY_INLINE void Output(const IntVec (&m)[4], IntVec (&o)[2]) {
    o[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
    o[1] = hn::Add(m[3], hn::Sub(m[1], m[2]));
  }
  static HWY_INLINE IntVec Divide(IntVec v) { return hn::ShiftRight<2>(v); }
};

// Points 0, 1, -1, 2, -1/2 and infinity. The input's rows are (2, 3, -4, -3, 2, 0), (0, 2, 5, 1, -2, 0),
// (0, 2, 1, -5, 2, 0), (0, -1, -2, 1, 2, 0), (0, -2, 1, 2, -1, 0) and (0, 2, 3, -4, -3, 2).
template <>
struct ByteWinogradTransform<4> {
  static HWY_INLINE void Input(const WordVec (&d)[6], WordVec (&o)[6]) {
    const WordVec u = hn::Sub(d[3], d[1]);
    const WordVec v = hn::Sub(d[4], d[2]);
    const WordVec u2 = hn::Add(u, u);
    const WordVec v2 = hn::Add(v, v);
    const WordVec a = hn::Add(hn::Sub(d[0], d[2]), v);
    const WordVec b = hn::Sub(hn::Sub(d[5], d[3]), u);
    o[0] = hn::Sub(hn::Add(a, a), hn::Add(u2, u));
    o[1] = hn::Sub(Thrice(hn::Add(d[2], d[3])), hn::Add(u2, v2));
    o[2] = hn::Add(hn::Sub(v2, u2), Thrice(hn::Sub(d[2], d[3])));
    o[3] = hn::Add(u, v2);
    o[4] = hn::Sub(u2, v);
    o[5] = hn::Sub(hn::Add(b, b), hn::Add(v2, v));
  }
  // Columns: the first four powers of the points, (8, -4, 2, -1) for -1/2.
  static HWY_INLINE void Output(const IntVec (&m)[6], IntVec (&o)[4]) {
    const IntVec sum = hn::Add(m[1], m[2]);
    const IntVec difference = hn::Sub(m[1], m[2]);
    const IntVec p2 = hn::Add(m[3], m[3]);
    const IntVec p4 = hn::Add(p2, p2);
    const IntVec q2 = hn::Add(m[4], m[4]);
    const IntVec q4 = hn::Add(q2, q2);
    o[0] = hn::Add(hn::Add(m[0], sum), hn::Add(m[3], hn::Add(q4, q4)));
    o[1] = hn::Add(difference, hn::Sub(p2, q4));
    o[2] = hn::Add(sum, hn::Add(p4, q2));
    o[3] = hn::Add(hn::Add(m[5], difference), hn::Sub(hn::Add(p4, p4), m[4]));
  }
  static HWY_INLINE IntVec Divide(IntVec v) {
    constexpr uint32_t kInverse = 0x87654321;
    static_assert(kInverse * 225U == 1);
    return hn::ShiftRight<2>(hn::Mul(v, hn::Set(IntTag(), static_cast<int32_t>(kInverse))));
  }

 private:
  static HWY_INLINE WordVec Thrice(WordVec v) { return hn::Add(v, hn::Add(v, v)); }
};

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
