// Order and rank.
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/buffer.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/index.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

// Less, with NaN as the greatest number.
template <typename W>
bool Less(W a, W b) {
  if (IsNan(a)) return false;
  return IsNan(b) || a < b;
}

// One line of elements along an axis.
template <typename T>
struct Line {
  const T* data;
  int64_t stride;
  Wide<T> operator[](int64_t i) const { return Load(data[i * stride]); }
};

// Calls work(line, first) for every line along `axis`; `first` counts the lines' places in a result whose own extent
// there is `extent`: its element i lies at first + i * view.inner.
template <typename T, typename Work>
void ForEachLine(const DenseTensor& x, const AxisView& view, int64_t extent, Work work) {
  const T* from = x.data<T>();
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < view.inner; ++i) {
      work(Line<T>{from + o * view.extent * view.inner + i, view.inner}, o * extent * view.inner + i);
    }
  }
}

// The positions 0 to count - 1 with the best `wanted` of them first, equal ones in the order they have.
template <typename T>
void Order(const Line<T>& line, bool descending, int64_t wanted, std::vector<int64_t>* order) {
  std::iota(order->begin(), order->end(), 0);
  const auto before = [&](int64_t a, int64_t b) {
    const Wide<T> left = line[a];
    const Wide<T> right = line[b];
    if (descending ? Less(right, left) : Less(left, right)) return true;
    if (descending ? Less(left, right) : Less(right, left)) return false;
    return a < b;
  };
  std::partial_sort(order->begin(), order->begin() + wanted, order->end(), before);
}

// The same, with equal ones in the order in which Paddle leaves them: of few, those that a partial sort finds; of many,
// the last one in its place first, then those before it.
template <typename T>
void UnstableOrder(const Line<T>& line, bool descending, int64_t wanted, std::vector<int64_t>* order) {
  std::iota(order->begin(), order->end(), 0);
  const auto before = [&](int64_t a, int64_t b) {
    return descending ? Less(line[b], line[a]) : Less(line[a], line[b]);
  };
  if (wanted < static_cast<int64_t>(order->size()) / 64) {
    std::partial_sort(order->begin(), order->begin() + wanted, order->end(), before);
  } else {
    std::nth_element(order->begin(), order->begin() + wanted - 1, order->end(), before);
    std::sort(order->begin(), order->begin() + wanted - 1, before);
  }
}

template <typename T>
void WriteOrdered(const DenseTensor& x, int axis, bool descending, bool stable, DenseTensor* out,
                  DenseTensor* indices) {
  if (out->numel() == 0) return;
  const AxisView view = ViewAxis(x.shape(), axis);
  const int64_t wanted = ViewAxis(out->shape(), axis).extent;
  T* to = out->mutable_data<T>();
  int64_t* at = indices->mutable_data<int64_t>();
  std::vector<int64_t> order(static_cast<size_t>(view.extent));
  ForEachLine<T>(x, view, wanted, [&](const Line<T>& line, int64_t first) {
    (stable ? Order<T> : UnstableOrder<T>)(line, descending, wanted, &order);
    for (int64_t i = 0; i < wanted; ++i) {
      const int64_t position = order[static_cast<size_t>(i)];
      to[first + i * view.inner] = line.data[position * line.stride];
      at[first + i * view.inner] = position;
    }
  });
}

template <typename T>
void Topk(const CpuContext& /*context*/, const DenseTensor& x, int axis, bool largest, bool stable, DenseTensor* out,
          DenseTensor* indices) {
  WriteOrdered<T>(x, axis, largest, stable, out, indices);
}

template <typename T>
void Argsort(const CpuContext& /*context*/, const DenseTensor& x, int axis, bool descending, DenseTensor* out,
             DenseTensor* indices) {
  WriteOrdered<T>(x, axis, descending, /*stable=*/true, out, indices);
}

template <typename T>
void Mode(const CpuContext& /*context*/, const DenseTensor& x, int axis, DenseTensor* out, DenseTensor* indices) {
  if (out->numel() == 0) return;
  const AxisView view = ViewAxis(x.shape(), axis);
  T* to = out->mutable_data<T>();
  int64_t* at = indices->mutable_data<int64_t>();
  std::vector<int64_t> order(static_cast<size_t>(view.extent));
  ForEachLine<T>(x, view, 1, [&](const Line<T>& line, int64_t first) {
    Order(line, /*descending=*/false, view.extent, &order);
    int64_t most = 0;
    int64_t run = 0;
    for (int64_t i = 0; i < view.extent; ++i) {
      const int64_t position = order[static_cast<size_t>(i)];
      ++run;
      const bool ends = i + 1 == view.extent || Less(line[position], line[order[static_cast<size_t>(i + 1)]]);
      if (!ends) continue;
      if (run > most) {
        most = run;
        to[first] = line.data[position * line.stride];
        at[first] = position;
      }
      run = 0;
    }
  });
}

