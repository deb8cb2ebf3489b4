#include "op/infer/resample.h"

#include <gtest/gtest.h>

#include "op/infer/infer_meta.h"
#include "op/unknown_dim.h"
#include "wherry/error.h"

namespace wherry {
namespace {

Dim Resampled(const Dim& dim, const SymIntArray& size, const std::vector<double>& scale) {
  return InterpolateInferMeta(MetaTensor(DataType::kFloat, {dim}), nullptr, nullptr, size, {0}, scale, "linear",
                              "half_pixel", "floor", "stretch", false, -0.75F, false, false, 0.0F)
      .dims[0];
}

TEST(Resample, SymbolicExtents) {
  SymbolTable table;
  const Dim s = table.Symbol("S");
  const auto f = [](float value) { return static_cast<double>(value); };
  EXPECT_EQ(Resampled(s, IntArray{}, {2.0}), s * Dim(2));
  EXPECT_EQ(Resampled(s, IntArray{7}, {}), Dim(7));
  EXPECT_EQ(Resampled(s, MetaTensor(DataType::kInt64, {Dim(1)}), {}), kUnknownDim);
  for (const double scale : {0.5, 1.5, 0.25, f(0.3F), f(0.6F), f(1.0F / 3.0F), f(1.7F)}) {
    const Dim symbolic = Resampled(s, IntArray{}, {scale});
    if (symbolic.known()) continue;  // rounding to float makes no fraction of it
    for (int64_t size = 1; size < 300; ++size) {
      EXPECT_EQ(Evaluate(symbolic, {{"S", size}}), Resampled(size, IntArray{}, {scale}).value())
          << size << " " << scale;
    }
  }
}

TEST(Resample, TablesStayInside) {
  ResampleRule rule;
  for (const ResampleMode mode : {ResampleMode::kNearest, ResampleMode::kLinear, ResampleMode::kCubic}) {
    rule.mode = mode;
    for (const bool antialias : {false, true}) {
      rule.antialias = antialias;
      for (const int64_t out : {1, 2, 5, 17}) {
        const ResampleAxis axis{0, 5, out, static_cast<double>(out) / 5.0, static_cast<double>(out)};
        const ResampleTable table = MakeResampleTable(rule, axis);
        ASSERT_EQ(table.index.size(), static_cast<size_t>(table.taps * out));
        for (int64_t i = 0; i < out; ++i) {
          double sum = 0;
          for (int64_t t = i * table.taps; t < (i + 1) * table.taps; ++t) {
            EXPECT_GE(table.index[static_cast<size_t>(t)], 0);
            EXPECT_LT(table.index[static_cast<size_t>(t)], 5);
            sum += table.weight[static_cast<size_t>(t)];
          }
          EXPECT_NEAR(sum, 1.0, 1e-12);
        }
      }
    }
  }
}

TEST(Resample, WhatDoesNotFit) {
  ResampleRule rule;
  rule.mode = ResampleMode::kCubic;
  rule.antialias = true;
  const ResampleAxis wide{0, 5, 1000, 1e-9, 1000.0};
  EXPECT_THROW(MakeResampleTable(rule, wide), Error);
  const ResampleAxis empty{0, 0, 3, 1.0, 3.0};
  EXPECT_THROW(MakeResampleTable(rule, empty), Error);
  EXPECT_THROW(ScaledExtent(7, -1.0), Error);
  EXPECT_THROW(ScaledExtent(int64_t{1} << 40, 1e9), Error);
}

}  // namespace
}  // namespace wherry
