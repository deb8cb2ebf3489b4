#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/strided.h"
#include "op/infer/pad_mode.h"

namespace wherry::ref {
namespace {

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
  const PadMode mode = ParsePadMode(mode_name);
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
    WHERRY_ENFORCE(extent[i] > 0 || mode == PadMode::kConstant || out->shape()[a] == 0, kInvalidArgument, "mode ",
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
      const int64_t position = PadSource(mode, at.position(a) - std::max<int64_t>(paddings[axis], 0), extent[axis]);
      inside = position >= 0;
      offset += (first[axis] + position) * strides[axis];
    }
    to[i] = inside ? from[offset] : constant;
  }
}

}  // namespace

REGISTER_KERNEL(pad, ref, kHost, kNCHW, Pad, WHERRY_REF_ALL);

}  // namespace wherry::ref