template <typename T>
void SearchSorted(const CpuContext& /*context*/, const DenseTensor& sequence, const DenseTensor& values,
                  DataType /*dtype*/, bool right, DenseTensor* out) {
  if (out->numel() == 0) return;
  const int64_t length = sequence.shape().back();
  const int64_t per_row = sequence.shape().rank() == 1 ? values.numel() : values.shape().back();
  const T* row = sequence.data<T>();
  const T* value = values.data<T>();
  for (int64_t i = 0, count = values.numel(); i < count; ++i) {
    const T* begin = row + i / per_row * length;
    const auto less = [](T a, T b) { return Less(Load(a), Load(b)); };
    const T* found = right ? std::upper_bound(begin, begin + length, value[i], less)
                           : std::lower_bound(begin, begin + length, value[i], less);
    SetIndex(out, i, found - begin);
  }
}

// The slices of x along an axis, or its elements, by their numbers.
template <typename T>
struct Slices {
  const T* data;
  AxisView view;

  const T* At(int64_t slice, int64_t outer) const { return data + (outer * view.extent + slice) * view.inner; }
  // -1, 0 or 1 as a comes before, is equal to, or comes behind b.
  int Compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < view.outer; ++o) {
      for (int64_t i = 0; i < view.inner; ++i) {
        const Wide<T> left = Load(At(a, o)[i]);
        const Wide<T> right = Load(At(b, o)[i]);
        if (Less(left, right)) return -1;
        if (Less(right, left)) return 1;
      }
    }
    return 0;
  }
};

struct Groups {
  std::vector<int64_t> first;    // of each group, the first member
  std::vector<int64_t> counts;   // and the number of members
  std::vector<int64_t> inverse;  // of each slice, the group
};

// `order`: all slices, equal ones side by side.
template <typename T>
Groups GroupEqual(const Slices<T>& slices, const std::vector<int64_t>& order) {
  Groups groups;
  groups.inverse.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || slices.Compare(order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(groups.first.size()) - 1;
  }
  return groups;
}

void SortByOccurrence(Groups* groups) {
  std::vector<size_t> order(groups->first.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return groups->first[a] < groups->first[b]; });
  Groups sorted;
  std::vector<int64_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    sorted.first.push_back(groups->first[order[i]]);
    sorted.counts.push_back(groups->counts[order[i]]);
    place[order[i]] = static_cast<int64_t>(i);
  }
  for (const int64_t group : groups->inverse) sorted.inverse.push_back(place[static_cast<size_t>(group)]);
  *groups = std::move(sorted);
}

void WriteIndices(const std::vector<int64_t>& values, DataType dtype, DenseTensor* out) {
  out->Allocate(HostAllocator(), TensorMeta{dtype, Shape{static_cast<int64_t>(values.size())}});
  for (size_t i = 0; i < values.size(); ++i) SetIndex(out, static_cast<int64_t>(i), values[i]);
}

template <typename T>
void Unique(const CpuContext& /*context*/, const DenseTensor& x, const std::vector<int64_t>& axis, bool sorted,
            bool consecutive, DataType dtype, DenseTensor* out, DenseTensor* indices, DenseTensor* inverse,
            DenseTensor* counts) {
  const Slices<T> slices{x.data<T>(), axis.empty() ? AxisView{1, x.numel(), 1} : ViewAxis(x.shape(), axis[0])};
  std::vector<int64_t> order(static_cast<size_t>(slices.view.extent));
  std::iota(order.begin(), order.end(), 0);
  if (!consecutive) {
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return slices.Compare(a, b) < 0; });
  }
  Groups groups = GroupEqual(slices, order);
  if (!sorted && !consecutive) SortByOccurrence(&groups);
  const auto count = static_cast<int64_t>(groups.first.size());
  Shape shape{count};
  if (!axis.empty()) {
    shape = x.shape();
    shape[static_cast<int>(axis[0] < 0 ? axis[0] + shape.rank() : axis[0])] = count;
  }
  out->Allocate(HostAllocator(), TensorMeta{x.dtype(), shape});
  T* to = out->mutable_data<T>();
  for (int64_t o = 0; o < slices.view.outer; ++o) {
    for (const int64_t slice : groups.first) to = std::copy_n(slices.At(slice, o), slices.view.inner, to);
  }
  WriteIndices(groups.first, dtype, indices);
  WriteIndices(groups.inverse, dtype, inverse);
  WriteIndices(groups.counts, dtype, counts);
}

}  // namespace

REGISTER_KERNEL(topk, ref, kHost, kNCHW, Topk, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(argsort, ref, kHost, kNCHW, Argsort, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(mode, ref, kHost, kNCHW, Mode, WHERRY_REF_NUMBERS);
REGISTER_KERNEL(unique, ref, kHost, kNCHW, Unique, WHERRY_REF_ALL);
REGISTER_KERNEL(searchsorted, ref, kHost, kNCHW, SearchSorted, WHERRY_REF_NUMBERS);

}  // namespace wherry::ref
