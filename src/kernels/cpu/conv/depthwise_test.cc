#include "kernels/cpu/conv/depthwise.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/cpu/conv/conv_test_util.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

constexpr double kTolerance = 1e-6;

ConvCase Case(const char* name, int64_t batch, int64_t height, int64_t width, int64_t channels, int64_t kernel,
              int64_t stride, int64_t pad, int64_t dilation = 1) {
  return {name, MakeConvShape(batch, height, width, {channels, 1, kernel, kernel, channels}, stride, pad, dilation)};
}

std::vector<ConvCase> Cases() {
  std::vector<ConvCase> cases = {
      Case("3x3", 1, 14, 14, 32, 3, 1, 1),
      Case("3x3 odd", 2, 11, 13, 27, 3, 1, 1),
      Case("3x3 narrow", 1, 9, 4, 19, 3, 1, 1),
      Case("3x3 no padding", 1, 9, 16, 16, 3, 1, 0),
      Case("3x3 stride 2", 1, 15, 17, 40, 3, 2, 1),
      Case("3x3 stride 2 even", 2, 16, 16, 33, 3, 2, 1),
      Case("5x5", 1, 14, 15, 35, 5, 1, 2),
      Case("5x5 stride 2", 2, 17, 18, 48, 5, 2, 2),
      Case("1x1 image", 1, 1, 1, 20, 3, 1, 1),
      Case("image smaller than the kernel", 1, 2, 2, 20, 5, 1, 2),
      Case("wide padding", 1, 4, 5, 18, 3, 1, 6),
      Case("3x3 dilation 2", 1, 12, 15, 21, 3, 1, 2, 2),
      Case("7x7", 1, 16, 16, 24, 7, 1, 3),
      Case("2x2 stride 3", 1, 11, 12, 17, 2, 3, 0),
      Case("zero batch", 0, 8, 8, 16, 3, 1, 1),
      Case("many rows", 3, 40, 22, 130, 3, 1, 1),
      Case("5x5 dilation 2", 2, 33, 29, 40, 5, 1, 4, 2),
      Case("7x7 dilation 3", 1, 20, 47, 19, 7, 1, 9, 3),
      Case("dilation beyond the image", 1, 6, 5, 18, 3, 1, 7, 7),
      Case("dilation, stride 2", 1, 15, 16, 20, 3, 2, 2, 2),
  };
  for (const int64_t group : {2, 4, 8}) {
    const int64_t channels = group == 8 ? 40 : 36;  // with 16 lanes not whole vectors
    const ConvWeightShape weight{channels, group, 3, 3, channels / group};
    for (const int64_t stride : {1, 2}) {
      for (const int64_t width : {3, 16, 29}) {
        cases.push_back({"groups of channels", MakeConvShape(2, 9, width, weight, stride, 1, 1)});
      }
      cases.push_back({"groups, no padding", MakeConvShape(1, 7, 19, weight, stride, 0, 1)});
      ConvCase padded{"groups, padded pixels", MakeConvShape(2, 8, 17, weight, stride, 1, 1)};
      padded.shape.in_pixel_stride += 3;
      padded.shape.out_pixel_stride += 5;
      cases.push_back(padded);
    }
    cases.push_back({"groups, 3x3 dilated", MakeConvShape(1, 11, 18, weight, 1, 2, 2)});
    const ConvWeightShape wide{channels, group, 5, 5, channels / group};
    cases.push_back({"groups, dilated", MakeConvShape(1, 11, 18, wide, 1, 4, 2)});
    cases.push_back({"groups, 5x5 on a small image", MakeConvShape(1, 3, 2, wide, 1, 2)});
  }
  for (const int64_t outputs : {2, 3, 4, 7, 15}) {
    for (const int64_t channels : {16, 17, 24, 41}) {
      const auto weight = [&](int64_t kernel) {
        return ConvWeightShape{channels * outputs, 1, kernel, kernel, channels};
      };
      cases.push_back({"several outputs", MakeConvShape(1, 9, 13, weight(3), 1, 1)});
      cases.push_back({"several outputs, stride 2", MakeConvShape(2, 9, 16, weight(3), 2, 1)});
      cases.push_back({"several outputs, 7x7 stride 2", MakeConvShape(1, 16, 33, weight(7), 2, 3)});
      cases.push_back({"several outputs, 1x1", MakeConvShape(1, 4, 9, weight(1), 2, 0)});
      cases.push_back({"several outputs, dilated", MakeConvShape(1, 9, 11, weight(3), 1, 2, 2)});
      ConvCase padded{"several outputs, padded pixels", MakeConvShape(2, 5, 16, weight(3), 1, 1)};
      padded.shape.in_pixel_stride += 3;
      padded.shape.out_pixel_stride += 5;
      cases.push_back(padded);
    }
  }
  // Tiles of eight columns (AVX2) as well as of seven.
  for (const int64_t width : {8, 16, 24, 31}) {
    for (const int64_t kernel : {3, 5, 7}) {
      for (const int64_t stride : {1, 2}) cases.push_back(Case("width", 1, 9, width, 26, kernel, stride, kernel / 2));
      cases.push_back(Case("width, dilated", 1, 9, 2 * width + 1, 26, kernel, 1, kernel - 1, 2));
    }
    cases.push_back(Case("width, general", 1, 9, width, 26, 4, 1, 2));
  }
  ConvCase asymmetric = Case("asymmetric, padded pixels", 2, 10, 19, 30, 3, 1, 0);
  asymmetric.shape.pad_top = 2;
  asymmetric.shape.pad_right = 1;
  asymmetric.shape.in_pixel_stride = 37;
  asymmetric.shape.out_pixel_stride = 46;
  cases.push_back(asymmetric);
  ConvCase uneven = Case("uneven dilation", 1, 19, 31, 33, 3, 1, 2, 2);
  uneven.shape.dilation_width = 3;
  uneven.shape.pad_left = 5;
  uneven.shape.pad_bottom = 0;
  cases.push_back(uneven);
  ConvCase oblong = Case("oblong", 1, 13, 20, 22, 3, 1, 1);
  oblong.shape.weight.kernel_height = 5;
  oblong.shape.stride_width = 2;
  oblong.shape.dilation_height = 2;
  cases.push_back(oblong);
  return cases;
}

