// unfold and fold, and roll.
#include <algorithm>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/strided.h"
#include "op/infer/patches.h"

namespace wherry::ref {
namespace {

// Calls visit(image offset, column offset) for each element of each patch that lies inside the image.
template <typename Visit>
void ForEachPatchElement(const Shape& image, const Shape& columns, const Patches& patches, const Visit& visit) {
  const int axes = static_cast<int>(patches.axes.size());
  Shape kernel;
  Shape places;
  for (int a = 0; a < axes; ++a) {
    const PatchAxis& axis = patches.axes[static_cast<size_t>(a)];
    kernel.push_back(axis.kernel);
    places.push_back(PatchCount(axis, image[a + 2]).value());
  }
  const Strides strides = RowMajorStrides(image);
  const int64_t planes = image[0] * image[1];
  const int64_t plane = image.numel(2, image.rank());
  if (columns.numel() == 0) return;
  Odometer<0> element(kernel, {});
  for (int64_t e = 0; e < patches.elements; ++e, element.Next()) {
    Odometer<0> place(places, {});
    for (int64_t p = 0, count = places.numel(); p < count; ++p, place.Next()) {
      int64_t offset = 0;
      bool inside = true;
      for (int a = 0; a < axes; ++a) {
        const PatchAxis& axis = patches.axes[static_cast<size_t>(a)];
        const int64_t at = place.position(a) * axis.stride + element.position(a) * axis.dilation - axis.pad_begin;
        inside = inside && at >= 0 && at < image[a + 2];
        offset += at * strides[static_cast<size_t>(a) + 2];
      }
      if (!inside) continue;
      for (int64_t c = 0; c < planes; ++c) visit(c * plane + offset, (c * patches.elements + e) * count + p);
    }
  }
}

template <typename T>
void Unfold(const CpuContext& /*context*/, const DenseTensor& x, const std::vector<int64_t>& kernel_sizes,
            const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
            const std::vector<int64_t>& dilations, DenseTensor* out) {
  const T* const from = x.data<T>();
  T* const to = out->mutable_data<T>();
  std::fill(to, to + out->numel(), T{});
  ForEachPatchElement(x.shape(), out->shape(), ParsePatches(kernel_sizes, strides, paddings, dilations),
                      [&](int64_t image, int64_t column) { to[column] = from[image]; });
}

template <typename T>
void Fold(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& /*output_sizes*/,
          const IntArray& kernel_sizes, const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
          const std::vector<int64_t>& dilations, DenseTensor* out) {
  const T* const from = x.data<T>();
  std::vector<Wide<T>> sums(static_cast<size_t>(out->numel()), Wide<T>{});
  ForEachPatchElement(out->shape(), x.shape(),
                      ParsePatches({kernel_sizes.begin(), kernel_sizes.end()}, strides, paddings, dilations),
                      [&](int64_t image, int64_t column) {
                        Wide<T>& sum = sums[static_cast<size_t>(image)];
                        if constexpr (FloatElement<T>) {
                          sum += Load(from[column]);
                        } else {
                          sum = FromBits<T>(Bits(sum) + Bits(from[column]));
                        }
                      });
  std::transform(sums.begin(), sums.end(), out->mutable_data<T>(), [](Wide<T> sum) { return Store<T>(sum); });
}

template <typename T>
void Roll(const CpuContext& /*context*/, const DenseTensor& x, const IntArray& shifts, const std::vector<int64_t>& axis,
          DenseTensor* out) {
  T* const to = out->mutable_data<T>();
  std::copy(x.data<T>(), x.data<T>() + x.numel(), to);
  if (x.numel() == 0) return;
  for (size_t i = 0; i < shifts.size(); ++i) {
    const AxisView view = axis.empty() ? AxisView{1, x.numel(), 1} : ViewAxis(x.shape(), axis[i]);
    // How far what moves to the front lies behind it.
    const int64_t front = view.extent - (shifts[i] % view.extent + view.extent) % view.extent;
    const int64_t block = view.extent * view.inner;
    for (int64_t o = 0; o < view.outer; ++o) {
      std::rotate(to + o * block, to + o * block + front * view.inner, to + (o + 1) * block);
    }
  }
}

}  // namespace

REGISTER_KERNEL(unfold, ref, kHost, kNCHW, Unfold, WHERRY_REF_ALL);
REGISTER_KERNEL(fold, ref, kHost, kNCHW, Fold, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(roll, ref, kHost, kNCHW, Roll, WHERRY_REF_ALL);

}  // namespace wherry::ref
