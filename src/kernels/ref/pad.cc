#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

enum class Mode { kConstant, kReflect, kEdge, kWrap };

Mode ParseMode(const std::string& name) {
  if (name == "constant") return Mode::kConstant;
  if (name == "reflect") return Mode::kReflect;
  if (name == "edge") return Mode::kEdge;
  WHERRY_ENFORCE(name == "wrap", kInvalidArgument, "mode is '", name,
                 "', expected 'constant', 'reflect', 'edge' or 'wrap'");
  return Mode::kWrap;
}

// Where position `at` of an axis of `extent` elements is read; -1: nowhere, the constant is written.
int64_t SourcePosition(Mode mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  switch (mode) {
    case Mode::kConstant: return -1;
    case Mode::kEdge: return at < 0 ? 0 : extent - 1;
    case Mode::kWrap: return (at % extent + extent) % extent;
    case Mode::kReflect: {
      if (extent == 1) return 0;
      const int64_t period = 2 * (extent - 1);
      const int64_t phase = (at % period + period) % period;
      return phase < extent ? phase : period - phase;
    }
  }
  return -1;
}

template <typename T>
T ConstantOf(const Scalar& value) {
  if constexpr (FloatElement<T>) {
    return Store<T>(value.to<double>());
  } else {
    return value.to<T>();
  }
}

template <typename T>
void Pad(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& paddings, const std::string& mode_name,
         const Scalar& value, DenseTensor* out) {
  const Mode mode = ParseMode(mode_name);
  const int rank = x.shape().rank();
  const Strides strides = RowMajorStrides(x.shape());
  // Negative paddings crop first: what is repeated is the rest, which begins at `first`.
  std::array<int64_t, Shape::kMaxRank> first{};
  std::array<int64_t, Shape::kMaxRank> extent{};
  for (int a = 0; a < rank; ++a) {
    const size_t i = static_cast<size_t>(a);
    first[i] = std::max<int64_t>(-paddings[i], 0);
    extent[i] = x.shape()[a] - first[i] - std::max<int64_t>(-paddings[i + static_cast<size_t>(rank)], 0);
    WHERRY_ENFORCE(extent[i] >= 0, kInvalidArgument, "paddings crop more than axis ", a, " of x ",
                   x.shape().DebugString(), " has");
    WHERRY_ENFORCE(extent[i] > 0 || mode == Mode::kConstant || out->shape()[a] == 0, kInvalidArgument, "mode ",
                   mode_name, " has nothing to repeat along axis ", a);
  }
  const T constant = ConstantOf<T>(value);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  Odometer<0> at(out->shape(), {});
  for (int64_t i = 0, count = out->numel(); i < count; ++i, at.Next()) {
    int64_t offset = 0;
    bool inside = true;
    for (int a = 0; inside && a < rank; ++a) {
      const size_t axis = static_cast<size_t>(a);
      const int64_t position =
          SourcePosition(mode, at.position(a) - std::max<int64_t>(paddings[axis], 0), extent[axis]);
      inside = position >= 0;
      offset += (first[axis] + position) * strides[axis];
    }
    to[i] = inside ? from[offset] : constant;
  }
}

}  // namespace

REGISTER_KERNEL(pad, ref, kHost, kNCHW, Pad, WHERRY_REF_ALL);

}  // namespace wherry::ref
