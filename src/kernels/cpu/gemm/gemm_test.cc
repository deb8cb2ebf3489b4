#include "kernels/cpu/gemm/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

constexpr float kGuard = 1234.5f;

std::vector<float> Random(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = uniform(generator);
  return values;
}

float At(const MatrixView& m, int64_t i, int64_t j) { return m.data[i * m.row_stride + j * m.col_stride]; }

std::vector<double> Reference(const MatrixView& a, const MatrixView& b, int64_t m, int64_t n, int64_t k) {
  std::vector<double> c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int64_t p = 0; p < k; ++p) sum += static_cast<double>(At(a, i, p)) * At(b, p, j);
      c[static_cast<size_t>(i * n + j)] = sum;
    }
  }
  return c;
}

// Rounding of k products of numbers below 1.
double Tolerance(int64_t k) { return 1e-6 * std::sqrt(static_cast<double>(k) + 1.0) + 1e-6; }

struct Shape {
  int64_t m, k, n;
};

// Runs C = A B with packed weights into a C with gaps between its rows and checks that the gaps are untouched.
void CheckPacked(const Shape& s, bool transpose_a, bool transpose_b, PanelLayout layout, ThreadPool* pool) {
  SCOPED_TRACE(testing::Message() << s.m << "x" << s.k << "x" << s.n << " " << transpose_a << transpose_b << " "
                                  << LayoutName(layout));
  const std::vector<float> a_data = Random(s.m * s.k, 1);
  const std::vector<float> b_data = Random(s.k * s.n, 2);
  const MatrixView a = transpose_a ? MatrixView{a_data.data(), 1, s.m} : MatrixView{a_data.data(), s.k, 1};
  const MatrixView b = transpose_b ? MatrixView{b_data.data(), 1, s.k} : MatrixView{b_data.data(), s.n, 1};
  std::vector<float> packed(static_cast<size_t>(PackedFloats(s.k, s.n)));
  PackB(b, s.k, s.n, packed.data(), pool, layout);
  const int64_t stride = s.n + 3;
  std::vector<float> c(static_cast<size_t>(s.m * stride), kGuard);
  GemmPacked(a, packed.data(), c.data(), stride, s.m, s.n, s.k, TileEpilogue(), pool, layout);
  const std::vector<double> want = Reference(a, b, s.m, s.n, s.k);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < stride; ++j) {
      const float got = c[static_cast<size_t>(i * stride + j)];
      if (j < s.n) {
        ASSERT_NEAR(got, want[static_cast<size_t>(i * s.n + j)], Tolerance(s.k)) << i << "," << j;
      } else {
        ASSERT_EQ(got, kGuard) << i << "," << j;
      }
    }
  }
}

TEST(Gemm, PackedShapes) {
  const Shape shapes[] = {{1, 1, 1},   {7, 33, 100}, {1, 64, 64}, {1, 129, 200},  {2, 40, 65},   {3, 17, 31},
                          {4, 5, 16},  {5, 8, 17},   {6, 9, 48},  {13, 70, 129},  {25, 3, 7},    {31, 100, 63},
                          {64, 0, 70}, {0, 5, 5},    {5, 5, 0},   {197, 48, 192}, {12, 300, 33}, {100, 64, 10}};
  ThreadPool two(2);
  ForEachIsa([&] {
    for (const Shape& s : shapes) {
      for (const PanelLayout layout : {PanelLayout::kRows, WeightLayout()}) {
        CheckPacked(s, false, false, layout, nullptr);
        CheckPacked(s, true, false, layout, nullptr);
        CheckPacked(s, false, true, layout, &two);
        CheckPacked(s, true, true, layout, &two);
      }
    }
    CheckPacked({300, 130, 700}, false, false, WeightLayout(), &two);  // weights beyond the small-weights rule
    CheckPacked({200, 96, 1500}, false, false, WeightLayout(), &two);
  });
}

TEST(Gemm, ThreadsDoNotChangeTheResult) {
  const int64_t m = 95, k = 211, n = 517;
  const std::vector<float> a = Random(m * k, 3);
  const std::vector<float> b = Random(k * n, 4);
  std::vector<float> packed(static_cast<size_t>(PackedFloats(k, n)));
  PackB({b.data(), n, 1}, k, n, packed.data(), nullptr);
  std::vector<float> one(static_cast<size_t>(m * n));
  std::vector<float> three(one.size());
  ThreadPool pool(3);
  GemmPacked({a.data(), k, 1}, packed.data(), one.data(), n, m, n, k, TileEpilogue(), nullptr);
  GemmPacked({a.data(), k, 1}, packed.data(), three.data(), n, m, n, k, TileEpilogue(), &pool);
  EXPECT_EQ(one, three);
}

