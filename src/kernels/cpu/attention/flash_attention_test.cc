#include "kernels/cpu/attention/flash_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

std::vector<float> Values(int64_t count, int seed) {
  std::vector<float> values(static_cast<size_t>(count));
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761U + 1U;
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8U) / 8388608.0f - 1.0f;
  }
  return values;
}

// Plain loops in double.
std::vector<double> Expected(const FlashHead& head) {
  std::vector<double> out;
  for (int64_t i = 0; i < head.queries; ++i) {
    std::vector<double> weights;
    double largest = -INFINITY;
    for (int64_t j = 0; j < std::min(head.keys, head.visible + i); ++j) {
      double dot = 0;
      for (int64_t d = 0; d < head.size; ++d) {
        dot += double{head.query[i * head.query_stride + d]} * double{head.key[j * head.key_stride + d]};
      }
      const int64_t place = i * head.mask_query_stride + j * head.mask_key_stride;
      double score = dot * double{head.scale};
      if (head.added != nullptr) score += double{head.added[place]};
      if (head.allowed != nullptr && !head.allowed[place]) score = double{head.masked_score};
      weights.push_back(score);
      largest = std::max(largest, score);
    }
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    if (weights.empty() && head.zero_masked_rows) sum = 1.0;
    for (int64_t d = 0; d < head.value_size; ++d) {
      double total = 0;
      for (size_t j = 0; j < weights.size(); ++j) {
        total += weights[j] * double{head.value[static_cast<int64_t>(j) * head.value_stride + d]};
      }
      out.push_back(total / sum);
    }
  }
  return out;
}

struct Sizes {
  int64_t queries;
  int64_t keys;
  int64_t size;
  int64_t value_size;
};

class FlashAttentionTest : public testing::TestWithParam<Sizes> {
 protected:
  void SetUp() override {
    const Sizes& s = GetParam();
    head.queries = s.queries;
    head.keys = s.keys;
    head.size = s.size;
    head.value_size = s.value_size;
    head.query_stride = s.size;
    head.key_stride = s.size + 3;
    head.value_stride = s.value_size + 5;
    head.out_stride = s.value_size;
    query = Values(s.queries * head.query_stride, 1);
    key = Values(s.keys * head.key_stride, 2);
    value = Values(s.keys * head.value_stride, 3);
    out.resize(static_cast<size_t>(s.queries * s.value_size));
    head.query = query.data();
    head.key = key.data();
    head.value = value.data();
    head.out = out.data();
    head.scale = 0.25f;
  }

  void Check() {
    const std::vector<double> expected = Expected(head);
    ForEachIsa([&] {
      std::fill(out.begin(), out.end(), -1.0f);
      std::vector<float> scratch(static_cast<size_t>(FlashScratchFloats(head.size, head.value_size)));
      const int64_t half = head.queries / 2;
      RunFlashAttention(head, 0, half, scratch.data(), ActiveIsa());
      RunFlashAttention(head, half, head.queries, scratch.data(), ActiveIsa());
      for (size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], 1e-5) << "at " << i;
    });
  }

  FlashHead head;
  std::vector<float> query, key, value, out;
};

TEST_P(FlashAttentionTest, Plain) { Check(); }

// Their products with the scale are off by thousands.
TEST_P(FlashAttentionTest, HugeScores) {
  head.scale = 0.3f;
  for (float& x : query) x *= 1e11f;
  Check();
}

TEST_P(FlashAttentionTest, NegativeScale) {
  head.scale = -0.5f;
  Check();
}

TEST_P(FlashAttentionTest, Causal) {
  head.visible = 1 + std::max<int64_t>(0, head.keys - head.queries);
  Check();
}

TEST_P(FlashAttentionTest, CausalFirstSeeNothing) {
  head.visible = -head.queries / 3;
  head.zero_masked_rows = true;
  Check();
}

TEST_P(FlashAttentionTest, CausalAddedPerScore) {
  head.visible = 1 + std::max<int64_t>(0, head.keys - head.queries);
  const std::vector<float> added = Values(head.queries * head.keys, 4);
  head.added = added.data();
  head.mask_query_stride = head.keys;
  head.mask_key_stride = 1;
  Check();
}

TEST_P(FlashAttentionTest, AddedPerScore) {
  const std::vector<float> added = Values(head.queries * head.keys, 4);
  head.added = added.data();
  head.mask_query_stride = head.keys;
  head.mask_key_stride = 1;
  Check();
}

TEST_P(FlashAttentionTest, AddedPerKeyWithMinusInfinity) {
  std::vector<float> added = Values(head.keys, 4);
  for (size_t j = 1; j < added.size(); j += 3) added[j] = -INFINITY;
  head.added = added.data();
  head.mask_key_stride = 1;
  Check();
}

TEST_P(FlashAttentionTest, AllowedPerScore) {
  const std::vector<float> random = Values(head.queries * head.keys, 5);
  const auto allowed = std::make_unique<bool[]>(random.size());
  for (size_t i = 0; i < random.size(); ++i) allowed[i] = random[i] > 0 || i % static_cast<size_t>(head.keys) == 0;
  head.allowed = allowed.get();
  head.masked_score = -INFINITY;
  head.mask_query_stride = head.keys;
  head.mask_key_stride = 1;
  Check();
}

// Large scores that come late make the results so far small.
TEST_P(FlashAttentionTest, GrowingScores) {
  for (int64_t j = 0; j < head.keys; ++j) {
    for (int64_t d = 0; d < head.size; ++d) {
      key[static_cast<size_t>(j * head.key_stride + d)] *= static_cast<float>(j) / 16.0f;
    }
  }
  Check();
}

INSTANTIATE_TEST_SUITE_P(Sizes, FlashAttentionTest,
                         testing::Values(Sizes{1, 1, 1, 1}, Sizes{2, 300, 64, 64}, Sizes{49, 300, 20, 19},
                                         Sizes{100, 600, 64, 80}, Sizes{7, 256, 33, 16}, Sizes{8, 257, 16, 130},
                                         Sizes{98, 49, 32, 32}, Sizes{23, 21, 5, 3}, Sizes{16, 8, 4, 40}));

}  // namespace
}  // namespace wherry::cpu
