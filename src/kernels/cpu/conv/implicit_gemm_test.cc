#include "kernels/cpu/conv/implicit_gemm.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/cpu/conv/conv_test_util.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

// A product of depth n is summed in another order than the reference: a few ulp times the growth of the sum.
constexpr double kTolerance = 3e-6;

std::vector<ConvCase> Cases() {
  std::vector<ConvCase> cases = {
      {"3x3", MakeConvShape(1, 9, 11, {70, 17, 3, 3, 1}, 1, 1)},
      {"3x3 whole vectors", MakeConvShape(2, 12, 7, {64, 32, 3, 3, 1}, 1, 1)},
      {"panels of 64 and 48", MakeConvShape(1, 5, 5, {112, 8, 3, 3, 1}, 1, 1)},
      {"one channel", MakeConvShape(1, 6, 6, {1, 1, 3, 3, 1}, 1, 1)},
      {"1x1", MakeConvShape(2, 5, 7, {33, 19, 1, 1, 1})},
      {"1x1 stride 2", MakeConvShape(1, 9, 10, {20, 24, 1, 1, 1}, 2)},
      {"7x7 stride 2, 3 channels", MakeConvShape(1, 23, 30, {64, 3, 7, 7, 1}, 2, 3)},
      {"dilation 2", MakeConvShape(1, 13, 12, {18, 10, 3, 3, 1}, 1, 2, 2)},
      {"dilation larger than the image", MakeConvShape(1, 4, 3, {16, 5, 3, 3, 1}, 1, 6, 6)},
      {"groups", MakeConvShape(1, 8, 8, {36, 7, 3, 3, 4}, 1, 1)},
      {"groups stride 2", MakeConvShape(2, 9, 9, {32, 4, 3, 3, 8}, 2, 1)},
      {"groups of a vector of AVX2", MakeConvShape(1, 13, 9, {48, 8, 3, 3, 6}, 1, 1)},
      {"groups of three of them", MakeConvShape(1, 6, 7, {72, 5, 3, 3, 3}, 2, 1)},
      {"depthwise with a multiplier", MakeConvShape(1, 7, 8, {18, 1, 3, 3, 6}, 1, 1)},
      {"1x1 image", MakeConvShape(1, 1, 1, {10, 12, 3, 3, 1}, 1, 1)},
      {"padding only rows", MakeConvShape(1, 2, 2, {8, 4, 1, 1, 1}, 1, 2)},
      {"kernel larger than the image", MakeConvShape(1, 3, 4, {16, 6, 5, 5, 1}, 1, 2)},
      {"even kernel", MakeConvShape(1, 8, 9, {24, 6, 2, 4, 1}, 1, 1)},
      {"zero batch", MakeConvShape(0, 8, 8, {16, 8, 3, 3, 1}, 1, 1)},
      {"empty output", MakeConvShape(1, 2, 2, {16, 8, 5, 5, 1})},
      {"many pixels", MakeConvShape(1, 40, 41, {130, 40, 3, 3, 1}, 1, 1)},
  };
  ConvShape asymmetric = MakeConvShape(1, 10, 9, {31, 13, 3, 5, 1}, 1, 0);
  asymmetric.pad_top = 2;
  asymmetric.pad_right = 3;
  asymmetric.stride_height = 2;
  asymmetric.dilation_width = 2;
  cases.push_back({"asymmetric", asymmetric});
  ConvShape padded = MakeConvShape(2, 6, 5, {40, 22, 3, 3, 1}, 1, 1);
  padded.in_pixel_stride = 29;
  padded.out_pixel_stride = 56;
  cases.push_back({"padded pixels", padded});
  return cases;
}

void Check(ConvProblem* problem, const std::vector<double>& expected, ImageForm form, int threads, TestEpilogue which) {
  SCOPED_TRACE(StrCat("threads ", threads, " epilogue ", static_cast<int>(which)));
  const ConvShape& shape = problem->shape;
  const std::vector<float> input = form == ImageForm::kPlanar ? ToPlanar(*problem) : problem->input;
  ThreadPool pool(threads);
  AlignedFloats packed(ImplicitGemmPackedSize(shape.weight));
  PackImplicitGemm(shape.weight, form, problem->weight.data(), packed.data(), &pool);
  const ImplicitGemmPlan plan(shape, form, threads);
  problem->output.assign(problem->output.size(), ConvProblem::kUntouched);
  RunImplicitGemm(plan, input.data(), packed.data(), MakeEpilogue(*problem, which), problem->output.data(),
                  threads > 1 ? &pool : nullptr);
  EXPECT_LE(RelativeError(*problem, expected), kTolerance);
}

TEST(ImplicitGemm, EveryShapeOnEveryIsa) {
  for (const ConvCase& c : Cases()) {
    SCOPED_TRACE(c.name);
    ConvProblem problem(c.shape);
    const std::vector<double> expected = ReferenceConv(problem, TestEpilogue::kBiasRelu);
    ForEachIsa([&] {
      for (int threads : {1, 2}) Check(&problem, expected, ImageForm::kNhwc, threads, TestEpilogue::kBiasRelu);
      if (c.shape.weight.groups != 1 || c.shape.dilation_width != 1) return;
      for (int threads : {1, 2}) Check(&problem, expected, ImageForm::kPlanar, threads, TestEpilogue::kBiasRelu);
    });
  }
}

TEST(ImplicitGemm, EveryEpilogue) {
  for (const ConvShape& shape :
       {MakeConvShape(2, 7, 6, {75, 9, 3, 3, 1}, 1, 1), MakeConvShape(1, 7, 6, {24, 9, 3, 3, 3}, 1, 1)}) {
    ConvProblem problem(shape);
    for (TestEpilogue which : kAllTestEpilogues) {
      const std::vector<double> expected = ReferenceConv(problem, which);
      ForEachIsa([&] { Check(&problem, expected, ImageForm::kNhwc, 2, which); });
    }
  }
}

}  // namespace
}  // namespace wherry::cpu
