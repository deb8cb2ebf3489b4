#include "kernels/cpu/pool/pool2d.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/check.h"
#include "base/thread_pool.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

constexpr float kUntouched = 12345.0f;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Case {
  const char* name;
  PoolShape shape;
};

PoolAxis Axis(int64_t in, int64_t kernel, int64_t stride, int64_t before, int64_t after, int64_t dilation = 1,
              bool ceil = false) {
  PoolAxis axis{in, 0, kernel, stride, dilation, before, after, false};
  const int64_t room = in + before + after - (kernel - 1) * dilation - 1;
  axis.out = (ceil ? room + stride - 1 : room) / stride + 1;
  return axis;
}

PoolShape Shape(int64_t batch, int64_t channels, PoolAxis rows, PoolAxis columns) {
  PoolShape s;
  s.batch = batch;
  s.channels = channels;
  s.rows = rows;
  s.columns = columns;
  s.in_pixel_stride = channels;
  s.out_pixel_stride = channels;
  return s;
}

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      {"2x2", Shape(1, 32, Axis(8, 2, 2, 0, 0), Axis(6, 2, 2, 0, 0))},
      {"3x3 stride 2 padded", Shape(2, 19, Axis(9, 3, 2, 1, 1), Axis(7, 3, 2, 1, 1))},
      {"asymmetric", Shape(1, 70, Axis(9, 3, 2, 1, 0), Axis(7, 2, 1, 0, 1))},
      {"ceil", Shape(1, 17, Axis(8, 3, 2, 0, 0, 1, true), Axis(9, 2, 3, 1, 1, 1, true))},
      {"dilation", Shape(1, 20, Axis(9, 3, 1, 2, 2, 2), Axis(10, 3, 1, 0, 0, 3))},
      {"global", Shape(2, 83, PoolAxis::Global(7), PoolAxis::Global(5))},
      {"large global", Shape(1, 5, PoolAxis::Global(112), PoolAxis::Global(113))},
      {"many blocks", Shape(1, 300, Axis(20, 3, 1, 1, 1), Axis(21, 3, 1, 1, 1))},
      {"columns apart", Shape(2, 3, Axis(9, 5, 1, 2, 2), Axis(70, 1, 1, 0, 0))},
      {"columns apart, cropped", Shape(1, 3, Axis(9, 5, 1, 2, 2), Axis(9, 1, 1, -1, 1))},
      {"zero batch", Shape(0, 8, Axis(4, 2, 2, 0, 0), Axis(4, 2, 2, 0, 0))},
      {"global of nothing", Shape(1, 5, PoolAxis::Global(0), PoolAxis::Global(3))},
      {"windows of padding only", Shape(1, 9, Axis(2, 1, 1, 2, 2), Axis(2, 1, 1, 2, 2))},
  };
  Case adaptive{"adaptive", Shape(1, 33, {}, {})};
  adaptive.shape.rows = {.in = 7, .out = 3, .adaptive = true};
  adaptive.shape.columns = {.in = 4, .out = 6, .adaptive = true};
  cases.push_back(adaptive);
  Case padded{"padded pixels", Shape(2, 21, Axis(6, 3, 1, 1, 1), Axis(5, 3, 2, 1, 1))};
  padded.shape.in_pixel_stride = 28;
  padded.shape.out_pixel_stride = 32;
  cases.push_back(padded);
  return cases;
}

// The positions of window i, by the definition.
std::vector<int64_t> Taps(const PoolAxis& a, int64_t i) {
  std::vector<int64_t> positions;
  if (a.adaptive) {
    for (int64_t p = i * a.in / a.out; p * a.out < (i + 1) * a.in; ++p) positions.push_back(p);
  } else {
    for (int64_t k = 0; k < a.kernel; ++k) positions.push_back(i * a.stride - a.pad_before + k * a.dilation);
  }
  return positions;
}

