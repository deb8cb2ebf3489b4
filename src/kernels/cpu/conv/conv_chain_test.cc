#include "kernels/cpu/conv/conv_chain.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/cpu/conv/conv_test_util.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

struct ChainCase {
  const char* name;
  std::vector<ConvShape> shapes;
};

// Sizes of images that take several bands (of 256 KB) and chunks, and less than one.
std::vector<ChainCase> Cases() {
  const auto of = [](int64_t batch, int64_t height, int64_t width, std::vector<ConvShape> shapes) {
    for (ConvShape& shape : shapes) {
      shape.batch = batch;
      shape.in_height = height;
      shape.in_width = width;
      height = shape.out_height();
      width = shape.out_width();
    }
    return shapes;
  };
  const auto conv = [](const ConvWeightShape& weight, int64_t stride = 1, int64_t pad = 0, int64_t dilation = 1) {
    return MakeConvShape(1, 1, 1, weight, stride, pad, dilation);
  };
  std::vector<ChainCase> cases = {
      {"a block", of(1, 40, 60, {conv({72, 8, 1, 1, 1}), conv({72, 1, 3, 3, 72}, 1, 1), conv({9, 72, 1, 1, 1})})},
      {"of stride 2", of(2, 61, 60, {conv({72, 8, 1, 1, 1}), conv({72, 1, 3, 3, 72}, 2, 1), conv({9, 72, 1, 1, 1})})},
      {"5x5", of(1, 50, 40, {conv({80, 4, 1, 1, 1}), conv({80, 1, 5, 5, 80}, 1, 2), conv({8, 80, 1, 1, 1})})},
      {"dilated", of(1, 64, 64, {conv({64, 4, 1, 1, 1}), conv({64, 1, 3, 3, 64}, 1, 3, 3)})},
      {"a first layer",
       of(3, 81, 83, {conv({32, 3, 3, 3, 1}, 2, 1), conv({32, 1, 3, 3, 32}, 1, 1), conv({16, 32, 1, 1, 1})})},
      {"depthwise first", of(1, 70, 90, {conv({64, 1, 3, 3, 64}, 1, 1), conv({32, 64, 1, 1, 1})})},
      {"two windows", of(1, 90, 50, {conv({40, 1, 3, 3, 40}, 1, 1), conv({40, 1, 5, 5, 40}, 3, 0)})},
      {"a pixel", of(1, 1, 1, {conv({20, 4, 1, 1, 1}), conv({20, 1, 3, 3, 20}, 1, 1), conv({5, 20, 1, 1, 1})})},
      {"wide rows", of(1, 9, 900, {conv({96, 4, 1, 1, 1}), conv({96, 1, 3, 3, 96}, 1, 1)})},
  };
  cases.push_back(cases[0]);
  cases.back().name = "pixels with gaps, and no padding below";
  std::vector<ConvShape>& shapes = cases.back().shapes;
  shapes.front().in_pixel_stride += 5;
  shapes.back().out_pixel_stride += 3;
  shapes[1].pad_bottom = 0;
  shapes[2].in_height = shapes[1].out_height();
  return cases;
}

TEST(ConvChain, GivesWhatItsConvolutionsGiveOneByOne) {
  ForEachIsa([] {
    for (const ChainCase& c : Cases()) {
      std::vector<std::unique_ptr<ConvProblem>> problems;
      std::vector<std::unique_ptr<AlignedFloats>> weights;
      std::vector<const float*> packed;
      std::vector<TileEpilogue> epilogues;
      for (const ConvShape& shape : c.shapes) {
        problems.push_back(std::make_unique<ConvProblem>(shape, static_cast<uint32_t>(problems.size() + 1)));
        ConvProblem& problem = *problems.back();
        const ConvAlgorithm algorithm = ChainAlgorithm(shape);
        weights.push_back(std::make_unique<AlignedFloats>(ConvPackedSize(algorithm, shape.weight)));
        PackConv(algorithm, shape.weight, problem.weight.data(), weights.back()->data(), nullptr);
        packed.push_back(weights.back()->data());
        const bool last = problems.size() == c.shapes.size();
        epilogues.push_back(MakeEpilogue(problem, last ? TestEpilogue::kBiasAddRelu : TestEpilogue::kBiasHardSwish));
        problem.output.assign(problem.output.size(), ConvProblem::kUntouched);
        const float* const image =
            problems.size() == 1 ? problem.input.data() : (problems.end() - 2)->get()->output.data();
        ConvPlan(algorithm, shape, 1)
            .Run(image, packed.back(), epilogues.back(), problem.output.data(), nullptr, nullptr);
      }
      for (const int threads : {1, 2, 5}) {
        SCOPED_TRACE(StrCat(c.name, ", threads ", threads));
        ThreadPool pool(threads);
        const ConvChainPlan plan(c.shapes, threads);
        AlignedFloats scratch(plan.scratch_floats());
        std::vector<float> out(problems.back()->output.size(), ConvProblem::kUntouched);
        plan.Run(problems.front()->input.data(), packed, epilogues, out.data(), scratch.data(), &pool);
        EXPECT_EQ(out, problems.back()->output) << plan.DebugString();
      }
    }
  });
}

TEST(ConvChain, HoldsBandsOfTallImagesOnly) {
  std::vector<ConvShape> shapes = Cases()[0].shapes;
  for (ConvShape& shape : shapes) shape.in_height = 4000;
  const ConvChainPlan plan(shapes, 1);
  EXPECT_LE(plan.scratch_floats() * static_cast<int64_t>(sizeof(float)), 300 * 1024) << plan.DebugString();
}

}  // namespace
}  // namespace wherry::cpu
