// gather_nd and scatter_nd: parts of a tensor at the positions that the rows of an index hold.
#include <algorithm>
#include <string>

#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernel/position.h"
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

template <typename T, typename Index>
void Gather(const CpuContext& context, const Parts<Index>& parts, const T* from, T* to) {
  const int64_t size = parts.size();
  constexpr int64_t kMinElements = 8192;  // about 5 us
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
    Gather(context, Parts<int32_t>(x.shape(), index, batch_dims), x.data<T>(), out->mutable_data<T>());
  } else {
    Gather(context, Parts<int64_t>(x.shape(), index, batch_dims), x.data<T>(), out->mutable_data<T>());
  }
}

// On one thread: positions may be the same, and then the order counts.
template <bool kAdds, typename T, typename Index>
void Scatter(const Parts<Index>& parts, const T* from, T* to) {
  const int64_t size = parts.size();
  for (int64_t row = 0; row < parts.rows(); ++row, from += size) {
    T* const part = to + parts.Offset(row);
    if constexpr (kAdds) {
      for (int64_t i = 0; i < size; ++i) part[i] = static_cast<T>(part[i] + from[i]);
    } else if (size == 1) {
      *part = *from;
    } else {
      std::copy_n(from, size, part);
    }
  }
}

// T: a type as large as the elements, or for sums theirs; unsigned, where sums wrap.
template <bool kAdds, typename T>
void Put(const DenseTensor& index, const DenseTensor& updates, DenseTensor* out) {
  const auto* const from = static_cast<const T*>(updates.raw_data());
  auto* const to = static_cast<T*>(out->mutable_raw_data());
  if (index.dtype() == DataType::kInt32) {
    Scatter<kAdds>(Parts<int32_t>(out->shape(), index, 0), from, to);
  } else {
    Scatter<kAdds>(Parts<int64_t>(out->shape(), index, 0), from, to);
  }
}

Support SupportsScatterNd(const KernelProblem& problem) {
  const auto reduce = problem.Attr<std::string>("reduce");
  return reduce == "assign" || reduce == "add" ? Support::Yes() : Support::No("sets or adds only");
}

template <typename Bits, typename Sum>
void ScatterNd(KernelContext* context) {
  const DenseTensor& x = *context->Input(0);
  const DenseTensor& index = *context->Input(1);
  const DenseTensor& updates = *context->Input(2);
  DenseTensor* const out = context->Output(0);
  if (out->numel() == 0) return;
  if (x.raw_data() != out->raw_data()) {
    StridedCopy(LoopsOver(out->meta(), {&x.meta(), 1}), x.raw_data(), out->mutable_raw_data(), sizeof(Bits),
                context->device_as<CpuContext>().pool());
  }
  if (updates.numel() == 0) return;
  if (context->AttrAt<std::string>(0) == "add") {
    Put<true, Sum>(index, updates, out);
  } else {
    Put<false, Bits>(index, updates, out);
  }
}

}  // namespace

REGISTER_KERNEL(gather_nd, cpu, kNative, kNCHW, GatherNd, float, double, ::wherry::Float16, ::wherry::BFloat16, int8_t,
                uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, bool);
REGISTER_KERNEL_VARIANT(scatter_nd, cpu, parts, kNative, kFloat, kNCHW)
    .Supports(&SupportsScatterNd)
    .Run(&ScatterNd<uint32_t, float>);
REGISTER_KERNEL_VARIANT(scatter_nd, cpu, parts, kNative, kInt32, kNCHW)
    .Supports(&SupportsScatterNd)
    .Run(&ScatterNd<uint32_t, uint32_t>);
REGISTER_KERNEL_VARIANT(scatter_nd, cpu, parts, kNative, kInt64, kNCHW)
    .Supports(&SupportsScatterNd)
    .Run(&ScatterNd<uint64_t, uint64_t>);

}  // namespace wherry::cpu
