// unfold and fold, along the rows of the image.
#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/element_types.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/vector/wide_sum.h"
#include "op/infer/patches.h"

namespace wherry::cpu {
namespace {

constexpr int64_t kMinElements = 8192;  // of a chunk: about 5 us

using Coordinates = std::array<int64_t, Shape::kMaxRank>;

struct Axis {
  PatchAxis patch;
  int64_t extent;  // of the image
  int64_t places;  // of patches
};

// The places begin to end of patches, of which an element lies in the image: at place * stride + shift.
struct Overlap {
  int64_t shift;
  int64_t begin;
  int64_t end;
};
Overlap OverlapOf(const Axis& axis, int64_t element) {
  const int64_t shift = element * axis.patch.dilation - axis.patch.pad_begin;
  const auto first_from = [&](int64_t position) {
    const int64_t steps = position <= shift ? 0 : (position - shift - 1) / axis.patch.stride + 1;
    return std::min(steps, axis.places);
  };
  return {shift, first_from(0), first_from(axis.extent)};
}

// The places and elements of patches along all axes but the last, whose rows are gone through in one go.
class PatchRows {
 public:
  PatchRows(const Shape& image, const Patches& patches) : elements_(patches.elements) {
    for (size_t a = 0; a < patches.axes.size(); ++a) {
      const int64_t extent = image[static_cast<int>(a) + 2];
      axes_.push_back({patches.axes[a], extent, PatchCount(patches.axes[a], extent).value()});
    }
    last_ = axes_.back();
    axes_.pop_back();
    planes_ = image[0] * image[1];
    for (const Axis& axis : axes_) {
      places_ *= axis.places;
      rows_ *= axis.extent;
    }
  }

  int64_t planes() const { return planes_; }
  int64_t elements() const { return elements_; }  // of a patch
  int64_t places() const { return places_; }      // but for those along the last axis
  int64_t rows() const { return rows_; }          // of a plane
  const Axis& last() const { return last_; }
  int64_t column_length() const { return places_ * last_.places; }

  // Calls visit(place, row of the plane or -1) for each place, of the element number `outer` along those axes.
  template <typename Visit>
  void ForEachPlace(int64_t outer, const Visit& visit) const {
    const Coordinates element = CoordinatesOf(outer, [](const Axis& axis) { return axis.patch.kernel; });
    Coordinates place{};
    for (int64_t p = 0; p < places_; ++p) {
      int64_t row = 0;
      for (size_t a = 0; a < axes_.size() && row >= 0; ++a) {
        const PatchAxis& patch = axes_[a].patch;
        const int64_t at = place[a] * patch.stride + element[a] * patch.dilation - patch.pad_begin;
        row = at >= 0 && at < axes_[a].extent ? row * axes_[a].extent + at : -1;
      }
      visit(p, row);
      Advance(&place, [](const Axis& axis) { return axis.places; });
    }
  }

  // Calls visit(outer, place) for each element along those axes which has a place where it meets this row.
  template <typename Visit>
  void ForEachElement(int64_t row, const Visit& visit) const {
    const Coordinates at = CoordinatesOf(row, [](const Axis& axis) { return axis.extent; });
    Coordinates element{};
    for (int64_t outer = 0, count = elements_ / last_.patch.kernel; outer < count; ++outer) {
      int64_t place = 0;
      for (size_t a = 0; a < axes_.size() && place >= 0; ++a) {
        const PatchAxis& patch = axes_[a].patch;
        const int64_t begin = at[a] + patch.pad_begin - element[a] * patch.dilation;
        const bool meets = begin >= 0 && begin / patch.stride < axes_[a].places && begin % patch.stride == 0;
        place = meets ? place * axes_[a].places + begin / patch.stride : -1;
      }
      if (place >= 0) visit(outer, place);
      Advance(&element, [](const Axis& axis) { return axis.patch.kernel; });
    }
  }

 private:
  template <typename Extent>
  Coordinates CoordinatesOf(int64_t number, const Extent& extent) const {
    Coordinates at{};
    for (size_t a = axes_.size(); a-- > 0; number /= extent(axes_[a])) at[a] = number % extent(axes_[a]);
    return at;
  }
  template <typename Extent>
  void Advance(Coordinates* at, const Extent& extent) const {
    for (size_t a = axes_.size(); a-- > 0;) {
      if (++(*at)[a] < extent(axes_[a])) return;
      (*at)[a] = 0;
    }
  }

