#include "kernels/cpu/gemm/word_gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cpu/simd/isa_test_util.h"
#include "wherry/types.h"

namespace wherry::cpu {
namespace {

struct Case {
  int64_t m;
  int64_t k;
  int64_t n;
  int64_t group_size;  // 0: one group
};

// A weight of some bits in a row-major matrix, its scales and zero points, and what it stands for.
struct Weight {
  Weight(const Case& c, int bits, bool has_zeros, std::mt19937* random);

  int bits;
  int64_t row_bytes;
  int64_t groups;
  std::vector<uint8_t> bytes;
  std::vector<float> scales;   // in panels
  std::vector<int16_t> zeros;  // in panels
  std::vector<double> values;  // [n, k]
};

Weight::Weight(const Case& c, int bits_of_value, bool has_zeros, std::mt19937* random)
    : bits(bits_of_value), row_bytes((c.k * bits + 7) / 8) {
  groups = c.group_size == 0 || bits == 16 ? 1 : (c.k + c.group_size - 1) / c.group_size;
  bytes.resize(static_cast<size_t>(row_bytes * c.n));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((*random)());
  const auto places = static_cast<size_t>((c.n + kPanelWidth - 1) / kPanelWidth * groups * kPanelWidth);
  for (size_t i = 0; i < places; ++i) {
    if (bits != 16) scales.push_back(static_cast<float>((*random)() % 64 + 1) / 256);
    if (has_zeros) zeros.push_back(static_cast<int16_t>(static_cast<int>((*random)() % 255) - 127));
  }
  for (int64_t j = 0; j < c.n; ++j) {
    for (int64_t i = 0; i < c.k; ++i) {
      uint8_t* const at = bytes.data() + j * row_bytes + i * bits / 8;
      const int64_t group = groups == 1 ? 0 : i / c.group_size;
      const auto place = static_cast<size_t>((j / kPanelWidth * groups + group) * kPanelWidth + j % kPanelWidth);
      if (bits == 16) {
        const BFloat16 value(static_cast<float>((*random)() % 512) / 64 - 4);
        std::memcpy(at, &value, sizeof(value));
        values.push_back(static_cast<double>(static_cast<float>(value)));
        continue;
      }
      const int nibble = i % 2 == 0 ? *at & 15 : *at >> 4;
      const int integer = bits == 8 ? static_cast<int8_t>(*at) : nibble < 8 ? nibble : nibble - 16;
      values.push_back((integer - (has_zeros ? zeros[place] : 0)) * static_cast<double>(scales[place]));
    }
  }
}

void CheckCase(const Case& c, int bits, bool has_zeros) {
  SCOPED_TRACE(testing::Message() << c.m << "x" << c.k << "x" << c.n << " in groups of " << c.group_size << ", " << bits
                                  << " bits" << (has_zeros ? " with zero points" : ""));
  std::mt19937 random(1);  // NOLINT: the same numbers each time
  const Weight weight(c, bits, has_zeros, &random);
  const int64_t a_stride = c.k + 3;
  std::vector<float> a(static_cast<size_t>(c.m * a_stride));
  for (float& x : a) x = static_cast<float>(random() % 1024) / 512 - 1;
  std::vector<float> bias(static_cast<size_t>(c.n));
  for (float& b : bias) b = static_cast<float>(random() % 1024) / 512 - 1;
  std::vector<uint32_t> packed(static_cast<size_t>(PackedWords(weight.row_bytes, c.n)));
  PackWords(weight.bytes.data(), weight.row_bytes, c.n, 0, packed.data());

  WordGemm gemm;
  gemm.a = a.data();
  gemm.a_stride = a_stride;
  gemm.words = packed.data();
  gemm.row_words = (weight.row_bytes + 3) / 4;
  gemm.bits = bits;
  gemm.scales = weight.scales.empty() ? nullptr : weight.scales.data();
  gemm.zeros = has_zeros ? weight.zeros.data() : nullptr;
  gemm.groups = weight.groups;
  gemm.group_size = c.group_size;
  gemm.c_stride = c.n + 1;
  gemm.m = c.m;
  gemm.n = c.n;
  gemm.k = c.k;
  TileEpilogue epilogue;
  epilogue.Bias(bias.data());
  gemm.epilogue = &epilogue;

  const float untouched = 1e30F;
  ThreadPool pool(2);
  ForEachIsa([&] {
    std::vector<float> first;
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
      std::vector<float> got(static_cast<size_t>(c.m * gemm.c_stride), untouched);
      gemm.c = got.data();
      std::vector<float> scratch(WordGemmScratchBytes(gemm, threads == nullptr ? 1 : 2) / sizeof(float));
      RunWordGemm(gemm, scratch.data(), threads);
      if (first.empty()) first = got;
      EXPECT_EQ(got, first) << "the result depends on the threads";
    }
    for (int64_t i = 0; i < c.m; ++i) {
      EXPECT_EQ(first[static_cast<size_t>(i * gemm.c_stride + c.n)], untouched);
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        double size = 0;
        for (int64_t k = 0; k < c.k; ++k) {
          const double product =
              a[static_cast<size_t>(i * a_stride + k)] * weight.values[static_cast<size_t>(j * c.k + k)];
          sum += product;
          size += std::fabs(product);
        }
        ASSERT_NEAR(first[static_cast<size_t>(i * gemm.c_stride + j)], sum + bias[static_cast<size_t>(j)],
                    1e-6 * (size + 1))
            << "row " << i << ", column " << j;
      }
    }
  });
}

