// attention: the scores of one query at a time, in double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "op/infer/attention_shape.h"

namespace wherry::ref {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
void Attention(const CpuContext& /*context*/, const DenseTensor& query, const DenseTensor& key,
               const DenseTensor& value, const DenseTensor* mask, int heads, int key_heads, int size,
               const std::vector<int64_t>& columns, float scale, bool causal, float masked_score, bool zero_masked_rows,
               bool merged, DenseTensor* out) {
  if (out->numel() == 0) return;
  const AttentionShape s =
      MakeAttentionShape(query.shape(), key.shape(), value.shape(), mask == nullptr ? nullptr : &mask->shape(), heads,
                         key_heads, size, columns, merged);
  const auto at = [](const AttentionOperand& place, int64_t b, int64_t h, int64_t i) {
    return place.first + b * place.batch + h * place.head + i * place.row;
  };
  const auto masked = [&](double score, int64_t place) {
    if (mask == nullptr) return score;
    if (mask->dtype() == DataType::kBool) return mask->data<bool>()[place] ? score : double{masked_score};
    return score + Load(mask->data<T>()[place]);
  };
  std::vector<double> weights(static_cast<size_t>(s.keys));
  for (int64_t b = 0; b < s.batch; ++b) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const int64_t own = h / (s.heads / s.key_heads);
      for (int64_t i = 0; i < s.queries; ++i) {
        // Keys beyond the last that a query may see take no part at all.
        const int64_t keys = causal ? std::min(s.keys, i + 1 + s.keys - s.queries) : s.keys;
        const T* q = query.data<T>() + at(s.query, b, h, i);
        double largest = -kInfinity;
        for (int64_t j = 0; j < keys; ++j) {
          const T* k = key.data<T>() + at(s.key, b, own, j);
          double dot = 0.0;
          for (int64_t d = 0; d < s.size; ++d) dot += Load(q[d]) * Load(k[d]);
          const int64_t place = b * s.mask[0] + h * s.mask[1] + i * s.mask[2] + j * s.mask[3];
          double& weight = weights[static_cast<size_t>(j)];
          weight = masked(dot * double{scale}, place);
          largest = MaxElement(largest, weight);
        }
        double sum = 0.0;
        for (int64_t j = 0; j < keys; ++j) {
          double& weight = weights[static_cast<size_t>(j)];
          weight = std::exp(weight - (largest == -kInfinity ? 0.0 : largest));
          sum += weight;
        }
        const double factor = sum == 0.0 && zero_masked_rows ? 0.0 : 1.0 / sum;
        T* to = out->mutable_data<T>() + at(s.out, b, h, i);
        for (int64_t d = 0; d < s.value_size; ++d) {
          double total = 0.0;
          for (int64_t j = 0; j < keys; ++j) {
            total += weights[static_cast<size_t>(j)] * Load(value.data<T>()[at(s.value, b, own, j) + d]);
          }
          to[d] = Store<T>(total * factor);
        }
      }
    }
  }
}

}  // namespace

REGISTER_KERNEL(attention, ref, kHost, kNCHW, Attention, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
