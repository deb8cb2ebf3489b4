#include "kernels/cpu/quantized/byte_winograd.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/check.h"
#include "kernels/cpu/conv/conv_test_util.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

constexpr int32_t kUntouched = 123456789;

struct Problem {
  explicit Problem(const ConvShape& conv)
      : shape(conv),
        image(static_cast<size_t>(conv.batch * conv.in_height * conv.in_width * conv.in_pixel_stride)),
        weight(static_cast<size_t>(conv.weight.elements())) {}

  // With the extremes often: their transforms are the largest.
  void Fill() {
    std::mt19937 random(1);  // NOLINT: the same numbers each time
    const auto byte = [&] { return random() % 3 == 0 ? random() % 2 * 255 : random(); };
    for (uint8_t& x : image) x = static_cast<uint8_t>(byte());
    for (int8_t& w : weight) w = static_cast<int8_t>(byte() ^ 0x80U);
  }

  // What the call stores as plain i32: sums of x as i8 times weights.
  std::vector<int32_t> Sums() const {
    const ConvWeightShape& w = shape.weight;
    std::vector<int32_t> sums(static_cast<size_t>(shape.out_pixels() * shape.out_pixel_stride), kUntouched);
    for (int64_t pixel = 0; pixel < shape.out_pixels(); ++pixel) {
      const int64_t n = pixel / shape.out_width() / shape.out_height();
      const int64_t top = pixel / shape.out_width() % shape.out_height() - shape.pad_top;
      const int64_t left = pixel % shape.out_width() - shape.pad_left;
      for (int64_t m = 0; m < w.out_channels; ++m) {
        int64_t sum = 0;
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t y = top + tap / 3;
          const int64_t x = left + tap % 3;
          const bool inside = y >= 0 && y < shape.in_height && x >= 0 && x < shape.in_width;
          const int64_t at = ((n * shape.in_height + y) * shape.in_width + x) * shape.in_pixel_stride;
          for (int64_t c = 0; c < w.in_channels_per_group; ++c) {
            const uint8_t byte = inside ? image[static_cast<size_t>(at + c)] : pad;
            const int value = is_signed ? static_cast<int8_t>(byte) : byte - 128;
            sum += value * weight[static_cast<size_t>((m * w.in_channels_per_group + c) * 9 + tap)];
          }
        }
        sums[static_cast<size_t>(pixel * shape.out_pixel_stride + m)] = static_cast<int32_t>(sum);
      }
    }
    return sums;
  }

  std::vector<int32_t> Winograd(WinogradSize size, int threads) const {
    ThreadPool pool(threads);
    const ByteWinogradPlan plan(shape, size, threads);
    AlignedFloats packed(static_cast<int64_t>(plan.filter.packed_bytes() / sizeof(float)));
    plan.filter.Pack(weight.data(), packed.data());
    AlignedFloats scratch(static_cast<int64_t>(plan.scratch_bytes() / sizeof(float)));
    std::vector<int32_t> got(static_cast<size_t>(shape.out_pixels() * shape.out_pixel_stride), kUntouched);
    const std::vector<int32_t> offsets(static_cast<size_t>(PaddedBytes64(shape.weight.out_channels)));
    ByteResult result;
    result.data = got.data();
    result.stride = shape.out_pixel_stride;
    result.offsets = offsets.data();
    RunByteWinograd({plan, packed.data(), image.data(), is_signed, pad, result}, scratch.data(),
                    threads > 1 ? &pool : nullptr);
    return got;
  }

  void Check() const {
    const std::vector<int32_t> expected = Sums();
    ForEachIsa([&] {
      for (const WinogradSize size : {WinogradSize::kF2, WinogradSize::kF4}) {
        for (const int threads : {1, 2}) {
          SCOPED_TRACE(StrCat("F", static_cast<int>(size), " threads ", threads));
          EXPECT_EQ(Winograd(size, threads), expected);
        }
      }
    });
  }

  ConvShape shape;
  std::vector<uint8_t> image;
  std::vector<int8_t> weight;
  bool is_signed = false;
  uint8_t pad = 0;
};

TEST(ByteWinograd, SumsAreThoseOfPlainLoops) {
  std::vector<ConvCase> cases = {
      {"whole tiles", MakeConvShape(1, 16, 16, {64, 32, 3, 3, 1}, 1, 1)},
      {"odd size and channels", MakeConvShape(1, 13, 11, {37, 21, 3, 3, 1}, 1, 1)},
      {"three columns and one line are left", MakeConvShape(1, 9, 7, {16, 16, 3, 3, 1}, 1, 1)},
      {"two panels, batch", MakeConvShape(3, 9, 10, {112, 40, 3, 3, 1}, 1, 1)},
      {"no padding", MakeConvShape(1, 11, 14, {16, 16, 3, 3, 1})},
      {"wide padding", MakeConvShape(1, 5, 6, {20, 24, 3, 3, 1}, 1, 4)},
      {"1x1 image", MakeConvShape(1, 1, 1, {17, 33, 3, 3, 1}, 1, 1)},
      {"one channel", MakeConvShape(1, 8, 9, {1, 1, 3, 3, 1}, 1, 1)},
      {"zero batch", MakeConvShape(0, 8, 8, {16, 16, 3, 3, 1}, 1, 1)},
      {"empty output", MakeConvShape(1, 2, 2, {16, 16, 3, 3, 1})},
      {"few tiles, many panels", MakeConvShape(1, 7, 7, {200, 96, 3, 3, 1}, 1, 1)},
      {"many blocks", MakeConvShape(1, 50, 47, {70, 48, 3, 3, 1}, 1, 1)},
      {"deep", MakeConvShape(1, 6, 6, {48, 512, 3, 3, 1}, 1, 1)},
  };
  ConvShape asymmetric = MakeConvShape(2, 10, 9, {31, 19, 3, 3, 1});
  asymmetric.pad_top = 2;
  asymmetric.pad_right = 3;
  asymmetric.in_pixel_stride = 23;
  asymmetric.out_pixel_stride = 48;
  cases.push_back({"asymmetric, padded pixels", asymmetric});
  for (const ConvCase& c : cases) {
    for (const bool is_signed : {false, true}) {
      SCOPED_TRACE(StrCat(c.name, is_signed ? ", i8" : ", u8"));
      Problem problem(c.shape);
      problem.Fill();
      problem.is_signed = is_signed;
      problem.pad = 201;
      problem.Check();
    }
  }
}