TEST(WordGemm, EveryBodyGivesTheProducts) {
  for (const Case& c : {Case{1, 1, 1, 0}, Case{1, 64, 64, 0}, Case{1, 130, 130, 0}, Case{2, 33, 65, 0},
                        Case{3, 96, 16, 32}, Case{4, 80, 17, 32}, Case{5, 72, 100, 8}, Case{6, 40, 129, 16},
                        Case{7, 19, 63, 0}, Case{13, 257, 70, 128}, Case{31, 512, 192, 64}, Case{2, 0, 3, 0},
                        Case{32, 1, 64, 0}, Case{33, 45, 67, 0}, Case{40, 72, 130, 8}, Case{32, 0, 3, 0}}) {
    CheckCase(c, 16, false);
    for (const int bits : {4, 8}) {
      for (const bool has_zeros : {false, true}) CheckCase(c, bits, has_zeros);
    }
  }
}

TEST(WordGemm, ManyColumnsAndRows) {
  CheckCase({1, 768, 1500, 0}, 8, false);
  CheckCase({150, 300, 700, 0}, 8, false);
  CheckCase({150, 304, 700, 16}, 4, true);
  CheckCase({150, 70, 40, 0}, 8, false);  // one panel for two threads
}

TEST(WordGemm, NothingIsZero) {
  WordGemm gemm;
  TileEpilogue epilogue;
  gemm.epilogue = &epilogue;
  RunWordGemm(gemm, nullptr, nullptr);
  gemm.m = 100;
  EXPECT_EQ(WordGemmScratchBytes(gemm, 2), 0U);
  EXPECT_EQ(PackedWords(0, 5), 0);
  EXPECT_EQ(PackedWords(5, 0), 0);
  EXPECT_EQ(PackedWords(5, 65), 256);
}

TEST(WordGemm, PackFlipsSigns) {
  const std::vector<uint8_t> rows{0, 128, 255, 1, 2, 3};  // 2 rows of 3
  std::vector<uint32_t> packed(static_cast<size_t>(PackedWords(3, 2)));
  PackWords(rows.data(), 3, 2, 0x80808080, packed.data());
  EXPECT_EQ(packed[0], 0x807F0080U);
  EXPECT_EQ(packed[1], 0x80838281U);
}

}  // namespace
}  // namespace wherry::cpu
