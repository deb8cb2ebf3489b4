#include "runtime/numeric_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "ir/text.h"
#include "runtime/session.h"

namespace wherry {
namespace {

std::string RunChecked(const char* program, std::vector<float> numbers) {
  Session session(Executable::Build(ParseProgram(program)), nullptr);
  session.set_numeric_check(true);
  TensorMeta meta;
  meta.dtype = DataType::kFloat;
  meta.shape = Shape({static_cast<int64_t>(numbers.size())});
  DenseTensor x(HostAllocator(), meta);
  std::copy(numbers.begin(), numbers.end(), x.mutable_data<float>());
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  try {
    session.Run({&x}, &outputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

constexpr char kRoots[] = R"(
block main(%x : f32[2]) -> (%y) {
  %a = abs(x: %x)
  %b = log(x: %x)
  %y = multiply(x: %a, y: %b)
}
)";

TEST(NumericCheckTest, NamesTheFirstOpAndTheRangesOfItsArguments) {
  EXPECT_EQ(RunChecked(kRoots, {1, 2}), "");
  const std::string error = RunChecked(kRoots, {1, -2});
  EXPECT_NE(error.find("running op log 'b'"), std::string::npos) << error;
  EXPECT_NE(error.find("'b' is f32[2] in [0, 0], 1 NaN"), std::string::npos) << error;
  EXPECT_NE(error.find("x 'x' is f32[2] in [-2, 1]"), std::string::npos) << error;
}

TEST(NumericCheckTest, WhatCameInThatWayIsNoFinding) {
  EXPECT_EQ(RunChecked("block main(%x : f32[2]) -> (%y) {\n  %y = relu(x: %x)\n}\n",
                       {1, std::numeric_limits<float>::infinity()}),
            "");
}

TEST(NumericCheckTest, ArgumentsThatAreOverwrittenAreRemembered) {
  const std::string error = RunChecked(
      "block main(%x : f32[2]) -> (%y) {\n  %a = scale(x: %x) {scale = 100.0}\n  %y = exp(x: %a) alias(%y = %a)\n}\n",
      {1, 2});
  EXPECT_NE(error.find("x 'a' is f32[2] in [100, 200]"), std::string::npos) << error;
}

TEST(ObserverTest, SeesEachValueInOrder) {
  Session session(Executable::Build(ParseProgram(kRoots)), nullptr);
  std::string seen;
  session.set_observer([&seen](const Instruction& op, const std::string& name, const DenseTensor& value) {
    seen += std::string(op.schema->name) + " " + name + " " + value.meta().DebugString() + "; ";
  });
  DenseTensor x(HostAllocator(), TensorMeta{DataType::kFloat, Shape({2}), DataLayout::kNCHW, 0});
  x.mutable_data<float>()[0] = x.mutable_data<float>()[1] = 1;
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  session.Run({&x}, &outputs);
  EXPECT_EQ(seen, "abs a f32[2]; log b f32[2]; multiply y f32[2]; ");
}

}  // namespace
}  // namespace wherry
