#include "kernels/cpu/conv/transposed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/cpu/conv/conv_test_util.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

constexpr double kTolerance = 3e-6;
constexpr float kUntouched = 12345.0f;

struct Case {
  const char* name;
  TransposedShape shape;
};

TransposedShape Shape(int64_t batch, int64_t height, int64_t width, const TransposedWeightShape& weight, int64_t stride,
                      int64_t pad = 0, int64_t dilation = 1, int64_t more = 0) {
  TransposedShape s;
  s.batch = batch;
  s.in_height = height;
  s.in_width = width;
  s.weight = weight;
  s.stride_height = s.stride_width = stride;
  s.dilation_height = s.dilation_width = dilation;
  s.pad_top = s.pad_left = pad;
  const auto reach = [&](int64_t in, int64_t kernel) {
    return (in - 1) * stride + dilation * (kernel - 1) + 1 - 2 * pad + more;
  };
  s.out_height = reach(height, weight.kernel_height);
  s.out_width = reach(width, weight.kernel_width);
  s.in_pixel_stride = weight.in_channels;
  s.out_pixel_stride = weight.out_channels();
  return s;
}

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      {"2x2", Shape(2, 9, 20, {19, 24, 2, 2, 1}, 2)},
      {"2x2 to one channel", Shape(1, 7, 33, {24, 1, 2, 2, 1}, 2)},
      {"2x2, small image", Shape(1, 7, 7, {40, 70, 2, 2, 1}, 2)},
      {"4x4 stride 2", Shape(1, 30, 31, {8, 17, 4, 4, 1}, 2, 1)},
      {"3x3 stride 2 and more", Shape(2, 8, 9, {8, 33, 3, 3, 1}, 2, 1, 1, 1)},
      {"kernel smaller than stride", Shape(1, 6, 5, {5, 3, 2, 2, 1}, 3)},
      {"dilation", Shape(1, 6, 7, {5, 6, 3, 3, 1}, 2, 2, 3)},
      {"padding beyond the kernel", Shape(1, 9, 8, {5, 6, 2, 2, 1}, 2, 5)},
      {"groups", Shape(2, 6, 7, {6, 5, 3, 3, 3}, 2, 1)},
      {"depthwise", Shape(1, 6, 7, {37, 1, 4, 4, 37}, 2, 1)},
      {"depthwise, dilation", Shape(2, 6, 7, {16, 1, 3, 3, 16}, 1, 1, 2)},
      {"blocks of channels", Shape(1, 3, 5, {8, 150, 9, 9, 1}, 2, 4)},
      {"depthwise blocks", Shape(1, 3, 3, {1030, 1, 2, 2, 1030}, 2)},
      {"stride 1", Shape(1, 20, 21, {12, 20, 5, 5, 1}, 1, 2)},
  };
  TransposedShape gaps = Shape(2, 6, 20, {22, 24, 2, 2, 1}, 2);
  gaps.in_pixel_stride = 29;
  gaps.out_pixel_stride = 32;
  cases.push_back({"padded pixels", gaps});
  return cases;
}

struct Problem {
  explicit Problem(const TransposedShape& s) : shape(s) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    const auto fill = [&](int64_t size) {
      std::vector<float> values(static_cast<size_t>(size));
      for (float& value : values) value = uniform(random);
      return values;
    };
    input = fill(s.batch * s.in_height * s.in_width * s.in_pixel_stride);
    weight = fill(s.weight.in_channels * s.weight.out_channels_per_group * s.weight.taps());
    bias = fill(s.weight.out_channels());
    added = fill(pixels() * s.weight.out_channels());
  }
  int64_t pixels() const { return shape.batch * shape.out_height * shape.out_width; }

  TransposedShape shape;
  std::vector<float> input, weight, bias, added;
};

