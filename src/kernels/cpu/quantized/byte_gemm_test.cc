#include "kernels/cpu/quantized/byte_gemm.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

struct Case {
  int64_t rows;
  int64_t k;
  int64_t n;
};

// The sums of u8 rows times i8 columns, as every body must give them.
std::vector<int32_t> Sums(const std::vector<uint8_t>& a, int64_t a_stride, const std::vector<int8_t>& b,
                          const Case& c) {
  std::vector<int32_t> sums(static_cast<size_t>(c.rows * c.n));
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      int32_t& sum = sums[static_cast<size_t>(i * c.n + j)];
      for (int64_t k = 0; k < c.k; ++k) {
        sum += a[static_cast<size_t>(i * a_stride + k)] * b[static_cast<size_t>(k * c.n + j)];
      }
    }
  }
  return sums;
}

// The forms of rows that the active instruction set has on this machine, each with the depth of its layout.
std::vector<std::pair<ByteRowForm, int>> Forms() {
  std::vector<std::pair<ByteRowForm, int>> forms{{ByteRowForm::kWords, 2}};
  if (HasByteDot(ActiveIsa())) forms.emplace_back(ByteRowForm::kSegments, 4);
  if (HasByteTiles(ActiveIsa())) forms.emplace_back(ByteRowForm::kTiles, 4);
  return forms;
}

TEST(ByteGemm, EveryBodyGivesTheSums) {
  std::mt19937 random(1);  // NOLINT: the same numbers each time
  for (const Case& c : {Case{1, 1, 1}, Case{3, 5, 15}, Case{5, 64, 16}, Case{6, 33, 17}, Case{7, 130, 65},
                        Case{13, 27, 33}, Case{12, 576, 128}, Case{33, 100, 97}, Case{70, 64, 31}, Case{4, 0, 3}}) {
    SCOPED_TRACE(c.rows * 1000000 + c.k * 1000 + c.n);
    const int64_t a_stride = PaddedDepth(c.k) + 4;
    std::vector<uint8_t> a(static_cast<size_t>(c.rows * a_stride));
    std::vector<int8_t> b(static_cast<size_t>(c.k * c.n));
    // The extremes too, whose sums of two do not fit into 16 bits.
    for (uint8_t& x : a) x = random() % 4 == 0 ? 255 : static_cast<uint8_t>(random());
    for (int8_t& w : b) w = random() % 4 == 0 ? int8_t{-128} : static_cast<int8_t>(random());
    std::vector<int32_t> packed(static_cast<size_t>(PackedByteSize(c.k, c.n)) / sizeof(int32_t));
    const std::vector<int32_t> expected = Sums(a, a_stride, b, c);
    const std::vector<int32_t> zeros(static_cast<size_t>(PaddedBytes64(c.n)));
    std::vector<const uint8_t*> places(static_cast<size_t>(c.rows));
    for (int64_t i = 0; i < c.rows; ++i) places[static_cast<size_t>(i)] = a.data() + i * a_stride;
    ForEachIsa([&] {
      for (const auto& [form, depth] : Forms()) {
        SCOPED_TRACE(static_cast<int>(form));
        const ByteLayout layout{WeightLayout(), depth};
        PackBytes({b.data(), false, c.n, 1}, c.k, c.n, packed.data(), layout);
        std::vector<int16_t> scratch(static_cast<size_t>(c.rows * RowScratchBytes(form, PaddedDepth(c.k)) / 2));
        std::vector<int32_t> got(expected.size(), -1);
        ByteGemmCall call;
        call.a = {places.data(), c.rows, 1, PaddedDepth(c.k)};
        call.packed = packed.data();
        call.form = form;
        call.row_scratch = scratch.data();
        call.rows = c.rows;
        call.n = c.n;
        call.panel_end = PaddedBytes64(c.n) / kBytePanel;
        call.result.data = got.data();
        call.result.stride = c.n;
        call.result.offsets = zeros.data();
        RunByteGemm(call, ActiveIsa());
        EXPECT_EQ(got, expected);
      }
    });
  }
}

TEST(ByteGemm, RowsMayLieInSegments) {
  // Rows (1, 2, 3 | 4, 5, 6) and (7, 8, 9 | 1, 2, 3): the second ends with the first's first segment. 99 meets zeros.
  const std::vector<uint8_t> bytes{1, 2, 3, 99, 4, 5, 6, 99, 7, 8, 9, 99};
  const std::vector<const uint8_t*> places{bytes.data(), bytes.data() + 8, bytes.data() + 4, bytes.data()};
  const std::vector<int8_t> column{1, -1, 2, 0, 10, 20, -30, 0};
  std::vector<int32_t> packed(static_cast<size_t>(PackedByteSize(8, 1)) / sizeof(int32_t));
  const std::vector<int32_t> zeros(static_cast<size_t>(kBytePanel));
  ForEachIsa([&] {
    for (const auto& [form, depth] : Forms()) {
      const ByteLayout layout{WeightLayout(), depth};
      PackBytes({column.data(), false, 1, 1}, 8, 1, packed.data(), layout);
      std::vector<int16_t> scratch(static_cast<size_t>(2 * RowScratchBytes(form, 8) / 2));
      std::vector<int32_t> got(2, -1);
      ByteGemmCall call;
      call.a = {places.data(), 2, 2, 4};
      call.packed = packed.data();
      call.form = form;
      call.row_scratch = scratch.data();
      call.rows = 2;
      call.n = 1;
      call.panel_end = 1;
      call.result.data = got.data();
      call.result.stride = 1;
      call.result.offsets = zeros.data();
      RunByteGemm(call, ActiveIsa());
      EXPECT_EQ(got, (std::vector<int32_t>{1 - 2 + 6 + 40 + 100 - 180, 7 - 8 + 18 + 10 + 40 - 90}));
    }
  });
}

TEST(ByteGemm, PackedColumnsHaveTheirSums) {
  const std::vector<uint8_t> b{1, 200, 3, 128, 255, 0};  // 3 x 2
  std::vector<int32_t> packed(static_cast<size_t>(PackedByteSize(3, 2)) / sizeof(int32_t));
  PackBytes({b.data(), true, 2, 1}, 3, 2, packed.data(), {PanelLayout::kGroups, 2});
  const int32_t* sums = PackedColumnSums(packed.data(), 3, 2);
  EXPECT_EQ(sums[0], 1 + 3 + 255 - 3 * 128);
  EXPECT_EQ(sums[1], 200 + 128 + 0 - 3 * 128);
  EXPECT_EQ(sums[2], 0);
  EXPECT_EQ(sums[63], 0);
}

}  // namespace
}  // namespace wherry::cpu
