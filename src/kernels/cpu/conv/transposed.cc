#include "kernels/cpu/conv/transposed.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "kernels/cpu/conv/transposed_blocks.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/transposed.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// `count` runs of `run` floats: to[i * to_step + j] += from[i * from_step + j].
void AddRuns(const float* from, int64_t from_step, float* to, int64_t to_step, int64_t count, int64_t run) {
  if (run < kLanes / 2) {
    for (int64_t i = 0; i < count; ++i, from += from_step, to += to_step) {
      for (int64_t j = 0; j < run; ++j) to[j] += from[j];
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i, from += from_step, to += to_step) {
    int64_t j = 0;
    for (; j + kLanes <= run; j += kLanes) Store(hn::Add(Load(to + j), Load(from + j)), to + j);
    if (j < run) StoreN(hn::Add(LoadN(to + j, run - j), LoadN(from + j, run - j)), to + j, run - j);
  }
}

// to[i * to_step + c] += from[i * from_step + c] * factors[c].
void AddScaledRuns(const float* from, int64_t from_step, const float* factors, float* to, int64_t to_step,
                   int64_t count, int64_t channels) {
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int64_t live = std::min<int64_t>(kLanes, channels - c);
    const FloatVec factor = LoadN(factors + c, live);
    const float* p = from + c;
    float* q = to + c;
    for (int64_t i = 0; i < count; ++i, p += from_step, q += to_step) {
      if (live == kLanes) {
        Store(hn::MulAdd(Load(p), factor, Load(q)), q);
      } else {
        StoreN(hn::MulAdd(LoadN(p, live), factor, LoadN(q, live)), q, live);
      }
    }
  }
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
namespace {

// The values i of [0, inputs) for which 0 <= i * stride + offset - begin < end - begin.
struct Range {
  int64_t begin;
  int64_t end;
};
Range InputsThatReach(int64_t begin, int64_t end, int64_t offset, int64_t stride, int64_t inputs) {
  const auto first_at_least = [&](int64_t at) { return at <= offset ? 0 : CeilDivide(at - offset, stride); };
  const int64_t first = std::min(first_at_least(begin), inputs);
  return {first, std::max(first, std::min(first_at_least(end), inputs))};
}

// The same steps for `pixels` neighbouring pixels as one row; `operands` takes their operands side by side.
TileEpilogue Widened(const TileEpilogue& epilogue, int64_t channels, int64_t pixels, float* operands) {
  TileEpilogue wide;
  for (int i = 0; i < epilogue.count(); ++i) {
    const TileEpilogue::Step& step = epilogue.step(i);
    switch (step.kind) {
      case TileEpilogue::Step::Kind::kFactor: wide.Factor(step.factor); break;
      case TileEpilogue::Step::Kind::kAdd: wide.Add(step.data, step.row_stride); break;
      case TileEpilogue::Step::Kind::kActivation: wide.Activate(step.activation); break;
      case TileEpilogue::Step::Kind::kScale:
      case TileEpilogue::Step::Kind::kBias:
        for (int64_t p = 0; p < pixels; ++p) std::copy_n(step.data, channels, operands + p * channels);
        step.kind == TileEpilogue::Step::Kind::kScale ? wide.Scale(operands) : wide.Bias(operands);
        operands += RoundUp(pixels * channels, kLineFloats);
        break;
    }
  }
  return wide;
}

// Its added operand begins `rows` rows later, and its rows are `step` times as far apart.
TileEpilogue Moved(const TileEpilogue& epilogue, int64_t rows, int64_t step) {
  TileEpilogue moved;
  for (int i = 0; i < epilogue.count(); ++i) {
    const TileEpilogue::Step& s = epilogue.step(i);
    switch (s.kind) {
      case TileEpilogue::Step::Kind::kFactor: moved.Factor(s.factor); break;
      case TileEpilogue::Step::Kind::kScale: moved.Scale(s.data); break;
      case TileEpilogue::Step::Kind::kBias: moved.Bias(s.data); break;
      case TileEpilogue::Step::Kind::kAdd: moved.Add(s.data + rows * s.row_stride, s.row_stride * step); break;
      case TileEpilogue::Step::Kind::kActivation: moved.Activate(s.activation); break;
    }
  }
  return moved;
}

// One run of RunTransposed; Unit is called by several threads, each with scratch of its own.
class Runner {
 public:
  Runner(const TransposedPlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue, float* out)
      : plan_(plan), s_(plan.shape), in_(in), packed_(packed), epilogue_(epilogue), out_(out) {}

  void Unit(int64_t unit, float* scratch) const {
    const int64_t band = unit % plan_.bands;
    const int64_t image = unit / plan_.bands % s_.batch;
    const TransposedBlock block = TransposedBlockAt(s_.weight, unit / plan_.bands / s_.batch);
    const int64_t begin = band * plan_.band_rows;
    const int64_t end = std::min(begin + plan_.band_rows, plan_.direct ? s_.in_height : s_.out_height);
    if (plan_.direct) {
      for (int64_t y = begin; y < end; ++y) DirectRow(image, y);
      return;
    }
    const int64_t row_floats = s_.out_width * block.channels;
    std::fill_n(scratch, (end - begin) * row_floats, 0.0f);
    const Band sums{scratch, begin, end, row_floats};
    if (s_.weight.depthwise()) {
      AddScaledRows(image, block, sums);
    } else {
      AddProducts(image, block, scratch + plan_.band_rows * s_.out_width * plan_.block, sums);
    }
    for (int64_t y = begin; y < end; ++y) Finish(scratch + (y - begin) * row_floats, image * s_.out_height + y, block);
  }

 private:
  // The sums of the output rows [begin, end).
  struct Band {
    float* data;
    int64_t begin;
    int64_t end;
    int64_t row_floats;
    float* Row(int64_t y) const { return data + (y - begin) * row_floats; }
  };

  const float* Row(int64_t image, int64_t y) const {
    return in_ + (image * s_.in_height + y) * s_.in_width * s_.in_pixel_stride;
  }

  void DirectRow(int64_t image, int64_t y) const {
    const int64_t channels = s_.weight.out_channels();
    const int64_t columns = s_.stride_width * channels;
    const int64_t depth = s_.weight.in_channels;
    for (int64_t tap = 0; tap < s_.stride_height; ++tap) {
      const int64_t pixel = ((image * s_.in_height + y) * s_.stride_height + tap) * s_.out_width;
      GemmPacked({Row(image, y), s_.in_pixel_stride, 1}, packed_ + tap * PackedFloats(depth, columns),
                 out_ + pixel * channels, columns, s_.in_width, columns, depth,
                 Moved(epilogue_, pixel, s_.stride_width), nullptr);
    }
  }

  int64_t RowOffset(int64_t tap) const { return tap * s_.dilation_height - s_.pad_top; }
  // The input rows that meet the band by a row of the kernel.
  Range RowsOf(int64_t tap, const Band& sums) const {
    return InputsThatReach(sums.begin, sums.end, RowOffset(tap), s_.stride_height, s_.in_height);
  }

  // Multiplies some input rows at a time and adds the products where they belong.
  void AddProducts(int64_t image, const TransposedBlock& block, float* products, const Band& sums) const {
    const TransposedWeightShape& w = s_.weight;
    const int64_t tap_rows = TransposedTapRows(w);
    const int64_t depth = w.in_channels_per_group();
    const int64_t columns = tap_rows * w.kernel_width * block.channels;
    const float* packed = packed_ + block.packed;
    for (int64_t first = 0; first < w.kernel_height; first += tap_rows, packed += PackedFloats(depth, columns)) {
      const Range rows{RowsOf(first + tap_rows - 1, sums).begin, RowsOf(first, sums).end};
      for (int64_t y = rows.begin; y < rows.end; y += plan_.input_rows) {
        const int64_t count = std::min(plan_.input_rows, rows.end - y);
        GemmPacked({Row(image, y) + block.group * depth, s_.in_pixel_stride, 1}, packed, products, columns,
                   count * s_.in_width, columns, depth, TileEpilogue(), nullptr);
        for (int64_t tap = first; tap < first + tap_rows; ++tap) {
          const Range reach = RowsOf(tap, sums);
          for (int64_t r = std::max(y, reach.begin); r < std::min(y + count, reach.end); ++r) {
            AddRow(products + (r - y) * s_.in_width * columns + (tap - first) * w.kernel_width * block.channels,
                   columns, block.channels, sums.Row(r * s_.stride_height + RowOffset(tap)));
          }
        }
      }
    }
  }

  // The products of an input row and a row of the kernel, whose pixels are `step` floats apart, to an output row.
  void AddRow(const float* from, int64_t step, int64_t channels, float* row) const {
    const auto add_runs = WHERRY_ISA_CALL(AddRuns);
    const TransposedWeightShape& w = s_.weight;
    const int64_t row_step = s_.stride_width * channels;
    const auto reach = [&](int64_t tap) {
      return InputsThatReach(0, s_.out_width, tap * s_.dilation_width - s_.pad_left, s_.stride_width, s_.in_width);
    };
    // Taps without a gap between them are one run, but at the sides of the image.
    Range inner{0, 0};
    if (s_.dilation_width == 1) inner = {reach(0).begin, reach(w.kernel_width - 1).end};
    if (inner.begin < inner.end) {
      add_runs(from + inner.begin * step, step, row + (inner.begin * s_.stride_width - s_.pad_left) * channels,
               row_step, inner.end - inner.begin, w.kernel_width * channels);
    }
    for (int64_t t = 0; t < w.kernel_width; ++t) {
      const auto add = [&](int64_t begin, int64_t end) {
        if (begin >= end) return;
        const int64_t to = begin * s_.stride_width + t * s_.dilation_width - s_.pad_left;
        add_runs(from + begin * step + t * channels, step, row + to * channels, row_step, end - begin, channels);
      };
      const Range all = reach(t);
      if (inner.begin < inner.end) {
        add(all.begin, std::min(all.end, inner.begin));
        add(std::max(all.begin, inner.end), all.end);
      } else {
        add(all.begin, all.end);
      }
    }
  }

  void AddScaledRows(int64_t image, const TransposedBlock& block, const Band& sums) const {
    const auto add_scaled_runs = WHERRY_ISA_CALL(AddScaledRuns);
    const TransposedWeightShape& w = s_.weight;
    for (int64_t tap = 0; tap < w.kernel_height; ++tap) {
      const Range rows = RowsOf(tap, sums);
      for (int64_t y = rows.begin; y < rows.end; ++y) {
        float* const row = sums.Row(y * s_.stride_height + RowOffset(tap));
        for (int64_t t = 0; t < w.kernel_width; ++t) {
          const int64_t offset = t * s_.dilation_width - s_.pad_left;
          const Range reach = InputsThatReach(0, s_.out_width, offset, s_.stride_width, s_.in_width);
          if (reach.begin >= reach.end) continue;
          add_scaled_runs(Row(image, y) + reach.begin * s_.in_pixel_stride + block.first, s_.in_pixel_stride,
                          packed_ + (tap * w.kernel_width + t) * w.out_channels() + block.first,
                          row + (reach.begin * s_.stride_width + offset) * block.channels,
                          s_.stride_width * block.channels, reach.end - reach.begin, block.channels);
        }
      }
    }
  }

  // Stores the finished sums of an output row, counted through the batch.
  void Finish(const float* sums, int64_t row, const TransposedBlock& block) const {
    const int64_t channel = block.group * s_.weight.out_channels_per_group + block.first;
    const int64_t pixel = row * s_.out_width;
    float* const to = out_ + pixel * s_.out_pixel_stride + channel;
    if (plan_.wide_pixels == 1) {
      return ApplyEpilogue(epilogue_, sums, block.channels, to, s_.out_pixel_stride, s_.out_width, block.channels,
                           pixel, channel);
    }
    for (int64_t x = 0; x < s_.out_width; x += plan_.wide_pixels) {
      const int64_t floats = std::min(plan_.wide_pixels, s_.out_width - x) * block.channels;
      ApplyEpilogue(epilogue_, sums + x * block.channels, 0, to + x * block.channels, 0, 1, floats, pixel + x, 0);
    }
  }

  const TransposedPlan& plan_;
  const TransposedShape& s_;
  const float* in_;
  const float* packed_;
  const TileEpilogue& epilogue_;  // for plan.wide_pixels pixels at once
  float* out_;
};

}  // namespace

void RunTransposed(const TransposedPlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue,
                   float* out, float* scratch, ThreadPool* pool) {
  const int64_t slot = plan.slot_floats();
  const TileEpilogue wide = plan.wide_pixels == 1 ? epilogue
                                                  : Widened(epilogue, plan.shape.weight.out_channels(),
                                                            plan.wide_pixels, scratch + plan.slots * slot);
  const Runner runner(plan, in, packed, wide, out);
  const auto work = [&](int64_t i) {
    const int64_t end = plan.units() * (i + 1) / plan.slots;
    for (int64_t unit = plan.units() * i / plan.slots; unit < end; ++unit) runner.Unit(unit, scratch + i * slot);
  };
  if (pool == nullptr || plan.slots == 1) {
    for (int64_t i = 0; i < plan.slots; ++i) work(i);
  } else {
    pool->Run(plan.slots, work);
  }
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
