#include "op/infer/patches.h"

#include "base/check.h"
#include "base/checked_math.h"
#include "base/strings.h"

namespace wherry {
namespace {

constexpr int64_t kLimit = int64_t{1} << 31;

void Check(const std::vector<int64_t>& values, size_t axes, int64_t least, const char* what) {
  WHERRY_ENFORCE(values.empty() || values.size() == axes, kInvalidArgument, what, " are [", Join(values, ", "),
                 "] for ", axes, " axes");
  for (const int64_t value : values) {
    WHERRY_ENFORCE(value >= least && value < kLimit, kInvalidArgument, what, " are [", Join(values, ", "), "]");
  }
}

}  // namespace

Patches ParsePatches(const std::vector<int64_t>& kernel_sizes, const std::vector<int64_t>& strides,
                     const std::vector<int64_t>& paddings, const std::vector<int64_t>& dilations) {
  const size_t count = kernel_sizes.size();
  WHERRY_ENFORCE(count >= 1, kInvalidArgument, "kernel_sizes are empty");
  Check(kernel_sizes, count, 1, "kernel_sizes");
  Check(strides, count, 1, "strides");
  Check(dilations, count, 1, "dilations");
  const bool both = paddings.size() == 2 * count;
  Check(paddings, both ? 2 * count : count, 0, "paddings");
  Patches patches;
  for (size_t i = 0; i < count; ++i) {
    PatchAxis axis;
    axis.kernel = kernel_sizes[i];
    if (!strides.empty()) axis.stride = strides[i];
    if (!dilations.empty()) axis.dilation = dilations[i];
    if (!paddings.empty()) {
      axis.pad_begin = paddings[i];
      axis.pad_end = paddings[both ? count + i : i];
    }
    patches.elements = CheckedMul(patches.elements, axis.kernel, "elements of a patch");
    WHERRY_ENFORCE(patches.elements < kLimit, kInvalidArgument, "kernel_sizes are [", Join(kernel_sizes, ", "), "]");
    patches.axes.push_back(axis);
  }
  return patches;
}

Dim PatchCount(const PatchAxis& axis, const Dim& extent) {
  const int64_t reach = axis.dilation * (axis.kernel - 1) + 1;
  const Dim room = extent + Dim(axis.pad_begin + axis.pad_end - reach);
  WHERRY_ENFORCE(!room.known() || room.value() >= 0, kInvalidArgument, "a patch of ", reach,
                 " elements does not fit an axis of ", extent.DebugString(), " with paddings of ", axis.pad_begin,
                 " and ", axis.pad_end);
  return FloorDiv(room, axis.stride) + Dim(1);
}

}  // namespace wherry