// relu(conv + bias + added), [pixel][channel].
std::vector<double> Expected(const Problem& p) {
  const TransposedShape& s = p.shape;
  const int64_t channels = s.weight.out_channels();
  const int64_t group_in = s.weight.in_channels_per_group();
  const int64_t group_out = s.weight.out_channels_per_group;
  std::vector<double> sums(static_cast<size_t>(p.pixels() * channels), 0.0);
  for (int64_t pixel = 0; pixel < s.batch * s.in_height * s.in_width; ++pixel) {
    const int64_t x = pixel % s.in_width;
    const int64_t y = pixel / s.in_width % s.in_height;
    const int64_t image = pixel / (s.in_width * s.in_height);
    for (int64_t tap = 0; tap < s.weight.taps(); ++tap) {
      const int64_t oy = y * s.stride_height - s.pad_top + tap / s.weight.kernel_width * s.dilation_height;
      const int64_t ox = x * s.stride_width - s.pad_left + tap % s.weight.kernel_width * s.dilation_width;
      if (oy < 0 || oy >= s.out_height || ox < 0 || ox >= s.out_width) continue;
      const int64_t to = ((image * s.out_height + oy) * s.out_width + ox) * channels;
      for (int64_t c = 0; c < s.weight.in_channels; ++c) {
        for (int64_t m = 0; m < group_out; ++m) {
          sums[static_cast<size_t>(to + c / group_in * group_out + m)] +=
              double{p.input[static_cast<size_t>(pixel * s.in_pixel_stride + c)]} *
              double{p.weight[static_cast<size_t>((c * group_out + m) * s.weight.taps() + tap)]};
        }
      }
    }
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] = std::max(0.0, sums[i] + p.bias[i % static_cast<size_t>(channels)] + p.added[i]);
  }
  return sums;
}

void Check(const Problem& p, const std::vector<double>& expected, int threads) {
  SCOPED_TRACE(StrCat("threads ", threads));
  const TransposedShape& s = p.shape;
  const int64_t channels = s.weight.out_channels();
  ThreadPool pool(threads);
  AlignedFloats packed(TransposedPackedSize(s.weight));
  AlignedFloats pack_scratch(TransposedPackScratch(s.weight));
  PackTransposed(s.weight, p.weight.data(), packed.data(), pack_scratch.data(), &pool);
  const TransposedPlan plan(s, /*dense_operands=*/true, threads);
  AlignedFloats scratch(plan.scratch_floats());
  std::vector<float> output(static_cast<size_t>(p.pixels() * s.out_pixel_stride), kUntouched);
  TileEpilogue epilogue;
  epilogue.Bias(p.bias.data()).Add(p.added.data(), channels).Activate({ActKind::kRelu, 0, 0});
  RunTransposed(plan, p.input.data(), packed.data(), epilogue, output.data(), scratch.data(), &pool);
  double error = 0.0;
  double largest = 0.0;
  for (int64_t i = 0; i < p.pixels(); ++i) {
    for (int64_t c = 0; c < s.out_pixel_stride; ++c) {
      const float got = output[static_cast<size_t>(i * s.out_pixel_stride + c)];
      if (c >= channels) {
        ASSERT_EQ(got, kUntouched) << "between pixels";
        continue;
      }
      const double want = expected[static_cast<size_t>(i * channels + c)];
      ASSERT_FALSE(std::isnan(got)) << "pixel " << i << " channel " << c;
      error = std::max(error, std::abs(got - want));
      largest = std::max(largest, std::abs(want));
    }
  }
  EXPECT_LE(error, kTolerance * largest) << plan.DebugString();
}

TEST(Transposed, EveryShapeOnEveryIsa) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    const Problem problem(c.shape);
    const std::vector<double> expected = Expected(problem);
    ForEachIsa([&] {
      for (int threads : {1, 2}) Check(problem, expected, threads);
    });
  }
}

TEST(Transposed, EqualKernelAndStrideNeedNoScratch) {
  const TransposedPlan plan(Shape(1, 9, 20, {19, 24, 2, 2, 1}, 2), true, 1);
  EXPECT_TRUE(plan.direct);
  EXPECT_EQ(plan.slot_floats(), 0);
  // With gaps between the added pixels, columns of two pixels would not meet theirs.
  EXPECT_FALSE(TransposedPlan(Shape(1, 9, 20, {19, 24, 2, 2, 1}, 2), false, 1).direct);
}

}  // namespace
}  // namespace wherry::cpu