void Check(ConvProblem* problem, const std::vector<double>& expected, int threads, TestEpilogue which) {
  SCOPED_TRACE(StrCat("threads ", threads, " epilogue ", static_cast<int>(which)));
  const ConvShape& shape = problem->shape;
  ThreadPool pool(threads);
  AlignedFloats packed(DepthwisePackedSize(shape.weight));
  PackDepthwise(shape.weight, problem->weight.data(), packed.data());
  const DepthwisePlan plan(shape, threads);
  problem->output.assign(problem->output.size(), ConvProblem::kUntouched);
  RunDepthwise(plan, problem->input.data(), packed.data(), MakeEpilogue(*problem, which), problem->output.data(),
               threads > 1 ? &pool : nullptr);
  EXPECT_LE(RelativeError(*problem, expected), kTolerance);
}

TEST(Depthwise, EveryShapeOnEveryIsa) {
  for (const ConvCase& c : Cases()) {
    SCOPED_TRACE(c.name);
    ConvProblem problem(c.shape);
    const std::vector<double> expected = ReferenceConv(problem, TestEpilogue::kBiasRelu);
    ForEachIsa([&] {
      for (int threads : {1, 2}) Check(&problem, expected, threads, TestEpilogue::kBiasRelu);
    });
  }
}

TEST(Depthwise, EveryEpilogueWithDilation) {
  ConvProblem problem(Case("epilogue", 1, 10, 21, 83, 3, 1, 2, 2).shape);
  for (TestEpilogue which : kAllTestEpilogues) {
    const std::vector<double> expected = ReferenceConv(problem, which);
    ForEachIsa([&] { Check(&problem, expected, 2, which); });
  }
}

TEST(Depthwise, EveryEpilogue) {
  for (const ConvShape& shape :
       {Case("one channel", 1, 10, 11, 83, 3, 1, 1).shape, MakeConvShape(1, 10, 16, {88, 8, 3, 3, 11}, 1, 1),
        MakeConvShape(1, 10, 16, {82, 1, 3, 3, 41}, 2, 1)}) {
    ConvProblem problem(shape);
    for (TestEpilogue which : kAllTestEpilogues) {
      const std::vector<double> expected = ReferenceConv(problem, which);
      ForEachIsa([&] { Check(&problem, expected, 2, which); });
    }
  }
}

TEST(Depthwise, TheResidualMayBeTheOutput) {
  // Width 10: the second tile is shifted over the first, whose outputs already hold their sums.
  ConvProblem problem(Case("in place", 1, 5, 10, 16, 3, 1, 1).shape);
  const std::vector<double> expected = ReferenceConv(problem, TestEpilogue::kBiasAddRelu);
  problem.output = problem.residual;
  AlignedFloats packed(DepthwisePackedSize(problem.shape.weight));
  PackDepthwise(problem.shape.weight, problem.weight.data(), packed.data());
  TileEpilogue epilogue;
  epilogue.Bias(problem.bias.data()).Add(problem.output.data(), 16).Activate({ActKind::kRelu, 0, 0});
  RunDepthwise(DepthwisePlan(problem.shape, 1), problem.input.data(), packed.data(), epilogue, problem.output.data(),
               nullptr);
  EXPECT_LE(RelativeError(problem, expected), kTolerance);
}

}  // namespace
}  // namespace wherry::cpu