double ReferenceWindow(const PoolShape& s, const float* image, const std::vector<int64_t>& rows,
                       const std::vector<int64_t>& columns) {
  double sum = 0;
  double largest = -std::numeric_limits<double>::infinity();
  int64_t inside = 0;
  int64_t padded = 0;
  for (int64_t y : rows) {
    for (int64_t x : columns) {
      if (y < s.rows.in + s.rows.pad_after && x < s.columns.in + s.columns.pad_after) ++padded;
      if (y < 0 || y >= s.rows.in || x < 0 || x >= s.columns.in) continue;
      const double v = image[(y * s.columns.in + x) * s.in_pixel_stride];
      ++inside;
      sum += v;
      if (std::isnan(v) || v > largest) largest = v;
    }
  }
  if (s.kind == PoolKind::kMax) return largest;
  const int64_t count = s.kind == PoolKind::kAverage ? inside : padded;
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

// [pixel][channel].
std::vector<double> Reference(const PoolShape& s, const std::vector<float>& in) {
  std::vector<double> out;
  for (int64_t image = 0; image < s.batch; ++image) {
    const float* first = in.data() + image * s.rows.in * s.columns.in * s.in_pixel_stride;
    for (int64_t oy = 0; oy < s.rows.out; ++oy) {
      const std::vector<int64_t> rows = Taps(s.rows, oy);
      for (int64_t ox = 0; ox < s.columns.out; ++ox) {
        const std::vector<int64_t> columns = Taps(s.columns, ox);
        for (int64_t c = 0; c < s.channels; ++c) out.push_back(ReferenceWindow(s, first + c, rows, columns));
      }
    }
  }
  return out;
}

std::vector<float> RandomImages(const PoolShape& s) {
  std::mt19937 rng(3);
  std::normal_distribution<float> normal;
  std::vector<float> in(static_cast<size_t>(s.batch * s.rows.in * s.columns.in * s.in_pixel_stride), kNan);
  for (size_t i = 0; i < in.size(); ++i) {
    if (static_cast<int64_t>(i) % s.in_pixel_stride < s.channels) in[i] = normal(rng);
  }
  return in;
}

void Check(const PoolShape& s, const std::vector<float>& in, const std::vector<double>& expected, int threads) {
  SCOPED_TRACE(StrCat("kind ", static_cast<int>(s.kind), " threads ", threads));
  const int64_t pixels = s.batch * s.rows.out * s.columns.out;
  std::vector<float> out(static_cast<size_t>(pixels * s.out_pixel_stride), kUntouched);
  ThreadPool pool(threads);
  Pool2d(s, in.data(), out.data(), threads > 1 ? &pool : nullptr);
  const double tolerance = s.kind == PoolKind::kMax ? 0 : 1e-6;
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (int64_t c = 0; c < s.out_pixel_stride; ++c) {
      const float got = out[static_cast<size_t>(pixel * s.out_pixel_stride + c)];
      const double want = c < s.channels ? expected[static_cast<size_t>(pixel * s.channels + c)] : kUntouched;
      const bool equal = got == want || std::abs(got - want) <= tolerance;  // both may be -inf
      ASSERT_TRUE(equal) << "pixel " << pixel << " channel " << c << ": " << got << " instead of " << want;
    }
  }
}

TEST(Pool2d, EveryShapeOnEveryIsa) {
  for (Case& c : Cases()) {
    SCOPED_TRACE(c.name);
    for (PoolKind kind : {PoolKind::kMax, PoolKind::kAverage, PoolKind::kAverageWithPadding}) {
      c.shape.kind = kind;
      const std::vector<float> in = RandomImages(c.shape);
      const std::vector<double> expected = Reference(c.shape, in);
      ForEachIsa([&] {
        for (int threads : {1, 2}) Check(c.shape, in, expected, threads);
      });
    }
  }
}

TEST(Pool2d, NanIsTheMaximumWhereverItStands) {
  ForEachIsa([] {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const PoolShape shape = Shape(1, 1, Axis(1, 1, 1, 0, 0), Axis(6, 2, 1, 0, 0));
    const float in[] = {1, kNan, 3, 2, kInf, -kInf};
    float out[5] = {};
    Pool2d(shape, in, out, nullptr);
    EXPECT_TRUE(std::isnan(out[0]));
    EXPECT_TRUE(std::isnan(out[1]));
    EXPECT_EQ(out[2], 3);
    EXPECT_EQ(out[3], kInf);
    EXPECT_EQ(out[4], kInf);
  });
}

}  // namespace
}  // namespace wherry::cpu
