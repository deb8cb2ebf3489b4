// What is found by equal elements: counts of n-grams, values of keys.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"

namespace wherry::ref {
namespace {

// The positions of one row where a gram of `length` elements, `step` apart, begins.
template <typename T, typename Found>
void ForEachGram(const T* row, int64_t width, int64_t length, int64_t step, Found found) {
  std::vector<T> gram(static_cast<size_t>(length));
  for (int64_t start = 0; start + (length - 1) * step < width; ++start) {
    for (int64_t i = 0; i < length; ++i) gram[static_cast<size_t>(i)] = row[start + i * step];
    found(gram);
  }
}

template <typename T>
void TfIdf(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& pool,
           const std::vector<int64_t>& counts, const std::vector<int64_t>& indexes, int64_t shortest, int64_t longest,
           int64_t max_skips, const std::string& mode, const std::vector<double>& weights, DenseTensor* out) {
  // Each gram's number among all.
  std::map<std::vector<T>, size_t> grams;
  size_t number = 0;
  const T* elements = pool.data<T>();
  for (size_t i = 0; i < counts.size(); ++i) {
    const int64_t end = i + 1 < counts.size() ? counts[i + 1] : pool.numel();
    const auto length = static_cast<int64_t>(i) + 1;
    for (int64_t at = counts[i]; at + length <= end; at += length, ++number) {
      if (shortest <= length && length <= longest)
        grams.emplace(std::vector<T>(elements + at, elements + at + length), number);
    }
  }
  const int64_t width = x.shape().back();
  const int64_t rows = width == 0 ? 0 : x.numel() / width;
  const int64_t out_width = out->shape().back();
  float* to = out->mutable_data<float>();
  std::fill(to, to + out->numel(), 0.0F);
  for (int64_t r = 0; r < rows; ++r, to += out_width) {
    const T* row = x.data<T>() + r * width;
    std::vector<int64_t> found(indexes.size(), 0);
    for (int64_t length = shortest; length <= longest; ++length) {
      // A single element skips nothing, and no step is longer than the row.
      const int64_t steps = length == 1 ? 1 : std::min(max_skips + 1, width);
      for (int64_t step = 1; step <= steps; ++step) {
        ForEachGram(row, width, length, step, [&](const std::vector<T>& gram) {
          if (const auto it = grams.find(gram); it != grams.end()) ++found[it->second];
        });
      }
    }
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i] == 0) continue;
      const double weight = mode == "TF" || weights.empty() ? 1.0 : weights[i];
      const double count = mode == "IDF" ? 1.0 : static_cast<double>(found[i]);
      to[indexes[i]] += static_cast<float>(count * weight);
    }
  }
}

// An order in which NaN comes before all numbers, so that it equals itself.
template <typename T>
struct KeyLess {
  bool operator()(const T& a, const T& b) const {
    if constexpr (std::floating_point<T>) {
      if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
    }
    return a < b;
  }
};

template <typename T>
void MapValues(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& keys, const DenseTensor& values,
               const DenseTensor& fallback, DenseTensor* out) {
  std::map<T, int64_t, KeyLess<T>> places;
  for (int64_t i = 0, n = keys.numel(); i < n; ++i) places[keys.data<T>()[i]] = i;
  const bool strings = values.dtype() == DataType::kString;
  const size_t size = SizeOf(values.dtype());
  WHERRY_ENFORCE(strings || size > 0, kUnsupported, "values are ", values.meta().DebugString());
  for (int64_t i = 0, n = x.numel(); i < n; ++i) {
    const auto it = places.find(x.data<T>()[i]);
    const DenseTensor& source = it == places.end() ? fallback : values;
    const auto place = static_cast<size_t>(it == places.end() ? 0 : it->second);
    if (strings) {
      out->mutable_data<std::string>()[i] = source.data<std::string>()[place];
    } else {
      std::memcpy(static_cast<char*>(out->mutable_raw_data()) + static_cast<size_t>(i) * size,
                  static_cast<const char*>(source.raw_data()) + place * size, size);
    }
  }
}

}  // namespace

REGISTER_KERNEL(tf_idf, ref, kHost, kNCHW, TfIdf, int32_t, int64_t, std::string);
REGISTER_KERNEL(map_values, ref, kHost, kNCHW, MapValues, float, double, int16_t, int32_t, int64_t, bool, std::string);

}  // namespace wherry::ref
