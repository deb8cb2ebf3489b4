// weight_only_linear: products with weights that are stored small.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/epilogue.h"
#include "kernels/ref/floats.h"
#include "kernels/ref/quantize.h"

namespace wherry::ref {
namespace {

using Operands = std::span<const DenseTensor* const>;

// The numbers that a weight stands for.
class SmallWeight {
 public:
  SmallWeight(const DenseTensor& weight, const DenseTensor* scale, const DenseTensor* zero_point, int bits,
              int64_t group_size)
      : weight_(weight), zero_point_(zero_point), bits_(bits), group_size_(group_size), stored_(weight.shape()[1]) {
    if (scale == nullptr) {
      floats_ = FloatsOf(weight);
    } else {
      scales_ = FloatsOf(*scale);
      groups_ = scale->numel() / scale->shape()[0];
    }
  }

  double At(int64_t row, int64_t column) const {
    if (scales_.empty()) return floats_[static_cast<size_t>(row * stored_ + column)];
    const int64_t group = row * groups_ + column / group_size_;
    const int32_t zero = zero_point_ == nullptr ? Middle() : ZeroOf(zero_point_, group);
    return static_cast<double>(Integer(row * stored_, column) - zero) * scales_[static_cast<size_t>(group)];
  }

 private:
  int32_t Middle() const { return weight_.dtype() == DataType::kInt8 ? 0 : 1 << (bits_ - 1); }
  int32_t Integer(int64_t row_begin, int64_t column) const {
    if (weight_.dtype() == DataType::kInt8) return weight_.data<int8_t>()[row_begin + column];
    if (bits_ == 8) return weight_.data<uint8_t>()[row_begin + column];
    const uint8_t pair = weight_.data<uint8_t>()[row_begin + column / 2];
    return column % 2 == 0 ? pair & 15 : pair >> 4;
  }

  const DenseTensor& weight_;
  const DenseTensor* zero_point_;
  int bits_;
  int64_t group_size_;  // in a row
  int64_t stored_;      // elements of a row
  int64_t groups_ = 1;
  std::vector<double> floats_;
  std::vector<double> scales_;
};

// Results are of type Out, what the steps read is of type Operand.
template <typename T, typename Out, typename Operand>
void MultiplyAs(const DenseTensor& x, const SmallWeight& small, Operands operands, const Epilogue& epilogue,
                int64_t outputs, DenseTensor* out) {
  const int64_t columns = x.shape().back();
  const EpilogueSteps<Operand> steps(epilogue, operands);
  const T* const from = x.data<T>();
  Out* const to = out->mutable_data<Out>();
  std::vector<double> row(static_cast<size_t>(columns));
  for (int64_t n = 0; n < outputs; ++n) {
    for (int64_t k = 0; k < columns; ++k) row[static_cast<size_t>(k)] = small.At(n, k);
    for (int64_t i = 0; i < out->numel() / outputs; ++i) {
      double sum = 0;
      for (int64_t k = 0; k < columns; ++k) sum += Load(from[i * columns + k]) * row[static_cast<size_t>(k)];
      to[i * outputs + n] = Store<Out>(steps.Apply(sum, n, i * outputs + n));
    }
  }
}

template <typename T>
void WeightOnlyLinear(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& weight,
                      const DenseTensor* weight_scale, const DenseTensor* zero_point, Operands operands, int bits,
                      int64_t group_size, const Epilogue& epilogue, DataType /*out_dtype*/, DenseTensor* out) {
  if (out->numel() == 0) return;
  const SmallWeight small(weight, weight_scale, zero_point, bits, group_size > 0 ? group_size : x.shape().back());
  const bool reads_x_type = operands.empty() || operands[0]->dtype() == x.dtype();
  const auto multiply = out->dtype() == x.dtype() ? &MultiplyAs<T, T, T>
                        : reads_x_type            ? &MultiplyAs<T, float, T>
                                                  : &MultiplyAs<T, float, float>;
  multiply(x, small, operands, epilogue, weight.shape()[0], out);
}

}  // namespace

REGISTER_KERNEL(weight_only_linear, ref, kHost, kNCHW, WeightOnlyLinear, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
