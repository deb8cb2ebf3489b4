// gather, gather_nd and scatter_nd: parts of a tensor at the positions that the rows of an index hold.
#include <algorithm>
#include <span>
#include <string>
#include <type_traits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernel/position.h"
#include "kernels/cpu/combine.h"
#include "kernels/cpu/element_types.h"
#include "kernels/cpu/movement/strided_copy.h"
#include "kernels/cpu/tensor_loops.h"

namespace wherry::cpu {
namespace {

// Where the part of x lies that each row names: one position for each of x's dimensions from `batch` on.
template <typename Index>
class Parts {
 public:
  Parts(const Shape& x, const DenseTensor& index, int batch)
      : extents_(x.begin() + batch), index_(index.data<Index>()), depth_(index.shape().back()) {
    const int last = index.shape().rank() - 1;
    rows_ = index.shape().numel(0, last);
    rows_per_batch_ = index.shape().numel(batch, last);
    size_ = x.numel(batch + static_cast<int>(depth_), x.rank());
  }

  int64_t rows() const { return rows_; }
  int64_t size() const { return size_; }  // elements of a part
  int64_t Offset(int64_t row) const {
    int64_t at = rows_per_batch_ == rows_ ? 0 : row / rows_per_batch_;
    const Index* const positions = index_ + row * depth_;
    for (int64_t i = 0; i < depth_; ++i) at = at * extents_[i] + PositionOf(positions[i], extents_[i]);
    return at * size_;
  }

 private:
  const int64_t* extents_;
  const Index* index_;
  int64_t depth_;
  int64_t size_;
  int64_t rows_;
  int64_t rows_per_batch_;
};

constexpr int64_t kMinElements = 8192;  // of a chunk: about 5 us

template <typename T, typename Index>
void GatherParts(const CpuContext& context, const Parts<Index>& parts, const T* from, T* to) {
  const int64_t size = parts.size();
  ParallelFor(context.pool(), parts.rows(), std::max<int64_t>(1, kMinElements / size), [&](int64_t begin, int64_t end) {
    if (size == 1) {
      for (int64_t row = begin; row < end; ++row) to[row] = from[parts.Offset(row)];
    } else {
      for (int64_t row = begin; row < end; ++row) std::copy_n(from + parts.Offset(row), size, to + row * size);
    }
  });
}

template <typename T>
void GatherNd(const CpuContext& context, const DenseTensor& x, const DenseTensor& index, int batch_dims,
              DenseTensor* out) {
  if (out->numel() == 0) return;
  if (index.dtype() == DataType::kInt32) {
    GatherParts(context, Parts<int32_t>(x.shape(), index, batch_dims), x.data<T>(), out->mutable_data<T>());
  } else {
    GatherParts(context, Parts<int64_t>(x.shape(), index, batch_dims), x.data<T>(), out->mutable_data<T>());
  }
}

// The parts at the same positions along an axis, for each place along those before it.
template <typename T, typename Index>
void GatherAlong(const CpuContext& context, const AxisRun& run, std::span<const Index> index, const T* from, T* to) {
  const auto count = static_cast<int64_t>(index.size());
  const int64_t size = run.inner;
  ParallelFor(context.pool(), run.outer * count, std::max<int64_t>(1, kMinElements / size),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end;) {
                  const T* const slice = from + row / count * run.extent * size;
                  const int64_t stop = std::min(end, (row / count + 1) * count);
                  for (int64_t i = row % count; row < stop; ++row, ++i) {
                    const T* const part = slice + PositionOf(index[static_cast<size_t>(i)], run.extent) * size;
                    if (size == 1) {
                      to[row] = *part;
                    } else {
                      std::copy_n(part, size, to + row * size);
                    }
                  }
                }
              });
}

template <typename T>
void Gather(const CpuContext& context, const DenseTensor& x, const DenseTensor& index, int axis, DenseTensor* out) {
  if (out->numel() == 0) return;
  const AxisRun run = RunAlong(x.shape(), axis);
  const auto count = static_cast<size_t>(index.numel());
  if (count == 1) {
    const int64_t position = index.dtype() == DataType::kInt32 ? PositionOf(*index.data<int32_t>(), run.extent)
                                                               : PositionOf(*index.data<int64_t>(), run.extent);
    const int64_t dims[] = {run.outer, run.inner};
    const int64_t from[] = {run.extent * run.inner, 1};
    const int64_t to[] = {run.inner, 1};
    const StridedDims source{dims, from};
    StridedCopy(BroadcastLoops({dims, to}, {&source, 1}), x.data<T>() + position * run.inner, out->mutable_data<T>(),
                sizeof(T), context.pool());
    return;
  }
  if (index.dtype() == DataType::kInt32) {
    GatherAlong<T, int32_t>(context, run, {index.data<int32_t>(), count}, x.data<T>(), out->mutable_data<T>());
  } else {
    GatherAlong<T, int64_t>(context, run, {index.data<int64_t>(), count}, x.data<T>(), out->mutable_data<T>());
  }
}

// On one thread: positions may be the same, and then the order counts.
template <typename Combine, typename T, typename Index>
void Scatter(const Combine& combine, const Parts<Index>& parts, const T* from, T* to) {
  const int64_t size = parts.size();
  for (int64_t row = 0; row < parts.rows(); ++row, from += size) {
    T* const part = to + parts.Offset(row);
    if (size == 1) {
      *part = combine(*part, *from);
    } else if constexpr (std::is_same_v<Combine, Assign>) {
      std::copy_n(from, size, part);
    } else {
      for (int64_t i = 0; i < size; ++i) part[i] = combine(part[i], from[i]);
    }
  }
}

Support SupportsScatterNd(const KernelProblem& problem) {
  return Combines(problem.Attr<std::string>("reduce")) ? Support::Yes() : Support::No("combines no means");
}

template <typename T>
void ScatterNd(const CpuContext& context, const DenseTensor& x, const DenseTensor& index, const DenseTensor& updates,
               const std::string& reduce, DenseTensor* out) {
  if (out->numel() == 0) return;
  if (x.raw_data() != out->raw_data()) {
    StridedCopy(LoopsOver(out->meta(), {&x.meta(), 1}), x.raw_data(), out->mutable_raw_data(), sizeof(T),
                context.pool());
  }
  if (updates.numel() == 0) return;
  WithCombine(reduce, [&](const auto& combine) {
    if (index.dtype() == DataType::kInt32) {
      Scatter(combine, Parts<int32_t>(out->shape(), index, 0), updates.data<T>(), out->mutable_data<T>());
    } else {
      Scatter(combine, Parts<int64_t>(out->shape(), index, 0), updates.data<T>(), out->mutable_data<T>());
    }
  });
}

}  // namespace

REGISTER_KERNEL(gather, cpu, kNative, kNCHW, Gather, WHERRY_CPU_ALL);
REGISTER_KERNEL(gather_nd, cpu, kNative, kNCHW, GatherNd, WHERRY_CPU_ALL);
REGISTER_KERNEL(scatter_nd, cpu, kNative, kNCHW, ScatterNd, float, double, int32_t, int64_t)
    .Supports(&SupportsScatterNd);

}  // namespace wherry::cpu