TEST(Gemm, NonFiniteValuesReachOnlyTheirRowsAndColumns) {
  const int64_t m = 9, k = 20, n = 70;
  std::vector<float> a = Random(m * k, 5);
  const std::vector<float> b = Random(k * n, 6);
  a[static_cast<size_t>(2 * k + 3)] = std::numeric_limits<float>::quiet_NaN();
  a[static_cast<size_t>(5 * k)] = std::numeric_limits<float>::infinity();
  std::vector<float> packed(static_cast<size_t>(PackedFloats(k, n)));
  PackB({b.data(), n, 1}, k, n, packed.data(), nullptr);
  std::vector<float> c(static_cast<size_t>(m * n));
  TileEpilogue relu;
  const std::vector<float> bias(static_cast<size_t>(n), 0.5f);
  relu.Bias(bias.data()).Activate({ActKind::kRelu});
  ForEachIsa([&] {
    GemmPacked({a.data(), k, 1}, packed.data(), c.data(), n, m, n, k, relu, nullptr);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const float v = c[static_cast<size_t>(i * n + j)];
        if (i == 2) {
          EXPECT_TRUE(std::isnan(v));
        } else if (i == 5) {
          EXPECT_TRUE(v == 0.0f || std::isinf(v));
        } else {
          EXPECT_TRUE(std::isfinite(v));
        }
      }
    }
  });
}

// Every form of epilogue, and some that have none, against the steps in double.
TEST(Gemm, Epilogues) {
  const int64_t m = 20, k = 31, n = 150;
  const std::vector<float> a = Random(m * k, 7);
  const std::vector<float> b = Random(k * n, 8);
  const std::vector<float> bias = Random(n, 9);
  const std::vector<float> scale = Random(n, 10);
  const std::vector<float> residual = Random(m * (n + 5), 11);
  std::vector<float> packed(static_cast<size_t>(PackedFloats(k, n)));
  PackB({b.data(), n, 1}, k, n, packed.data(), nullptr);
  const std::vector<double> product = Reference({a.data(), k, 1}, {b.data(), n, 1}, m, n, k);
  const Activation relu{ActKind::kRelu};
  const Activation clip{ActKind::kClip, -0.4f, 0.6f};
  std::vector<TileEpilogue> epilogues(20);
  epilogues[1].Bias(bias.data());
  epilogues[2].Bias(bias.data()).Activate(relu);
  epilogues[3].Bias(bias.data()).Activate(clip);
  epilogues[4].Bias(bias.data()).Add(residual.data(), n + 5);
  epilogues[5].Bias(bias.data()).Add(residual.data(), n + 5).Activate(relu);
  epilogues[6].Bias(bias.data()).Activate({ActKind::kHardSwish});
  epilogues[7].Scale(scale.data()).Bias(bias.data()).Activate({ActKind::kTanh}).Add(residual.data(), n + 5);
  epilogues[8].Activate({ActKind::kGelu});
  epilogues[9].Bias(bias.data()).Activate(relu).Add(residual.data(), n + 5);
  epilogues[10].Add(residual.data(), n + 5);
  epilogues[11].Factor(-1.5f).Bias(bias.data());
  epilogues[12].Bias(bias.data()).Activate({ActKind::kHardSwish}).Scale(scale.data()).Bias(bias.data());
  epilogues[13].Bias(bias.data()).Activate({ActKind::kSwish, 1});
  epilogues[14].Bias(bias.data()).Activate({ActKind::kSwish, 0.5f}).Scale(scale.data()).Bias(bias.data());
  epilogues[15].Activate(relu);
  epilogues[16].Activate({ActKind::kHardSwish}).Scale(scale.data()).Bias(bias.data());
  epilogues[17].Add(residual.data(), n + 5).Activate(clip);
  epilogues[18].Bias(bias.data()).Activate({ActKind::kLeakyRelu, 0.2f});
  epilogues[19].Bias(bias.data()).Activate({ActKind::kGelu});
  ThreadPool two(2);
  ForEachIsa([&] {
    for (size_t e = 0; e < epilogues.size(); ++e) {
      SCOPED_TRACE(e);
      std::vector<float> c(static_cast<size_t>(m * n));
      GemmPacked({a.data(), k, 1}, packed.data(), c.data(), n, m, n, k, epilogues[e], &two);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double want = product[static_cast<size_t>(i * n + j)];
          for (int s = 0; s < epilogues[e].count(); ++s) {
            const TileEpilogue::Step& step = epilogues[e].step(s);
            switch (step.kind) {
              case TileEpilogue::Step::Kind::kFactor: want *= step.factor; break;
              case TileEpilogue::Step::Kind::kScale: want *= scale[static_cast<size_t>(j)]; break;
              case TileEpilogue::Step::Kind::kBias: want += bias[static_cast<size_t>(j)]; break;
              case TileEpilogue::Step::Kind::kAdd: want += residual[static_cast<size_t>(i * (n + 5) + j)]; break;
              case TileEpilogue::Step::Kind::kActivation:
                switch (step.activation.kind) {
                  case ActKind::kRelu: want = std::fmax(0.0, want); break;
                  case ActKind::kLeakyRelu: want *= want < 0 ? step.activation.a : 1; break;
                  case ActKind::kClip: want = std::fmin(0.6f, std::fmax(-0.4f, want)); break;
                  case ActKind::kHardSwish: want *= std::fmin(1.0, std::fmax(0.0, want / 6 + 0.5)); break;
                  case ActKind::kSwish: want /= 1.0 + std::exp(-want * step.activation.a); break;
                  case ActKind::kTanh: want = std::tanh(want); break;
                  case ActKind::kGelu: want *= 0.5 * (1.0 + std::erf(want / std::sqrt(2.0))); break;
                  default: FAIL() << "not covered";
                }
            }
          }
          ASSERT_NEAR(c[static_cast<size_t>(i * n + j)], want, 1e-5) << i << "," << j;
        }
      }
    }
  });
}