// Each point's largest factors: a line of the image and of the kernel are all at one end or the other.
TEST(ByteWinograd, ExtremesFitIntoWords) {
  Problem problem(MakeConvShape(1, 6, 6, {8, 16, 3, 3, 1}));
  for (uint32_t lines = 0; lines < 64; ++lines) {
    SCOPED_TRACE(lines);
    for (size_t i = 0; i < problem.image.size(); ++i) {
      const size_t y = i / 16 / 6;
      const size_t x = i / 16 % 6;
      const bool differ = ((lines >> y ^ lines >> x) & 1U) != 0;
      problem.image[i] = differ ? 0 : 255;
    }
    for (size_t i = 0; i < problem.weight.size(); ++i) {
      const uint32_t signs = static_cast<uint32_t>(i / (16 * 9));  // by output channel
      const bool differ = ((signs >> (i % 9 / 3) ^ signs >> (i % 3)) & 1U) != 0;
      problem.weight[i] = differ ? 127 : -128;
    }
    problem.Check();
  }
}

TEST(ByteWinograd, SumsOfTheMostChannelsFit) {
  for (const uint8_t x : {0, 255}) {
    Problem problem(MakeConvShape(1, 6, 6, {2, kMaxByteWinogradChannels, 3, 3, 1}));
    std::fill(problem.image.begin(), problem.image.end(), x);
    std::fill(problem.weight.begin(), problem.weight.end(), int8_t{-128});
    problem.Check();
  }
  EXPECT_TRUE(CanRunByteWinograd(MakeConvShape(1, 6, 6, {2, kMaxByteWinogradChannels, 3, 3, 1})));
  EXPECT_FALSE(CanRunByteWinograd(MakeConvShape(1, 6, 6, {2, kMaxByteWinogradChannels + 1, 3, 3, 1})));
}

TEST(ByteWinograd, PackedWordsLieAsTheLayoutSays) {
  constexpr int kRows[6][3] = {{15, 0, 0}, {5, 5, 5}, {5, -5, 5}, {1, 2, 4}, {4, -2, 1}, {0, 0, 15}};
  for (const PanelLayout layout : {PanelLayout::kRows, PanelLayout::kGroups}) {
    const ByteWinogradFilter filter{{70, 5, 3, 3, 1}, WinogradSize::kF4, layout};
    std::vector<int8_t> weight(70 * 5 * 9);
    for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<int8_t>(i * 37);
    std::vector<int32_t> packed(filter.packed_bytes() / sizeof(int32_t), -1);
    filter.Pack(weight.data(), packed.data());
    const auto* words = reinterpret_cast<const int16_t*>(packed.data());
    const int64_t width = filter.group_columns();
    for (int64_t i = 0; i < filter.words(); ++i, ++words) {
      const int64_t channel = i / (2 * width) % 3 * 2 + i % 2;
      const int64_t point = i / (6 * width) % 36;
      const int64_t column = i / (6 * 36 * width) * width + i / 2 % width;
      int expected = 0;
      for (int64_t tap = 0; tap < 9 && channel < 5 && column < 70; ++tap) {
        expected += kRows[point / 6][tap / 3] * kRows[point % 6][tap % 3] *
                    weight[static_cast<size_t>((column * 5 + channel) * 9 + tap)];
      }
      ASSERT_EQ(*words, expected) << LayoutName(layout) << " " << i;
    }
    for (int64_t column = 0; column < PaddedBytes64(70); ++column) {
      int expected = 0;
      for (int64_t i = 0; i < 45 && column < 70; ++i) expected += weight[static_cast<size_t>(column * 45 + i)];
      ASSERT_EQ(filter.ColumnSums(packed.data())[column], expected) << column;
    }
  }
}

TEST(ByteWinograd, IsChosenWhereItIsClearlyFaster) {
  const ScopedIsa scoped(kIsas[0]);  // multiplies no four bytes at once
  const auto choose = [](int64_t side, int64_t channels, int64_t stride = 1, int64_t dilation = 1, int64_t groups = 1) {
    return ChooseByteWinograd(
        MakeConvShape(1, side, side, {channels, channels / groups, 3, 3, groups}, stride, dilation, dilation), 1);
  };
  EXPECT_EQ(choose(56, 64), WinogradSize::kF4);
  EXPECT_EQ(choose(28, 128), WinogradSize::kF4);
  EXPECT_EQ(choose(14, 256), WinogradSize::kF2);  // a third of the time, but for less than half the weights
  EXPECT_EQ(choose(7, 512), std::nullopt);
  EXPECT_EQ(choose(80, 16), WinogradSize::kF4);
  EXPECT_EQ(choose(8, 4), std::nullopt);
  EXPECT_EQ(choose(3, 512), std::nullopt);
  EXPECT_EQ(choose(56, 64, 2), std::nullopt);
  EXPECT_EQ(choose(56, 64, 1, 2), std::nullopt);
  EXPECT_EQ(choose(56, 64, 1, 1, 2), std::nullopt);
}

}  // namespace
}  // namespace wherry::cpu
