#include "kernels/cpu/gemm/bf16_gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/cpu/gemm/word_gemm.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

struct Case {
  int64_t m;
  int64_t k;
  int64_t n;
};

std::vector<BFloat16> RandomValues(int64_t count, std::mt19937* random) {
  std::vector<BFloat16> values;
  for (int64_t i = 0; i < count; ++i) values.emplace_back(static_cast<float>((*random)() % 512) / 64 - 4);
  return values;
}

// Those that the active instruction set has on this machine.
std::vector<Bf16Method> Methods() {
  std::vector<Bf16Method> methods{Bf16Method::kWords};
  for (const int64_t rows : {1, 1000}) {
    if (PickBf16Method(rows) != methods.back()) methods.push_back(PickBf16Method(rows));
  }
  return methods;
}

void CheckCase(const Case& c) {
  SCOPED_TRACE(testing::Message() << c.m << "x" << c.k << "x" << c.n);
  std::mt19937 random(1);  // NOLINT: the same numbers each time
  const std::vector<BFloat16> a = RandomValues(c.m * c.k, &random);
  const std::vector<BFloat16> b = RandomValues(c.n * c.k, &random);
  std::vector<float> bias(static_cast<size_t>(c.n));
  for (float& x : bias) x = static_cast<float>(random() % 1024) / 512 - 1;
  const int64_t row_bytes = c.k * static_cast<int64_t>(sizeof(BFloat16));
  std::vector<uint32_t> packed(static_cast<size_t>(PackedWords(row_bytes, c.n)));
  PackWords(b.data(), row_bytes, c.n, 0, packed.data());
  TileEpilogue epilogue;
  epilogue.Bias(bias.data());

  Bf16Gemm gemm;
  gemm.a = a.data();
  gemm.words = packed.data();
  gemm.row_words = (row_bytes + 3) / 4;
  gemm.m = c.m;
  gemm.n = c.n;
  gemm.k = c.k;
  gemm.epilogue = &epilogue;
  ThreadPool pool(2);
  ForEachIsa([&] {
    for (const Bf16Method method : Methods()) {
      SCOPED_TRACE(static_cast<int>(method));
      std::vector<float> scratch(Bf16ScratchBytes(gemm, method, 2) / sizeof(float));
      std::vector<float> first;
      for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
        std::vector<float> got(static_cast<size_t>(c.m * c.n + 1), 1e30F);
        gemm.c = got.data();
        RunBf16Gemm(gemm, method, scratch.data(), threads);
        EXPECT_EQ(got.back(), 1e30F);
        if (first.empty()) first = got;
        EXPECT_EQ(got, first) << "the result depends on the threads";
      }
      for (int64_t i = 0; i < c.m; ++i) {
        for (int64_t j = 0; j < c.n; ++j) {
          double sum = 0;
          double size = 0;
          for (int64_t k = 0; k < c.k; ++k) {
            const double product = static_cast<float>(a[static_cast<size_t>(i * c.k + k)]) *
                                   static_cast<float>(b[static_cast<size_t>(j * c.k + k)]);
            sum += product;
            size += std::fabs(product);
          }
          ASSERT_NEAR(first[static_cast<size_t>(i * c.n + j)], sum + bias[static_cast<size_t>(j)], 1e-6 * (size + 1))
              << "row " << i << ", column " << j;
        }
      }
    }
  });
}

TEST(Bf16Gemm, EveryMethodGivesTheProducts) {
  for (const Case& c :
       {Case{1, 1, 1}, Case{1, 64, 64}, Case{2, 33, 65}, Case{5, 2, 130}, Case{6, 96, 16}, Case{15, 32, 31},
        Case{16, 31, 32}, Case{17, 70, 33}, Case{31, 257, 70}, Case{33, 64, 97}, Case{70, 130, 129}, Case{8, 0, 3}}) {
    CheckCase(c);
  }
}

TEST(Bf16Gemm, ManyColumnsAndRows) {
  CheckCase({150, 300, 700});
  CheckCase({3, 768, 1500});
}

TEST(Bf16Gemm, NothingIsZero) {
  Bf16Gemm gemm;
  TileEpilogue epilogue;
  gemm.epilogue = &epilogue;
  for (const Bf16Method method : Methods()) RunBf16Gemm(gemm, method, nullptr, nullptr);
}

}  // namespace
}  // namespace wherry::cpu