  std::vector<Axis> axes_;
  Axis last_{};
  int64_t planes_;
  int64_t elements_;
  int64_t places_ = 1;
  int64_t rows_ = 1;
};

template <typename T>
void UnfoldRow(const T* row, const Overlap& overlap, int64_t stride, int64_t places, T* to) {
  std::fill(to, to + overlap.begin, T{});
  std::fill(to + overlap.end, to + places, T{});
  if (overlap.begin == overlap.end) return;
  const T* const from = row + overlap.begin * stride + overlap.shift;
  const int64_t count = overlap.end - overlap.begin;
  to += overlap.begin;
  if (stride == 1) {
    std::copy_n(from, count, to);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
  }
}

template <typename T>
void Unfold(const CpuContext& context, const DenseTensor& x, const std::vector<int64_t>& kernel_sizes,
            const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
            const std::vector<int64_t>& dilations, DenseTensor* out) {
  if (out->numel() == 0) return;
  const PatchRows rows(x.shape(), ParsePatches(kernel_sizes, strides, paddings, dilations));
  const T* const from = x.data<T>();
  T* const to = out->mutable_data<T>();
  const Axis& last = rows.last();
  const int64_t grain = std::max<int64_t>(1, kMinElements / rows.column_length());
  ParallelFor(context.pool(), rows.planes() * rows.elements(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t column = begin; column < end; ++column) {
      const T* const plane = from + column / rows.elements() * rows.rows() * last.extent;
      const int64_t element = column % rows.elements();
      const Overlap overlap = OverlapOf(last, element % last.patch.kernel);
      const Overlap none{0, last.places, last.places};
      rows.ForEachPlace(element / last.patch.kernel, [&](int64_t place, int64_t row) {
        UnfoldRow(plane + std::max<int64_t>(row, 0) * last.extent, row < 0 ? none : overlap, last.patch.stride,
                  last.places, to + column * rows.column_length() + place * last.places);
      });
    }
  });
}

// As in the reference floats are added in double, and integers wrap.
template <typename T>
struct SumOf {
  using Type = std::make_unsigned_t<T>;
};
template <>
struct SumOf<float> {
  using Type = double;
};
template <>
struct SumOf<double> {
  using Type = double;
};

template <typename T, typename Sum>
void FoldRow(AddWide add_wide, const T* from, const Overlap& overlap, int64_t stride, Sum* row) {
  if (overlap.begin == overlap.end) return;
  Sum* const to = row + overlap.begin * stride + overlap.shift;
  const int64_t count = overlap.end - overlap.begin;
  from += overlap.begin;
  if constexpr (std::is_same_v<T, float>) {
    if (stride == 1) return add_wide(from, to, count);
  }
  for (int64_t i = 0; i < count; ++i) to[i * stride] += static_cast<Sum>(from[i]);
}

template <typename T>
void Fold(const CpuContext& context, const DenseTensor& x, const IntArray& /*output_sizes*/,
          const IntArray& kernel_sizes, const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
          const std::vector<int64_t>& dilations, DenseTensor* out) {
  if (out->numel() == 0) return;
  using Sum = typename SumOf<T>::Type;
  const PatchRows rows(out->shape(),
                       ParsePatches({kernel_sizes.begin(), kernel_sizes.end()}, strides, paddings, dilations));
  const T* const from = x.data<T>();
  T* const to = out->mutable_data<T>();
  const Axis& last = rows.last();
  const AddWide add_wide = ActiveAddWide();
  std::vector<Overlap> overlaps;
  for (int64_t e = 0; e < last.patch.kernel; ++e) overlaps.push_back(OverlapOf(last, e));
  const int64_t count = rows.planes() * rows.rows();
  const int64_t together = std::max<int64_t>(1, kMinElements / (last.extent * last.patch.kernel));
  const int64_t items = (count + together - 1) / together;
  const int64_t workers = std::min<int64_t>(items, context.threads());
  auto* const scratch =
      static_cast<Sum*>(context.Scratch(static_cast<size_t>(workers) * static_cast<size_t>(last.extent) * sizeof(Sum)));
  ShareOut(context.pool(), workers, items, [&](int64_t worker, const auto& next) {
    Sum* const sums = scratch + worker * last.extent;
    for (int64_t item = next(); item >= 0; item = next()) {
      for (int64_t row = item * together; row < std::min(count, (item + 1) * together); ++row) {
        const T* const columns = from + row / rows.rows() * rows.elements() * rows.column_length();
        std::fill_n(sums, last.extent, Sum{});
        rows.ForEachElement(row % rows.rows(), [&](int64_t outer, int64_t place) {
          const T* column = columns + outer * last.patch.kernel * rows.column_length() + place * last.places;
          for (const Overlap& overlap : overlaps) {
            FoldRow(add_wide, column, overlap, last.patch.stride, sums);
            column += rows.column_length();
          }
        });
        for (int64_t i = 0; i < last.extent; ++i) to[row * last.extent + i] = static_cast<T>(sums[i]);
      }
    }
  });
}

}  // namespace

REGISTER_KERNEL(unfold, cpu, kNative, kNCHW, Unfold, WHERRY_CPU_ALL);
REGISTER_KERNEL(fold, cpu, kNative, kNCHW, Fold, float, double, int32_t, int64_t);

}  // namespace wherry::cpu
