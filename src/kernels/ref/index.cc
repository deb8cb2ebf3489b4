// Elements by their positions: picked out, or put in.
#include <algorithm>
#include <string>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/index.h"
#include "kernels/ref/strided.h"
#include "op/infer/slice_range.h"

namespace wherry::ref {
namespace {

// How an element that is put in combines with the one that is there.
enum class Combine { kAssign, kAdd, kMul, kMax, kMin };

Combine ParseCombine(const std::string& reduce) {
  if (reduce == "add" || reduce == "mean") return Combine::kAdd;
  if (reduce == "mul") return Combine::kMul;
  if (reduce == "max") return Combine::kMax;
  if (reduce == "min") return Combine::kMin;
  return Combine::kAssign;
}

template <typename T>
T Combined(Combine how, T old, T value) {
  const Wide<T> a = Load(old);
  const Wide<T> b = Load(value);
  switch (how) {
    case Combine::kAssign: return value;
    case Combine::kMax: return Store<T>(IsNan(b) ? b : MaxElement(a, b));
    case Combine::kMin: return Store<T>(IsNan(b) ? b : MinElement(a, b));
    default: break;
  }
  if constexpr (FloatElement<T>) {
    return Store<T>(how == Combine::kAdd ? a + b : a * b);
  } else {
    return FromBits<T>(how == Combine::kAdd ? Bits(a) + Bits(b) : Bits(a) * Bits(b));
  }
}

void CopyAll(const DenseTensor& x, DenseTensor* out) {
  if (x.raw_data() == out->raw_data()) return;  // in place
  std::copy_n(static_cast<const char*>(x.raw_data()), x.nbytes(), static_cast<char*>(out->mutable_raw_data()));
}

// Where the part of x lies that each row of `index` names: one position for each of x's dimensions from `batch` on.
class Parts {
 public:
  Parts(const Shape& x, const DenseTensor& index, int batch)
      : x_(x), index_(index), batch_(batch), depth_(static_cast<int>(index.shape().back())) {
    size_ = x.numel(batch + depth_, x.rank());
    rows_ = index.shape().numel(0, index.shape().rank() - 1);
    rows_per_batch_ = index.shape().numel(batch, index.shape().rank() - 1);
  }

  int64_t rows() const { return rows_; }
  int64_t size() const { return size_; }
  int64_t Offset(int64_t row) const {
    int64_t at = row / rows_per_batch_;  // the batch
    for (int i = 0; i < depth_; ++i) {
      const int64_t extent = x_[batch_ + i];
      at = at * extent + PositionAt(index_, row * depth_ + i, extent);
    }
    return at * size_;
  }

