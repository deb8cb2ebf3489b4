// The suite's own parts: what it would not notice, nobody would.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "conformance/compare.h"
#include "conformance/known_failures.h"
#include "conformance/make_tensor.h"
#include "wherry/error.h"

namespace wherry::conformance {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

DenseTensor Doubles(const std::vector<double>& values, DataType dtype = DataType::kFP64) {
  const int64_t shape[] = {static_cast<int64_t>(values.size())};
  return MakeTensor({dtype, shape, 1, 0, values}, 0);
}

TEST(Difference, ToleranceIsRelativeToTheElementOrTheRest) {
  const DenseTensor expected = Doubles({1000, 1});
  EXPECT_EQ(Difference(Doubles({1000.9, 1}), expected, 1e-3, false), "");
  EXPECT_NE(Difference(Doubles({1001.1, 1}), expected, 1e-3, false), "");
  // A sum that cancels is compared with the size of the others, an elementwise result with 1 at most.
  EXPECT_EQ(Difference(Doubles({1000, 1.5}), expected, 1e-3, false), "");
  EXPECT_NE(Difference(Doubles({1000, 1.5}), expected, 1e-3, true), "");
}

TEST(Difference, NanAndInfinitiesAreExactly) {
  const DenseTensor expected = Doubles({kNan, kInf, -kInf, 1});
  EXPECT_EQ(Difference(Doubles({kNan, kInf, -kInf, 1}), expected, 1e-3, false), "");
  EXPECT_NE(Difference(Doubles({0, kInf, -kInf, 1}), expected, 1e-3, false), "");
  EXPECT_NE(Difference(Doubles({kNan, 1e300, -kInf, 1}), expected, 1e-3, false), "");
  EXPECT_NE(Difference(Doubles({kNan, -kInf, -kInf, 1}), expected, 1e-3, false), "");
  EXPECT_NE(Difference(Doubles({kNan, kInf, -kInf, kNan}), expected, 1e-3, false), "");
}

TEST(Difference, TheExpectationIsTakenInTheResultsType) {
  EXPECT_EQ(Difference(Doubles({0.1}, DataType::kFloat), Doubles({0.1}), 0, false), "");
  EXPECT_EQ(Difference(Doubles({kInf}, DataType::kFP16), Doubles({1e6}), 1e-3, false), "");
  EXPECT_NE(Difference(Doubles({1, 2}), Doubles({1}), 1, false), "");
}

TEST(MakeTensor, EqualSeedsGiveEqualNumbersInTheRange) {
  const int64_t shape[] = {1000};
  const CaseTensor spec{DataType::kFloat, shape, 2, 3, {}};
  const std::vector<double> values = ToDoubles(MakeTensor(spec, 7));
  EXPECT_EQ(values, ToDoubles(MakeTensor(spec, 7)));
  EXPECT_NE(values, ToDoubles(MakeTensor(spec, 8)));
  for (double value : values) {
    EXPECT_GE(value, 2);
    EXPECT_LE(value, 3);
  }
  const CaseTensor integers{DataType::kInt8, shape, -2, 1, {}};
  std::vector<int> count(4, 0);
  for (double value : ToDoubles(MakeTensor(integers, 7))) ++count.at(static_cast<size_t>(value + 2));
  for (int times : count) EXPECT_GT(times, 150);
}

TEST(MakeTensor, LayoutsAndTypesKeepTheNumbers) {
  const int64_t shape[] = {2, 3, 4, 5};
  const DenseTensor plain = MakeTensor({DataType::kFP16, shape, 1, 0, {}}, 1);
  const DenseTensor padded = ConvertTensor(plain, DataType::kFP16, DataLayout::kNHWC, 16);
  EXPECT_EQ(padded.meta().effective_pixel_stride(), 19);
  EXPECT_EQ(ToDoubles(padded), ToDoubles(plain));
  EXPECT_EQ(ToDoubles(ConvertTensor(plain, DataType::kFP64, DataLayout::kNCHW)), ToDoubles(plain));
}

TEST(GuardedBufferDeathTest, WhatLiesBehindTheEndIsNotToBeTouched) {
  const std::shared_ptr<Buffer> buffer = GuardedBuffer(12, 4);
  auto* data = static_cast<volatile char*>(buffer->data());
  data[11] = 1;
  EXPECT_DEATH(data[12] = 1, "");
}

TEST(KnownFailures, LinesAreUsedByWhatTheyDescribe) {
  const std::string folder = ::testing::TempDir();
  const std::string path = folder + "/sample_provider.txt";
  std::ofstream(path) << "# a comment\n\nsample:relu | f32[0 | it refuses empty tensors\nsample:relu | nhwc | slow\n";
  KnownFailures known(folder, "sample_provider");
  EXPECT_FALSE(known.Expects("sample:relu", "{x: f32[1]}"));
  EXPECT_FALSE(known.Expects("sample:tanh", "{x: f32[0,3]}"));
  EXPECT_TRUE(known.Expects("sample:relu", "{x: f32[0,3]}"));
  EXPECT_EQ(known.Unused("sample:relu"), std::vector<std::string>{"sample:relu | nhwc | slow"});
  EXPECT_TRUE(known.Unused("sample:tanh").empty());
  EXPECT_TRUE(KnownFailures(folder, "no_such_provider").Unused("sample:relu").empty());

  std::ofstream(path) << "sample:relu | f32\n";  // no reason
  EXPECT_THROW(KnownFailures(folder, "sample_provider"), Error);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace wherry::conformance
