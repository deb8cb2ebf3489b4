// Activations on float vectors. NaN in gives NaN out. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_SIMD_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_SIMD_ACTIVATION_INL_H_
#undef WHERRY_KERNELS_CPU_SIMD_ACTIVATION_INL_H_
#else
#define WHERRY_KERNELS_CPU_SIMD_ACTIVATION_INL_H_
#endif

#include "kernels/cpu/simd/activation.h"
#include "kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

HWY_INLINE FloatVec HardSwish(FloatVec v) {
  const FloatVec gate = Clip(hn::MulAdd(v, Set(1.0f / 6.0f), Set(0.5f)), Zero(), Set(1.0f));
  return hn::Mul(v, gate);
}

// e^x - 1 for x <= 0, without the cancellation near 0.
HWY_INLINE FloatVec ExpM1Negative(FloatVec x) {
  // Taylor up to x^7 on [-0.35, 0]: relative error below 1e-8.
  constexpr float kP[] = {1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f};
  const FloatVec near = hn::MulAdd(hn::Mul(x, x), Polynomial(x, kP), x);
  return hn::IfThenElse(hn::Lt(x, Set(-0.35f)), hn::Sub(Exp(x), Set(1.0f)), near);
}

// log(1 + e^x).
HWY_INLINE FloatVec Softplus(FloatVec x) {
  // max(x, 0) + log(1 + e), e = e^-|x|; log(1 + e) = 2 atanh(t / 2), t = 2 e / (2 + e), within 2 ulp.
  constexpr float kP[] = {0.00054710911f, 0.0021876411f, 0.012506727f, 0.083333023f};
  const FloatVec e = Exp(hn::Neg(hn::Abs(x)));
  const FloatVec t = hn::Div(e, hn::MulAdd(Set(0.5f), e, Set(1.0f)));
  const FloatVec w = hn::Mul(t, t);
  const FloatVec log = hn::MulAdd(hn::Mul(t, w), Polynomial(w, kP), t);
  return hn::Add(Larger(Zero(), x), log);
}

// x tanh(log(1 + e^x)) = x (n^2 + 2 n) / (n^2 + 2 n + 2) with n = e^x; from 20 on it is x.
HWY_INLINE FloatVec Mish(FloatVec x) {
  const FloatVec n = Exp(Smaller(Set(20.0f), x));
  const FloatVec numerator = hn::Mul(n, hn::Add(n, Set(2.0f)));
  return hn::Mul(x, hn::Div(numerator, hn::Add(numerator, Set(2.0f))));
}

HWY_INLINE FloatVec Sign(FloatVec x) {
  const FloatVec one = hn::CopySign(Set(1.0f), x);
  // Zero and NaN are themselves.
  const FloatMask whole = hn::Or(hn::Lt(x, Zero()), hn::Gt(x, Zero()));
  return hn::IfThenElse(whole, one, x);
}

