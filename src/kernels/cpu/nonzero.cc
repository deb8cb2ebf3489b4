// nonzero: the elements are looked at in short runs without a branch on each, as which are zero cannot be foreseen.
#include <algorithm>
#include <array>

#include "core/buffer.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"

namespace wherry::cpu {
namespace {

// Turns places among the elements, which go up, into positions along each axis.
class Positions {
 public:
  explicit Positions(const Shape& shape) : shape_(shape), last_(shape.rank() - 1) {}

  // `to` takes one for each axis; returns where it ends.
  int64_t* Write(int64_t place, int64_t* to) {
    if (last_ < 0) return to;
    if (place >= row_end_) {
      const int64_t size = shape_[last_];
      int64_t row = place / size;
      row_end_ = (row + 1) * size;
      for (int axis = last_ - 1; axis >= 0; row /= shape_[axis--]) at_[static_cast<size_t>(axis)] = row % shape_[axis];
    }
    for (int axis = 0; axis < last_; ++axis) *to++ = at_[static_cast<size_t>(axis)];
    *to++ = place - (row_end_ - shape_[last_]);
    return to;
  }

 private:
  const Shape& shape_;
  int last_;
  int64_t row_end_ = 0;                        // the place behind the row of the last axis that was last written of
  std::array<int64_t, Shape::kMaxRank> at_{};  // of that row
};

template <typename T>
void Nonzero(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  const T* const from = x.data<T>();
  const int64_t numel = x.numel();
  const int64_t count = numel - std::count(from, from + numel, T{});
  out->Allocate(HostAllocator(), TensorMeta{DataType::kInt64, Shape{count, int64_t{x.shape().rank()}}});
  int64_t* to = out->mutable_data<int64_t>();
  Positions positions(x.shape());
  constexpr int64_t kRun = 256;
  std::array<int64_t, kRun> found;
  for (int64_t begin = 0; begin < numel; begin += kRun) {
    const int64_t end = std::min(begin + kRun, numel);
    size_t n = 0;
    for (int64_t i = begin; i < end; ++i) {
      found[n] = i;
      n += from[i] != T{} ? 1 : 0;
    }
    for (size_t i = 0; i < n; ++i) to = positions.Write(found[i], to);
  }
}

}  // namespace

REGISTER_KERNEL(nonzero, cpu, kNative, kNCHW, Nonzero, float, double, int8_t, uint8_t, int32_t, int64_t, bool);

}  // namespace wherry::cpu
