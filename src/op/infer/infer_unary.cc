#include <optional>
#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"
#include "op/unknown_dim.h"

namespace wherry {
namespace {

MetaTensor LikeShape(const MetaTensor& x, DataType dtype) {
  MetaTensor out = x.WithoutValues();
  out.dtype = dtype;
  out.pixel_stride = 0;
  return out;
}

std::optional<Dim> IntegerOf(const SymScalar& scalar) {
  if (scalar.dim) return scalar.dim;
  if (scalar.value && !scalar.value->is_floating()) return Dim(scalar.value->to<int64_t>());
  if (scalar.value) {  // 2.0 is a whole number too: importers write scales of integer tensors as floats
    const double value = scalar.value->to<double>();
    constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double does not say which integer is meant
    if (value >= -kExact && value <= kExact && value == static_cast<double>(static_cast<int64_t>(value))) {
      return Dim(static_cast<int64_t>(value));
    }
  }
  return std::nullopt;
}

}  // namespace

MetaTensor UnaryInferMeta(const MetaTensor& x) { return LikeShape(x, x.dtype); }

MetaTensor PredicateInferMeta(const MetaTensor& x) { return LikeShape(x, DataType::kBool); }

MetaTensor LogicalNotInferMeta(const MetaTensor& x) {
  MetaTensor out = LikeShape(x, DataType::kBool);
  if (!x.values) return out;
  std::vector<Dim> values;
  for (const Dim& value : *x.values) {
    if (!value.known()) return out;
    values.emplace_back(value.value() == 0 ? 1 : 0);
  }
  SetValues(&out, std::move(values));
  return out;
}

MetaTensor AssignInferMeta(const MetaTensor& x) {
  MetaTensor out = LikeShape(x, x.dtype);
  out.values = x.values;
  return out;
}

MetaTensor ScaleInferMeta(const MetaTensor& x, const SymScalar& scale, const SymScalar& bias, bool bias_after_scale) {
  MetaTensor out = LikeShape(x, x.dtype);
  const std::optional<Dim> factor = IntegerOf(scale);
  const std::optional<Dim> summand = IntegerOf(bias);
  if (!x.values || !factor || !summand) return out;
  try {
    std::vector<Dim> values;
    values.reserve(x.values->size());
    for (const Dim& value : *x.values) {
      values.push_back(bias_after_scale ? value * *factor + *summand : (value + *summand) * *factor);
    }
    SetValues(&out, std::move(values));
  } catch (const Error&) {
    out.values.reset();  // beyond 64 bits: the kernel wraps, a Dim does not
  }
  return out;
}

MetaTensor CastInferMeta(const MetaTensor& x, DataType dtype) {
  WHERRY_ENFORCE(dtype != DataType::kUndefined && dtype != DataType::kAny, kInvalidArgument, "dtype is ",
                 ToString(dtype), ", not a data type");
  MetaTensor out = LikeShape(x, dtype);
  if (!x.values) return out;
  if (dtype != DataType::kBool) {
    SetValues(&out, x.values);
    return out;
  }
  std::vector<Dim> values;
  for (const Dim& value : *x.values) {
    if (!value.known()) return out;
    values.emplace_back(value.value() != 0 ? 1 : 0);
  }
  SetValues(&out, std::move(values));
  return out;
}

MetaTensor BitcastInferMeta(const MetaTensor& x, DataType dtype) {
  const auto bits = [](DataType type) {
    return SubByteBits(type) != 0 ? SubByteBits(type) : 8 * static_cast<int>(SizeOf(type));
  };
  const int have = bits(x.dtype);
  const int want = bits(dtype);
  MetaTensor out = LikeShape(x, dtype);
  if (x.dtype == DataType::kUndefined || (have == want && want != 0)) return out;
  // Both of whole bytes, and a last dimension that fits.
  bool fits = have >= 8 && want >= 8;
  if (fits && out.rank_known && !out.dims.empty()) {
    Dim& last = out.dims.back();
    if (have > want) {
      last = last * Dim(have / want);
    } else if (last.known()) {
      fits = last.value() % (want / have) == 0;
      last = Dim(last.value() / (want / have));
    } else {
      last = Dim(kUnknownDim);
    }
  } else if (out.rank_known) {
    fits = false;
  }
  WHERRY_ENFORCE(fits, kInvalidArgument, "x is ", x.DebugString(), ", whose elements cannot be read as ",
                 ToString(dtype));
  return out;
}

MetaTensor DropoutInferMeta(const MetaTensor& x, float p, const std::string& mode) {
  WHERRY_ENFORCE(p >= 0.0F && p <= 1.0F, kInvalidArgument, "p is ", p, ", expected 0 to 1");
  WHERRY_ENFORCE(mode == "upscale_in_train" || mode == "downgrade_in_infer", kInvalidArgument, "mode is '", mode,
                 "', expected 'upscale_in_train' or 'downgrade_in_infer'");
  return LikeShape(x, x.dtype);
}

MetaTensor LayoutInferMeta(const MetaTensor& x, DataLayout layout, const std::vector<int64_t>& perm) {
  WHERRY_ENFORCE(layout == DataLayout::kNCHW || layout == DataLayout::kNHWC, kInvalidArgument, "layout is ",
                 ToString(layout), ", expected nchw or nhwc");
  MetaTensor out = perm.empty() ? AssignInferMeta(x) : TransposeInferMeta(x, perm);
  out.layout = layout;
  return out;
}

}  // namespace wherry