TEST(Gemm, AddedOperandMayBeTheOutput) {
  const int64_t m = 14, k = 12, n = 90;
  const std::vector<float> a = Random(m * k, 12);
  const std::vector<float> b = Random(k * n, 13);
  const std::vector<float> bias = Random(n, 14);
  const std::vector<float> residual = Random(m * n, 15);
  std::vector<float> packed(static_cast<size_t>(PackedFloats(k, n)));
  PackB({b.data(), n, 1}, k, n, packed.data(), nullptr);
  const std::vector<double> product = Reference({a.data(), k, 1}, {b.data(), n, 1}, m, n, k);
  ForEachIsa([&] {
    for (const bool general : {false, true}) {
      std::vector<float> c = residual;
      TileEpilogue epilogue;
      if (!general) epilogue.Bias(bias.data());
      epilogue.Add(c.data(), n);
      if (general) epilogue.Bias(bias.data());
      GemmPacked({a.data(), k, 1}, packed.data(), c.data(), n, m, n, k, epilogue, nullptr);
      for (size_t i = 0; i < c.size(); ++i) {
        ASSERT_NEAR(c[i], product[i] + bias[i % static_cast<size_t>(n)] + residual[i], 1e-5);
      }
    }
  });
}

void CheckBatched(int64_t batch, const Shape& s, bool share_a, bool share_b, bool transpose_b, bool plain,
                  ThreadPool* pool) {
  SCOPED_TRACE(testing::Message() << batch << " x " << s.m << "x" << s.k << "x" << s.n << " " << share_a << share_b
                                  << transpose_b);
  const std::vector<float> a_data = Random((share_a ? 1 : batch) * s.m * s.k, 16);
  const std::vector<float> b_data = Random((share_b ? 1 : batch) * s.k * s.n, 17);
  const std::vector<float> bias = Random(s.n, 18);
  const std::vector<float> residual = Random(batch * s.m * s.n, 19);
  std::vector<float> c(static_cast<size_t>(batch * s.m * s.n), kGuard);
  BatchedGemm g;
  g.batch = batch;
  g.m = s.m;
  g.n = s.n;
  g.k = s.k;
  g.a = {a_data.data(), s.k, 1};
  g.a_batch_stride = share_a ? 0 : s.m * s.k;
  g.b = transpose_b ? MatrixView{b_data.data(), 1, s.k} : MatrixView{b_data.data(), s.n, 1};
  g.b_batch_stride = share_b ? 0 : s.k * s.n;
  g.c = c.data();
  g.c_stride = s.n;
  g.c_batch_stride = s.m * s.n;
  TileEpilogue epilogue;
  if (!plain) epilogue.Bias(bias.data()).Add(residual.data(), s.n);
  std::vector<float> scratch(static_cast<size_t>(BatchedGemmScratchFloats(g, pool == nullptr ? 1 : pool->threads())));
  RunBatchedGemm(g, epilogue, scratch.data(), pool);
  for (int64_t i = 0; i < batch; ++i) {
    MatrixView a = g.a;
    a.data += i * g.a_batch_stride;
    MatrixView b = g.b;
    b.data += i * g.b_batch_stride;
    const std::vector<double> want = Reference(a, b, s.m, s.n, s.k);
    for (size_t j = 0; j < want.size(); ++j) {
      const size_t at = static_cast<size_t>(i * s.m * s.n) + j;
      const double added = plain ? 0.0 : double{bias[j % static_cast<size_t>(s.n)]} + double{residual[at]};
      ASSERT_NEAR(c[at], want[j] + added, Tolerance(s.k)) << i << "," << j;
    }
  }
}

TEST(Gemm, Batched) {
  ThreadPool two(2);
  const Shape shapes[] = {{1, 40, 64}, {1, 33, 100}, {3, 7, 5},    {12, 20, 130}, {40, 16, 70}, {17, 64, 17},
                          {2, 0, 3},   {1, 3, 1},    {150, 16, 1}, {33, 37, 1},   {7, 0, 1},    {1, 37, 19}};
  ForEachIsa([&] {
    for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &two}) {
      for (const Shape& s : shapes) {
        for (const int64_t batch : {1, 3, 9}) {
          for (const bool plain : {false, true}) {
            CheckBatched(batch, s, false, false, false, plain, pool);
            CheckBatched(batch, s, false, false, true, plain, pool);
            CheckBatched(batch, s, false, true, false, plain, pool);
            CheckBatched(batch, s, true, false, true, plain, pool);
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace wherry::cpu
