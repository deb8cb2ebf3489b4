#include "kernels/cpu/conv/winograd.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/cpu/conv/conv_test_util.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

// The bound that the kernel chooser relies on (F(4,3) measured up to 3.1e-6 with 512 channels).
constexpr double kTolerance = 4e-6;

std::vector<ConvCase> Cases() {
  std::vector<ConvCase> cases = {
      {"whole tiles", MakeConvShape(1, 16, 16, {64, 32, 3, 3, 1}, 1, 1)},
      {"odd size and channels", MakeConvShape(1, 13, 11, {37, 21, 3, 3, 1}, 1, 1)},
      {"two panels, batch", MakeConvShape(3, 9, 10, {112, 40, 3, 3, 1}, 1, 1)},
      {"no padding", MakeConvShape(1, 11, 14, {16, 16, 3, 3, 1})},
      {"wide padding", MakeConvShape(1, 5, 6, {20, 24, 3, 3, 1}, 1, 4)},
      {"1x1 image", MakeConvShape(1, 1, 1, {17, 33, 3, 3, 1}, 1, 1)},
      {"one channel", MakeConvShape(1, 8, 9, {1, 1, 3, 3, 1}, 1, 1)},
      {"zero batch", MakeConvShape(0, 8, 8, {16, 16, 3, 3, 1}, 1, 1)},
      {"empty output", MakeConvShape(1, 2, 2, {16, 16, 3, 3, 1})},
      {"few tiles, many panels", MakeConvShape(1, 7, 7, {200, 96, 3, 3, 1}, 1, 1)},
      {"many blocks", MakeConvShape(1, 50, 47, {70, 48, 3, 3, 1}, 1, 1)},
      {"deep", MakeConvShape(1, 10, 10, {64, 512, 3, 3, 1}, 1, 1)},
  };
  ConvShape asymmetric = MakeConvShape(2, 10, 9, {31, 19, 3, 3, 1});
  asymmetric.pad_top = 2;
  asymmetric.pad_right = 3;
  asymmetric.in_pixel_stride = 23;
  asymmetric.out_pixel_stride = 48;
  cases.push_back({"asymmetric, padded pixels", asymmetric});
  return cases;
}

void Check(ConvProblem* problem, const std::vector<double>& expected, WinogradSize size, int threads,
           TestEpilogue which) {
  SCOPED_TRACE(StrCat("F", static_cast<int>(size), " threads ", threads, " epilogue ", static_cast<int>(which)));
  const ConvShape& shape = problem->shape;
  ThreadPool pool(threads);
  AlignedFloats packed(WinogradPackedSize(shape.weight, size));
  PackWinograd(shape.weight, size, problem->weight.data(), packed.data(), &pool);
  const WinogradPlan plan(shape, size, threads);
  AlignedFloats scratch(plan.scratch_floats());
  problem->output.assign(problem->output.size(), ConvProblem::kUntouched);
  RunWinograd(plan, problem->input.data(), packed.data(), MakeEpilogue(*problem, which), problem->output.data(),
              scratch.data(), threads > 1 ? &pool : nullptr);
  EXPECT_LE(RelativeError(*problem, expected), kTolerance);
}

TEST(Winograd, EveryShapeOnEveryIsa) {
  for (const ConvCase& c : Cases()) {
    SCOPED_TRACE(c.name);
    ConvProblem problem(c.shape);
    const std::vector<double> expected = ReferenceConv(problem, TestEpilogue::kBiasRelu);
    ForEachIsa([&] {
      for (WinogradSize size : {WinogradSize::kF2, WinogradSize::kF4}) {
        for (int threads : {1, 2}) Check(&problem, expected, size, threads, TestEpilogue::kBiasRelu);
      }
    });
  }
}

TEST(Winograd, EveryEpilogue) {
  ConvProblem problem(MakeConvShape(1, 10, 7, {75, 18, 3, 3, 1}, 1, 1));
  for (TestEpilogue which : kAllTestEpilogues) {
    const std::vector<double> expected = ReferenceConv(problem, which);
    ForEachIsa([&] { Check(&problem, expected, WinogradSize::kF4, 2, which); });
  }
}

TEST(Winograd, ScratchFitsAPlanForMoreThreadsThanTilesRunWithoutThem) {
  const ConvCase c{"serial", MakeConvShape(1, 5, 5, {130, 18, 3, 3, 1}, 1, 1)};
  ConvProblem problem(c.shape);
  const WinogradPlan plan(c.shape, WinogradSize::kF4, 16);
  AlignedFloats packed(WinogradPackedSize(c.shape.weight, WinogradSize::kF4));
  PackWinograd(c.shape.weight, WinogradSize::kF4, problem.weight.data(), packed.data(), nullptr);
  AlignedFloats scratch(plan.scratch_floats());
  RunWinograd(plan, problem.input.data(), packed.data(), TileEpilogue(), problem.output.data(), scratch.data(),
              nullptr);
  EXPECT_LE(RelativeError(problem, ReferenceConv(problem, TestEpilogue::kNone)), kTolerance);
}

}  // namespace
}  // namespace wherry::cpu
