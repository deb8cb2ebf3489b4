#include "pass/scaled_weight.h"

#include <utility>

namespace wherry {

DenseTensor ScaledWeight(const DenseTensor& weight, int64_t row, std::vector<double> factors) {
  auto write = [weight, row, factors = std::move(factors)](void* result) {
    auto* to = static_cast<float*>(result);
    const bool deferred = weight.buffer()->is_deferred();
    if (deferred) weight.CopyBytesTo(to);
    const float* from = deferred ? to : weight.data<float>();
    const int64_t rows = row == 0 ? 0 : weight.numel() / row;
    size_t next = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const double factor = factors[next];
      next = next + 1 == factors.size() ? 0 : next + 1;
      for (int64_t i = 0; i < row; ++i) *to++ = static_cast<float>(*from++ * factor);
    }
    weight.buffer()->Discard();
  };
  return DenseTensor(weight.meta(), Buffer::Deferred(weight.nbytes(), std::move(write)));
}

}  // namespace wherry
