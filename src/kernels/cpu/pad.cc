// pad, row by row in the order in which the result lies in memory: what is inside is copied, what is beside it looked
// up.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/tensor_loops.h"
#include "op/infer/pad_mode.h"

namespace wherry::cpu {
namespace {

// One axis of the result.
struct PadAxis {
  int64_t size = 1;         // of the result
  int64_t before = 0;       // added in front
  int64_t extent = 1;       // of what is kept of x
  int64_t from_stride = 0;  // of x
  int64_t to_stride = 0;    // of the result
};

struct PadAxes {
  std::array<PadAxis, Shape::kMaxRank> axes;  // as the result lies in memory, outermost first
  int rank = 0;
  int64_t first = 0;  // the element of x that is kept and comes first
};

PadAxes AxesOf(const DenseTensor& x, const IntArray& paddings, PadMode mode, const DenseTensor& out) {
  PadAxes pad;
  pad.rank = x.shape().rank();
  const AxisStrides from = StridesOf(x.meta());
  const AxisStrides to = StridesOf(out.meta());
  for (int axis = 0; axis < pad.rank; ++axis) {
    const auto i = static_cast<size_t>(axis);
    const int64_t begin = paddings[i];
    const int64_t end = paddings[i + static_cast<size_t>(pad.rank)];
    PadAxis a;
    a.size = out.shape()[axis];
    a.before = std::max<int64_t>(begin, 0);
    a.extent = x.shape()[axis] - std::max<int64_t>(-begin, 0) - std::max<int64_t>(-end, 0);
    WHERRY_ENFORCE(a.extent >= 0, kInvalidArgument, "paddings crop more than axis ", axis, " of x ",
                   x.shape().DebugString(), " has");
    WHERRY_ENFORCE(a.extent > 0 || mode == PadMode::kConstant || a.size == 0, kInvalidArgument,
                   "there is nothing to repeat along axis ", axis, " of x ", x.shape().DebugString());
    a.from_stride = from[i];
    a.to_stride = to[i];
    pad.first += std::max<int64_t>(-begin, 0) * a.from_stride;
    int at = axis;
    for (; at > 0 && pad.axes[static_cast<size_t>(at - 1)].to_stride < a.to_stride; --at) {
      pad.axes[static_cast<size_t>(at)] = pad.axes[static_cast<size_t>(at - 1)];
    }
    pad.axes[static_cast<size_t>(at)] = a;
  }
  return pad;
}

// The innermost axis from x's row at `from`.
template <typename T>
void PadRow(const PadAxis& axis, PadMode mode, const T* from, T constant, T* to) {
  const auto look_up = [&](int64_t at) {
    const int64_t source = PadSource(mode, at - axis.before, axis.extent);
    to[at * axis.to_stride] = source < 0 ? constant : from[source * axis.from_stride];
  };
  const int64_t end = axis.before + axis.extent;
  for (int64_t at = 0; at < axis.before; ++at) look_up(at);
  if (axis.from_stride == 1 && axis.to_stride == 1) {
    std::memcpy(to + axis.before, from, static_cast<size_t>(axis.extent) * sizeof(T));
  } else {
    for (int64_t at = axis.before; at < end; ++at) look_up(at);
  }
  for (int64_t at = end; at < axis.size; ++at) look_up(at);
}

template <typename T>
void Pad(const CpuContext& context, const DenseTensor& x, const IntArray& paddings, const std::string& mode_name,
         const Scalar& value, DenseTensor* out) {
  const PadMode mode = ParsePadMode(mode_name);
  if (out->numel() == 0) return;
  const PadAxes pad = AxesOf(x, paddings, mode, *out);
  const T constant = value.to<T>();
  const int outer = std::max(pad.rank - 1, 0);
  const PadAxis& inner = pad.axes[static_cast<size_t>(outer)];
  const T* const from = x.data<T>() + pad.first;
  T* const to = out->mutable_data<T>();
  constexpr int64_t kMinElements = 16384;  // below, claiming a chunk costs more than copying it
  ParallelFor(context.pool(), out->numel() / inner.size, std::max<int64_t>(1, kMinElements / inner.size),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  int64_t source = 0;
                  int64_t target = 0;
                  bool inside = true;
                  for (int64_t rest = row, i = outer - 1; i >= 0; --i) {
                    const PadAxis& axis = pad.axes[static_cast<size_t>(i)];
                    const int64_t at = rest % axis.size;
                    rest /= axis.size;
                    const int64_t position = PadSource(mode, at - axis.before, axis.extent);
                    inside = inside && position >= 0;
                    source += position * axis.from_stride;
                    target += at * axis.to_stride;
                  }
                  if (inside) {
                    PadRow(inner, mode, from + source, constant, to + target);
                  } else {
                    for (int64_t i = 0; i < inner.size; ++i) to[target + i * inner.to_stride] = constant;
                  }
                }
              });
}

}  // namespace

REGISTER_KERNEL(pad, cpu, kNative, kNCHW, Pad, float, double, int8_t, uint8_t, int32_t, int64_t, bool);
REGISTER_KERNEL(pad, cpu, kNative, kNHWC, Pad, float).PixelStrides();

}  // namespace wherry::cpu
