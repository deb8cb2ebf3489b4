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
  Weight(const Case& c, WordType type, bool has_zeros, std::mt19937* random);

  std::vector<uint32_t> Packed(const Case& c, WordType type) const;

  int64_t row_bytes;
  int64_t groups;
  std::vector<uint8_t> bytes;
  std::vector<float> scales;   // in panels
  std::vector<int16_t> zeros;  // in panels
  std::vector<double> values;  // [n, k]
};

// Writes a number of f16 or bf16, of usual size.
template <typename Half>
double AddHalf(std::mt19937* random, uint8_t* at) {
  const Half value(static_cast<float>((*random)() % 512) / 64 - 4);
  std::memcpy(at, &value, sizeof(value));
  return static_cast<double>(static_cast<float>(value));
}

Weight::Weight(const Case& c, WordType type, bool has_zeros, std::mt19937* random)
    : row_bytes((c.k * WordBits(type) + 7) / 8) {
  const int bits = WordBits(type);
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
        values.push_back(type == WordType::kFloat16 ? AddHalf<Float16>(random, at) : AddHalf<BFloat16>(random, at));
        continue;
      }
      const int nibble = i % 2 == 0 ? *at & 15 : *at >> 4;
      const int integer = bits == 8 ? static_cast<int8_t>(*at) : nibble < 8 ? nibble : nibble - 16;
      values.push_back((integer - (has_zeros ? zeros[place] : 0)) * static_cast<double>(scales[place]));
    }
  }
}

std::vector<uint32_t> Weight::Packed(const Case& c, WordType type) const {
  std::vector<uint32_t> packed(static_cast<size_t>(PackedWords(row_bytes, c.n)));
  if (type == WordType::kFloat16) {
    PackHalves(reinterpret_cast<const uint16_t*>(bytes.data()), c.k, c.n, reinterpret_cast<uint16_t*>(packed.data()));
  } else {
    PackWords(bytes.data(), row_bytes, c.n, 0, packed.data());
  }
  return packed;
}

void CheckCase(const Case& c, WordType type, bool has_zeros) {
  SCOPED_TRACE(testing::Message() << c.m << "x" << c.k << "x" << c.n << " in groups of " << c.group_size << ", type "
                                  << static_cast<int>(type) << (has_zeros ? " with zero points" : ""));
  std::mt19937 random(1);  // NOLINT: the same numbers each time
  const Weight weight(c, type, has_zeros, &random);
  const int64_t a_stride = c.k + 3;
  std::vector<float> a(static_cast<size_t>(c.m * a_stride));
  for (float& x : a) x = static_cast<float>(random() % 1024) / 512 - 1;
  std::vector<float> bias(static_cast<size_t>(c.n));
  for (float& b : bias) b = static_cast<float>(random() % 1024) / 512 - 1;
  const std::vector<uint32_t> packed = weight.Packed(c, type);

  WordGemm gemm;
  gemm.a = a.data();
  gemm.a_stride = a_stride;
  gemm.words = packed.data();
  gemm.row_words = (weight.row_bytes + 3) / 4;
  gemm.type = type;
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
    for (const WordType type : {WordType::kBFloat16, WordType::kFloat16}) CheckCase(c, type, false);
    for (const WordType type : {WordType::kInt4, WordType::kInt8}) {
      for (const bool has_zeros : {false, true}) CheckCase(c, type, has_zeros);
    }
  }
}

TEST(WordGemm, ManyColumnsAndRows) {
  CheckCase({1, 768, 1500, 0}, WordType::kInt8, false);
  CheckCase({1, 767, 1500, 0}, WordType::kFloat16, false);
  CheckCase({150, 300, 700, 0}, WordType::kInt8, false);
  CheckCase({150, 301, 700, 0}, WordType::kFloat16, false);
  CheckCase({150, 304, 700, 16}, WordType::kInt4, true);
  CheckCase({150, 70, 40, 0}, WordType::kInt8, false);  // one panel for two threads
}

// Every f16 there is: a weight of one column, by rows of 1, few and many.
TEST(WordGemm, EveryHalfIsItself) {
  constexpr int64_t kCount = 1 << 16;
  std::vector<uint16_t> halves(kCount);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  std::vector<uint32_t> packed(static_cast<size_t>(PackedWords(2, kCount)));
  PackHalves(halves.data(), 1, kCount, reinterpret_cast<uint16_t*>(packed.data()));
  const std::vector<float> a(40, 1.0F);
  const TileEpilogue epilogue;
  ForEachIsa([&] {
    for (const int64_t rows : {1, 3, 40}) {
      std::vector<float> c(static_cast<size_t>(rows * kCount));
      WordGemm gemm;
      gemm.a = a.data();
      gemm.a_stride = 1;
      gemm.words = packed.data();
      gemm.row_words = 1;
      gemm.type = WordType::kFloat16;
      gemm.c = c.data();
      gemm.m = rows;
      gemm.n = gemm.c_stride = kCount;
      gemm.k = 1;
      gemm.epilogue = &epilogue;
      std::vector<float> scratch(WordGemmScratchBytes(gemm, 1) / sizeof(float));
      RunWordGemm(gemm, scratch.data(), nullptr);
      for (size_t i = 0; i < c.size(); ++i) {
        Float16 half;
        half.bits = halves[i % kCount];
        const auto expected = static_cast<float>(half);
        ASSERT_TRUE(std::isnan(expected) ? std::isnan(c[i]) : c[i] == expected) << half.bits << ": " << c[i];
      }
    }
  });
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

TEST(WordGemm, PackedHalvesLieByColumns) {
  const std::vector<uint16_t> rows{1, 2, 3, 4, 5, 6};  // 2 rows of 3
  ASSERT_EQ(PackedWords(6, 2), 128);
  std::vector<uint16_t> packed(256, 7);
  PackHalves(rows.data(), 3, 2, packed.data());
  EXPECT_EQ(packed[0], 1);
  EXPECT_EQ(packed[1], 4);
  EXPECT_EQ(packed[2], 0);
  EXPECT_EQ(packed[64], 2);
  EXPECT_EQ(packed[129], 6);
  for (size_t i = 192; i < 256; ++i) EXPECT_EQ(packed[i], 0);
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