// One activation. `kKind` is a template argument so that loops over a tile choose once, outside.
template <ActKind kKind>
HWY_INLINE FloatVec Activate(FloatVec v, FloatVec a, FloatVec b) {
  using K = ActKind;
  if constexpr (kKind == K::kRelu) {
    return Larger(Zero(), v);
  } else if constexpr (kKind == K::kClip) {
    return Clip(v, a, b);
  } else if constexpr (kKind == K::kLeakyRelu) {
    return hn::IfThenElse(hn::Lt(v, Zero()), hn::Mul(a, v), v);
  } else if constexpr (kKind == K::kSigmoid) {
    return Sigmoid(v);
  } else if constexpr (kKind == K::kTanh) {
    return Tanh(v);
  } else if constexpr (kKind == K::kHardSigmoid) {
    return Clip(hn::MulAdd(v, a, b), Zero(), Set(1.0f));
  } else if constexpr (kKind == K::kHardSwish) {
    return HardSwish(v);
  } else if constexpr (kKind == K::kSwish) {
    return hn::Mul(v, Sigmoid(hn::Mul(a, v)));
  } else if constexpr (kKind == K::kGelu) {
    return Gelu(v);
  } else if constexpr (kKind == K::kGeluTanh) {
    // 0.5 x (1 + tanh(u)) = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3).
    const FloatVec cubic = hn::MulAdd(hn::Mul(v, v), Set(2.0f * 0.79788456f * 0.044715f), Set(2.0f * 0.79788456f));
    return hn::Mul(v, Sigmoid(hn::Mul(v, cubic)));
  } else if constexpr (kKind == K::kElu) {
    return hn::IfThenElse(hn::Lt(v, Zero()), hn::Mul(a, ExpM1Negative(v)), v);
  } else if constexpr (kKind == K::kExp) {
    return Exp(v);
  } else if constexpr (kKind == K::kSqrt) {
    return hn::Sqrt(v);
  } else if constexpr (kKind == K::kAbs) {
    return hn::Abs(v);
  } else if constexpr (kKind == K::kSoftplus) {
    const FloatVec scaled = hn::Mul(a, v);
    return hn::IfThenElse(hn::Gt(scaled, b), v, hn::Mul(Softplus(scaled), hn::Div(Set(1.0f), a)));
  } else if constexpr (kKind == K::kMish) {
    return Mish(v);
  } else if constexpr (kKind == K::kErf) {
    return Erf(v);
  } else if constexpr (kKind == K::kSquare) {
    return hn::Mul(v, v);
  } else if constexpr (kKind == K::kReciprocal) {
    return hn::Div(Set(1.0f), v);
  } else if constexpr (kKind == K::kNeg) {
    return hn::Neg(v);
  } else if constexpr (kKind == K::kLog) {
    return Log(v);
  } else if constexpr (kKind == K::kRsqrt) {
    return hn::Div(Set(1.0f), hn::Sqrt(v));
  } else if constexpr (kKind == K::kFloor) {
    return hn::Floor(v);
  } else if constexpr (kKind == K::kCeil) {
    return hn::Ceil(v);
  } else if constexpr (kKind == K::kRound) {
    return hn::Round(v);
  } else if constexpr (kKind == K::kSign) {
    return Sign(v);
  } else if constexpr (kKind == K::kLinear) {
    return hn::MulAdd(v, a, b);
  } else {
    static_assert(kKind == K::kIdentity);
    return v;
  }
}

// Calls body.template Run<kind>(): the one switch over the kinds.
template <class Body>
HWY_INLINE void WithActivation(ActKind kind, const Body& body) {
  using K = ActKind;
  switch (kind) {
    case K::kIdentity: return body.template Run<K::kIdentity>();
    case K::kRelu: return body.template Run<K::kRelu>();
    case K::kClip: return body.template Run<K::kClip>();
    case K::kLeakyRelu: return body.template Run<K::kLeakyRelu>();
    case K::kSigmoid: return body.template Run<K::kSigmoid>();
    case K::kTanh: return body.template Run<K::kTanh>();
    case K::kHardSigmoid: return body.template Run<K::kHardSigmoid>();
    case K::kHardSwish: return body.template Run<K::kHardSwish>();
    case K::kSwish: return body.template Run<K::kSwish>();
    case K::kGelu: return body.template Run<K::kGelu>();
    case K::kGeluTanh: return body.template Run<K::kGeluTanh>();
    case K::kElu: return body.template Run<K::kElu>();
    case K::kExp: return body.template Run<K::kExp>();
    case K::kSqrt: return body.template Run<K::kSqrt>();
    case K::kAbs: return body.template Run<K::kAbs>();
    case K::kSoftplus: return body.template Run<K::kSoftplus>();
    case K::kMish: return body.template Run<K::kMish>();
    case K::kErf: return body.template Run<K::kErf>();
    case K::kSquare: return body.template Run<K::kSquare>();
    case K::kReciprocal: return body.template Run<K::kReciprocal>();
    case K::kNeg: return body.template Run<K::kNeg>();
    case K::kLog: return body.template Run<K::kLog>();
    case K::kRsqrt: return body.template Run<K::kRsqrt>();
    case K::kFloor: return body.template Run<K::kFloor>();
    case K::kCeil: return body.template Run<K::kCeil>();
    case K::kRound: return body.template Run<K::kRound>();
    case K::kSign: return body.template Run<K::kSign>();
    case K::kLinear: return body.template Run<K::kLinear>();
  }
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
