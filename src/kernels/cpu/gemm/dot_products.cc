#include "kernels/cpu/gemm/dot_products.h"

#include <algorithm>

#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm/dot_products.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/tile_epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// The sums of neighbours: first those of a, then those of b.
HWY_INLINE FloatVec PairSums(FloatVec a, FloatVec b) {
  const FloatTag d;
  return hn::Add(hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a));
}

// The sums of N vectors: kLanes / N parts of each, side by side.
template <int N>
HWY_INLINE FloatVec SumEach(const FloatVec* v) {
  if constexpr (N == 1) {
    return *v;
  } else {
    return PairSums(SumEach<N / 2>(v), SumEach<N / 2>(v + N / 2));
  }
}

// x by the rows from `row` on, `live` of them.
HWY_INLINE FloatVec DotRows(const DotProducts& dots, const float* row, int64_t live) {
  const float* rows[kLanes];
  FloatVec sums[kLanes];
  WHERRY_UNROLL
  for (int64_t r = 0; r < kLanes; ++r) {
    rows[r] = row;
    sums[r] = Zero();
    if (r + 1 < live) row += dots.row_stride;
  }
  int64_t i = 0;
  for (; i + kLanes <= dots.k; i += kLanes) {
    const FloatVec x = Load(dots.x + i);
    WHERRY_UNROLL
    for (int64_t r = 0; r < kLanes; ++r) sums[r] = hn::MulAdd(Load(rows[r] + i), x, sums[r]);
  }
  if (i < dots.k) {
    const FloatVec x = LoadN(dots.x + i, dots.k - i);
    WHERRY_UNROLL
    for (int64_t r = 0; r < kLanes; ++r) sums[r] = hn::MulAdd(LoadN(rows[r] + i, dots.k - i), x, sums[r]);
  }
  return SumEach<static_cast<int>(kLanes)>(sums);
}

// Results [begin, end), at most kDotBlock.
void DotBlock(const DotProducts& dots, const TileEpilogue& epilogue, int64_t begin, int64_t end) {
  HWY_ALIGN float buffer[kDotBlock];
  // Through a buffer, since an added operand may be the output.
  float* const to = epilogue.form() == EpilogueForm::kNone ? dots.out + begin : buffer;
  for (int64_t r = begin; r < end; r += kLanes) {
    const int64_t live = std::min(kLanes, end - r);
    StoreN(DotRows(dots, dots.rows + r * dots.row_stride, live), to + r - begin, live);
  }
  if (to != buffer) return;
  if (dots.is_column) {
    ApplyEpilogueSteps(epilogue, buffer, 1, dots.out + begin, 1, end - begin, 1, dots.epilogue_row + begin, 0);
  } else {
    ApplyEpilogueSteps(epilogue, buffer, 0, dots.out + begin, 0, 1, end - begin, dots.epilogue_row, begin);
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {

void RunDotProducts(const DotBatch& batch, const TileEpilogue& epilogue, ThreadPool* pool) {
  const auto block = WHERRY_ISA_CALL(DotBlock);
  // 256 KB a chunk at least: 10 to 20 us.
  constexpr int64_t kMinFloats = 65536;
  const int64_t blocks = (batch.first.count + kDotBlock - 1) / kDotBlock;
  ParallelFor(pool, batch.batch * blocks, std::max<int64_t>(1, kMinFloats / (kDotBlock * (batch.first.k + 1))),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  const int64_t item = i / blocks;
                  const int64_t first = i % blocks * kDotBlock;
                  DotProducts dots = batch.first;
                  dots.rows += item * batch.rows_stride;
                  dots.x += item * batch.x_stride;
                  dots.out += item * batch.out_stride;
                  dots.epilogue_row += item * (dots.is_column ? dots.count : 1);
                  block(dots, epilogue, first, std::min(dots.count, first + kDotBlock));
                }
              });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
