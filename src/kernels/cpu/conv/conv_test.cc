#include "kernels/cpu/conv/conv.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/cpu/conv/conv_test_util.h"
#include "wherry/error.h"

namespace wherry::cpu {
namespace {

constexpr ConvAlgorithm kAlgorithms[] = {ConvAlgorithm::kDirect, ConvAlgorithm::kGemm, ConvAlgorithm::kWinograd2,
                                         ConvAlgorithm::kWinograd4, ConvAlgorithm::kDepthwise};

TEST(Conv, EveryAlgorithmThatCanRunAgrees) {
  std::vector<ConvCase> cases = {
      {"3x3", MakeConvShape(1, 12, 10, {35, 20, 3, 3, 1}, 1, 1)},
      {"1x1", MakeConvShape(2, 6, 7, {35, 20, 1, 1, 1})},
      {"depthwise", MakeConvShape(1, 9, 9, {21, 1, 3, 3, 21}, 1, 1)},
      {"cropped", MakeConvShape(1, 9, 9, {18, 6, 3, 3, 1})},
  };
  // Negative padding drops the image's outer rows and columns.
  cases[3].shape.pad_top = -1;
  cases[3].shape.pad_right = -2;
  for (ConvCase& c : cases) {
    c.shape.in_pixel_stride += 3;
    c.shape.out_pixel_stride += 5;
    ConvProblem problem(c.shape);
    const std::vector<double> expected = ReferenceConv(problem, TestEpilogue::kBiasAddRelu);
    int ran = 0;
    for (ConvAlgorithm algorithm : kAlgorithms) {
      if (!CanRun(algorithm, c.shape)) continue;
      ++ran;
      for (int threads : {1, 3}) {
        SCOPED_TRACE(StrCat(c.name, " ", ConvAlgorithmName(algorithm), " threads ", threads));
        ThreadPool pool(threads);
        AlignedFloats packed(ConvPackedSize(algorithm, c.shape.weight));
        PackConv(algorithm, c.shape.weight, problem.weight.data(), packed.data(), &pool);
        const ConvPlan plan(algorithm, c.shape, threads);
        AlignedFloats scratch(plan.scratch_floats());
        problem.output.assign(problem.output.size(), ConvProblem::kUntouched);
        plan.Run(problem.input.data(), packed.data(), MakeEpilogue(problem, TestEpilogue::kBiasAddRelu),
                 problem.output.data(), scratch.data(), &pool);
        EXPECT_LE(RelativeError(problem, expected), 4e-6) << plan.DebugString();
      }
    }
    EXPECT_GE(ran, 2) << c.name;
  }
}

TEST(Conv, APackFormatNamesWhatItDependsOn) {
  for (ConvAlgorithm algorithm : kAlgorithms) {
    const ConvFormat format = ParseConvPackFormat(ConvPackFormat(algorithm, 12));
    EXPECT_EQ(format.algorithm, algorithm);
    EXPECT_EQ(format.groups, 12);
    EXPECT_EQ(format.layout, WeightLayout());
  }
  for (const char* bad :
       {"", "conv16:", "conv64:winograd4", "conv16:winograd4:", "conv16:winograd4:0", "conv16:winograd4:1x",
        "conv16:fft:1", "conv:direct:1", "gemm16:direct:1", "conv64:direct:99999999999999999999"}) {
    EXPECT_THROW(ParseConvPackFormat(bad), Error) << bad;
  }
}

TEST(Conv, AnAlgorithmThatCannotRunIsABug) {
  EXPECT_THROW(ConvPlan(ConvAlgorithm::kWinograd4, MakeConvShape(1, 8, 8, {8, 8, 3, 3, 1}, 2, 1), 1), Error);
}

}  // namespace
}  // namespace wherry::cpu
