// Reductions of f32 tensors over axes.
#include "kernels/cpu/vector/reduce.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"

namespace wherry::cpu {
namespace {

// The dimensions, with neighbours merged that are both reduced or both kept.
class Runs {
 public:
  Runs(const Shape& shape, const IntArray& axis) {
    const int rank = shape.rank();
    std::array<bool, Shape::kMaxRank> reduced{};
    reduced.fill(axis.empty());
    for (const int64_t a : axis) reduced[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
    for (int a = 0; a < rank; ++a) {
      const bool is_reduced = reduced[static_cast<size_t>(a)];
      if (shape[a] == 1) continue;
      if (count_ > 0 && reduced_[count_ - 1] == is_reduced) {
        length_[count_ - 1] *= shape[a];
      } else {
        length_[count_] = shape[a];
        reduced_[count_++] = is_reduced;
      }
    }
  }

  // The innermost reduced run as [outer][axis][inner]; it is kept, with length 1, from then on. False if none is left.
  bool Take(int64_t* outer, int64_t* axis, int64_t* inner) {
    *inner = 1;
    for (size_t i = count_; i-- > 0;) {
      if (!reduced_[i]) {
        *inner *= length_[i];
        continue;
      }
      *axis = std::exchange(length_[i], 1);
      *outer = 1;
      for (size_t k = 0; k < i; ++k) *outer *= length_[k];
      reduced_[i] = false;
      return true;
    }
    return false;
  }

  bool has_more() const {
    return std::find(reduced_.begin(), reduced_.begin() + count_, true) != reduced_.begin() + count_;
  }

 private:
  std::array<int64_t, Shape::kMaxRank> length_{};
  std::array<bool, Shape::kMaxRank> reduced_{};
  size_t count_ = 0;
};

void ReduceAxes(const CpuContext& context, const DenseTensor& x, const IntArray& axis, DenseTensor* out,
                ReduceKind kind) {
  const int64_t count = out->numel();
  if (count == 0) return;
  const int64_t per_element = x.numel() / count;
  // A mean of several runs is the sum of all, divided once.
  const bool several_mean = kind == ReduceKind::kMean;
  Runs runs(x.shape(), axis);
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
  const float* from = x.data<float>();
  float* const to = out->mutable_data<float>();
  if (!runs.Take(&outer, &length, &inner)) {
    std::copy_n(from, count, to);
    return;
  }
  if (!runs.has_more()) {
    Reduce(kind, from, to, outer, length, inner, context.pool());
    return;
  }
  // Partial results go through two halves of the scratch memory in turn; the first is the largest.
  const int64_t half = outer * inner;
  float* const scratch = static_cast<float*>(context.Scratch(static_cast<size_t>(2 * half) * sizeof(float)));
  const ReduceKind step = several_mean ? ReduceKind::kSum : kind;
  for (int turn = 0;; ++turn) {
    const bool last = !runs.has_more();
    float* const result = last ? to : scratch + turn % 2 * half;
    Reduce(step, from, result, outer, length, inner, context.pool());
    if (last) break;
    from = result;
    runs.Take(&outer, &length, &inner);
  }
  if (several_mean) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(to[i] / static_cast<double>(per_element));
  }
}

template <typename T>
void Sum(const CpuContext& context, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  ReduceAxes(context, x, axis, out, ReduceKind::kSum);
}

template <typename T>
void Mean(const CpuContext& context, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  ReduceAxes(context, x, axis, out, ReduceKind::kMean);
}

template <typename T>
void Prod(const CpuContext& context, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  ReduceAxes(context, x, axis, out, ReduceKind::kProd);
}

// The extreme of nothing is the value that any other beats, as ONNX has it.
void Extreme(const CpuContext& context, const DenseTensor& x, const IntArray& axis, DenseTensor* out, ReduceKind kind) {
  if (x.numel() == 0) {
    const float infinity = std::numeric_limits<float>::infinity();
    std::fill_n(out->mutable_data<float>(), out->numel(), kind == ReduceKind::kMax ? -infinity : infinity);
    return;
  }
  ReduceAxes(context, x, axis, out, kind);
}

template <typename T>
void Max(const CpuContext& context, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  Extreme(context, x, axis, out, ReduceKind::kMax);
}

template <typename T>
void Min(const CpuContext& context, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  Extreme(context, x, axis, out, ReduceKind::kMin);
}

}  // namespace

REGISTER_KERNEL(sum, cpu, kNative, kNCHW, Sum, float);
REGISTER_KERNEL(mean, cpu, kNative, kNCHW, Mean, float);
REGISTER_KERNEL(prod, cpu, kNative, kNCHW, Prod, float);
REGISTER_KERNEL(max, cpu, kNative, kNCHW, Max, float);
REGISTER_KERNEL(min, cpu, kNative, kNCHW, Min, float);

}  // namespace wherry::cpu