 private:
  const Shape& x_;
  const DenseTensor& index_;
  int batch_;
  int depth_;
  int64_t size_;
  int64_t rows_;
  int64_t rows_per_batch_;
};

template <typename T>
void GatherNd(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& index, int batch_dims,
              DenseTensor* out) {
  if (out->numel() == 0) return;
  const Parts parts(x.shape(), index, batch_dims);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t row = 0; row < parts.rows(); ++row) to = std::copy_n(from + parts.Offset(row), parts.size(), to);
}

template <typename T>
void ScatterNd(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& index,
               const DenseTensor& updates, const std::string& reduce, DenseTensor* out) {
  CopyAll(x, out);
  if (updates.numel() == 0) return;
  const Combine how = ParseCombine(reduce);
  const Parts parts(x.shape(), index, 0);
  const T* from = updates.data<T>();
  for (int64_t row = 0; row < parts.rows(); ++row, from += parts.size()) {
    T* to = out->mutable_data<T>() + parts.Offset(row);
    if (how == Combine::kAssign) {
      std::copy_n(from, parts.size(), to);
      continue;
    }
    for (int64_t i = 0; i < parts.size(); ++i) to[i] = Combined(how, to[i], from[i]);
  }
}

// Calls visit(i, offset) for each element i of index: where in x it points.
template <typename Visit>
void ForEachAlongAxis(const DenseTensor& x, const DenseTensor& index, int axis, Visit visit) {
  const int along = axis < 0 ? axis + x.shape().rank() : axis;
  Strides strides = RowMajorStrides(x.shape());
  const int64_t stride = strides[static_cast<size_t>(along)];
  strides[static_cast<size_t>(along)] = 0;
  Odometer<1> at(index.shape(), {strides});
  for (int64_t i = 0, count = index.numel(); i < count; ++i, at.Next()) {
    visit(i, at.offset(0) + PositionAt(index, i, x.shape()[along]) * stride);
  }
}

template <typename T>
void TakeAlongAxis(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& index, int axis,
                   DenseTensor* out) {
  if (out->numel() == 0) return;
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  ForEachAlongAxis(x, index, axis, [&](int64_t i, int64_t offset) { to[i] = from[offset]; });
}

template <typename T>
T Quotient(T sum, int64_t count) {
  if constexpr (FloatElement<T>) {
    return Store<T>(Load(sum) / static_cast<double>(count));
  } else {
    return static_cast<T>(std::signed_integral<T>
                              ? static_cast<int64_t>(sum) / count
                              : static_cast<int64_t>(static_cast<uint64_t>(sum) / static_cast<uint64_t>(count)));
  }
}

template <typename T>
void PutAlongAxis(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& index,
                  const DenseTensor& value, int axis, const std::string& reduce, bool include_self, DenseTensor* out) {
  CopyAll(x, out);
  if (index.numel() == 0) return;
  const Combine how = ParseCombine(reduce);
  const T* from = value.data<T>();
  T* to = out->mutable_data<T>();
  // How many elements have been combined at each place.
  const bool counts = reduce == "mean" || !include_self;
  std::vector<int64_t> combined(counts ? static_cast<size_t>(x.numel()) : 0, include_self ? 1 : 0);
  ForEachAlongAxis(x, index, axis, [&](int64_t i, int64_t offset) {
    const bool first = counts && combined[static_cast<size_t>(offset)]++ == 0;
    to[offset] = first ? from[i] : Combined(how, to[offset], from[i]);
  });
  if (reduce != "mean") return;
  for (size_t i = 0; i < combined.size(); ++i) {
    if (combined[i] > 1) to[i] = Quotient(to[i], combined[i]);
  }
}

template <typename T>
void SetValue(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& value,
              const std::vector<int64_t>& axes, const IntArray& starts, const IntArray& ends, const IntArray& steps,
              DenseTensor* out) {
  // Lists that tensors gave have not been checked before.
  WHERRY_ENFORCE(starts.size() == axes.size() && ends.size() == axes.size() && steps.size() == axes.size(),
                 kInvalidArgument, "there are ", starts.size(), " starts, ", ends.size(), " ends and ", steps.size(),
                 " steps for ", axes.size(), " axes");
  CopyAll(x, out);
  Strides strides = RowMajorStrides(x.shape());
  Shape part = x.shape();
  int64_t base = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i] < 0 ? axes[i] + part.rank() : axes[i]);
    WHERRY_ENFORCE(steps[i] != 0 && steps[i] > INT64_MIN, kInvalidArgument, "step ", steps[i]);
    const SliceRange range = ResolveSlice(part[axis], starts[i], ends[i], steps[i]);
    int64_t& stride = strides[static_cast<size_t>(axis)];
    base += range.start * stride;
    stride *= range.step;
    part[axis] = range.count;
  }
  if (part.numel() == 0) return;
  // Dimensions of 1 before its own that the part does not have count for nothing.
  Shape shape = value.shape();
  while (shape.rank() > part.rank() && shape[0] == 1) {
    shape = Shape(std::vector<int64_t>(shape.begin() + 1, shape.end()));
  }
  const T* from = value.data<T>();
  T* to = out->mutable_data<T>();
  Odometer<2> at(part, {strides, BroadcastStrides(shape, part)});
  for (int64_t i = 0, count = part.numel(); i < count; ++i, at.Next()) to[base + at.offset(0)] = from[at.offset(1)];
}

template <typename T>
void GatherTree(const CpuContext& /*context*/, const DenseTensor& ids, const DenseTensor& parents, DenseTensor* out) {
  const int64_t moments = ids.shape()[0];
  const int64_t batches = ids.shape()[1];
  const int64_t beams = ids.shape()[2];
  const T* id = ids.data<T>();
  T* to = out->mutable_data<T>();
  for (int64_t batch = 0; batch < batches; ++batch) {
    for (int64_t beam = 0; beam < beams; ++beam) {
      int64_t from = beam;
      for (int64_t moment = moments - 1; moment >= 0; --moment) {
        const int64_t first = (moment * batches + batch) * beams;
        to[first + beam] = id[first + from];
        from = PositionAt(parents, first + from, beams);
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL(gather_tree, ref, kHost, kNCHW, GatherTree, int32_t, int64_t);
REGISTER_KERNEL(gather_nd, ref, kHost, kNCHW, GatherNd, WHERRY_REF_ALL);
REGISTER_KERNEL(scatter_nd, ref, kHost, kNCHW, ScatterNd, WHERRY_REF_ALL);
REGISTER_KERNEL(take_along_axis, ref, kHost, kNCHW, TakeAlongAxis, WHERRY_REF_ALL);
REGISTER_KERNEL(put_along_axis, ref, kHost, kNCHW, PutAlongAxis, WHERRY_REF_ALL);
REGISTER_KERNEL(set_value, ref, kHost, kNCHW, SetValue, WHERRY_REF_ALL);

}  // namespace wherry::ref
