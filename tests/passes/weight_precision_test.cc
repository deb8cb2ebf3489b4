// weight_precision_pass on weights that have all of their numbers in 16 bits, which are too large for a golden.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "core/device_context.h"
#include "ir/text.h"
#include "pass/optimizer.h"

namespace wherry {
namespace {

constexpr int64_t kSide = 128;

// f16's numbers, but for the first.
DenseTensor Weight(float first, int64_t side = kSide) {
  DenseTensor weight(HostAllocator(), TensorMeta{DataType::kFloat, Shape{side, side}});
  for (int64_t i = 0; i < weight.numel(); ++i) weight.mutable_data<float>()[i] = static_cast<float>(i % 2048) / 64;
  weight.mutable_data<float>()[0] = first;
  return weight;
}

// x of these dimensions times the weight, after the pass. `more`: another statement.
Program Narrowed(const std::string& dims, const DenseTensor& weight, const std::string& more = "",
                 std::vector<Place> places = {Place{TARGET(kHost)}}) {
  const std::string side = std::to_string(weight.shape()[0]);
  WeightTable weights;
  weights.emplace("w", weight);
  Program program =
      ParseProgram(StrCat("weight %w : f32[", side, ",", side, "] = {...}\nblock main(%x : f32[", dims, ",", side,
                          "]) -> (%y", more.empty() ? "" : ", %z", ") {\n", "%y = matmul(x: %x, y: %w)\n", more, "}\n"),
                   std::move(weights));
  return Optimizer().Run(std::move(program), places, {}, {"infer_shapes_pass", "weight_precision_pass"});
}

std::string OpOf(const Program& program) { return program.main().ops[0].Type(); }

TEST(WeightPrecision, NumbersOfF16AreStoredAsSuch) {
  for (const float first : {0.5F, -0.0F, 65504.0F, 0x1p-24F, std::numeric_limits<float>::infinity()}) {
    const DenseTensor weight = Weight(first);
    const Program program = Narrowed("N", weight);
    ASSERT_EQ(OpOf(program), "weight_only_linear") << first;
    const OpDesc& op = program.main().ops[0];
    EXPECT_EQ(op.Input("x"), std::vector<std::string>{"x"});  // f32
    const DenseTensor& stored = program.weights.at(op.Input("weight")[0]);
    ASSERT_EQ(stored.dtype(), DataType::kFP16);
    for (int64_t row = 0; row < kSide; ++row) {
      for (int64_t column = 0; column < kSide; ++column) {
        ASSERT_EQ(static_cast<float>(stored.data<Float16>()[column * kSide + row]),
                  weight.data<float>()[row * kSide + column]);
      }
    }
  }
}

TEST(WeightPrecision, NumbersOfBf16AreStoredAsSuch) {
  DenseTensor weight = Weight(65536);
  for (int64_t i = 1; i < weight.numel(); ++i) weight.mutable_data<float>()[i] = static_cast<float>(i % 128);
  const Program program = Narrowed("N", weight);
  ASSERT_EQ(OpOf(program), "weight_only_linear");
  const OpDesc& op = program.main().ops[0];
  EXPECT_EQ(op.Input("x"), std::vector<std::string>{"x"});  // not rounded
  EXPECT_EQ(program.weights.at(op.Input("weight")[0]).dtype(), DataType::kBF16);
}

TEST(WeightPrecision, NumbersOfNeitherStay) {
  EXPECT_EQ(OpOf(Narrowed("N", Weight(0.1F))), "matmul");
  EXPECT_EQ(OpOf(Narrowed("N", Weight(65536))), "matmul");  // some of f16, some of bf16
}

TEST(WeightPrecision, OfFewRows) {
  for (const char* few : {"N", "6", "2,3", "N,1", "0"}) {
    EXPECT_EQ(OpOf(Narrowed(few, Weight(0))), "weight_only_linear") << few;
  }
  for (const char* many : {"7", "N,7", "N,S", "(N*S)", "4,2"})
    EXPECT_EQ(OpOf(Narrowed(many, Weight(0))), "matmul") << many;
}

TEST(WeightPrecision, LeavesWhatGainsNothing) {
  EXPECT_EQ(OpOf(Narrowed("N", Weight(0, 64))), "matmul");
  EXPECT_EQ(OpOf(Narrowed("N", Weight(0), "%z = abs(x: %w)\n")), "matmul");
  EXPECT_EQ(OpOf(Narrowed("N", Weight(0), "", {Place{TARGET(kOpenCL)}, Place{TARGET(kHost)}})), "matmul");
}

// The first statement's operator after the pass with a place of this precision, of a weight of one number.
std::string OpWith(DataType dtype, float number) {
  DenseTensor weight(HostAllocator(), TensorMeta{DataType::kFloat, Shape{3, 3}});
  std::fill_n(weight.mutable_data<float>(), weight.numel(), number);
  return OpOf(Narrowed("N", weight, "", {Place{TARGET(kHost)}, Place{TARGET(kHost), dtype}}));
}

TEST(WeightPrecision, WhatTheTypeHasNotStays) {
  for (const float number : {0.0F, 0x1p-14F, -65504.0F}) {
    EXPECT_EQ(OpWith(DataType::kFP16, number), "weight_only_linear") << number;
  }
  for (const float number : {0x1p-15F, -65505.0F}) EXPECT_EQ(OpWith(DataType::kFP16, number), "matmul") << number;
  EXPECT_EQ(OpWith(DataType::kBF16, 0x1.FEp127F), "cast");  // of the rows
  EXPECT_EQ(OpWith(DataType::kBF16, -0x1.FFp127F), "matmul");
  EXPECT_EQ(OpWith(DataType::kInt8, 0x1p-95F), "weight_only_linear");
  EXPECT_EQ(OpWith(DataType::kInt8, 0x1p-96F), "matmul");
  for (const DataType dtype : {DataType::kFP16, DataType::kBF16, DataType::kInt8}) {
    EXPECT_EQ(OpWith(dtype, std::numeric_limits<float>::infinity()), "matmul");
    EXPECT_EQ(OpWith(dtype, std::numeric_limits<float>::quiet_NaN()), "matmul");
  }
}

TEST(WeightPrecision, RowsOfNothingHaveAScale) {
  const DenseTensor weight(HostAllocator(), TensorMeta{DataType::kFloat, Shape{0, 3}});
  WeightTable weights;
  weights.emplace("w", weight);
  Program program =
      ParseProgram("weight %w : f32[0,3] = {...}\nblock main(%x : f32[2,0]) -> (%y) {\n%y = matmul(x: %x, y: %w)\n}\n",
                   std::move(weights));
  program = Optimizer().Run(std::move(program), {Place{TARGET(kHost)}, Place{TARGET(kHost), DataType::kInt8}}, {},
                            {"infer_shapes_pass", "weight_precision_pass"});
  ASSERT_EQ(OpOf(program), "weight_only_linear");
  const DenseTensor& scale = program.weights.at(program.main().ops[0].Input("weight_scale")[0]);
  for (int64_t i = 0; i < scale.numel(); ++i) EXPECT_EQ(scale.data<float>()[i], 1);
}

}  // namespace
}  // namespace wherry
