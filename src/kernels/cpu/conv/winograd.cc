#include "kernels/cpu/conv/winograd.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv/winograd.cc"
#include "kernels/cpu/simd/foreach_isa.h"

#include "kernels/cpu/conv/column_epilogue-inl.h"
#include "kernels/cpu/conv/tile_kernel-inl.h"
#include "kernels/cpu/conv/winograd_transform-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {
namespace {

// A tile's place: its image and the output pixel of its corner.
struct TilePlace {
  TilePlace(const WinogradPlan& plan, int64_t tile)
      : image(tile / (plan.tiles_y * plan.tiles_x)),
        y(tile / plan.tiles_x % plan.tiles_y * plan.tile()),
        x(tile % plan.tiles_x * plan.tile()) {}
  int64_t image;
  int64_t y;
  int64_t x;
};

// Which rows and columns of a tile lie inside the image.
struct InsideRange {
  InsideRange(int64_t origin, int64_t size, int64_t count)
      : begin(std::clamp<int64_t>(-origin, 0, count)), end(std::clamp<int64_t>(size - origin, begin, count)) {}
  HWY_INLINE bool Has(int64_t i) const { return i >= begin && i < end; }
  bool All(int64_t count) const { return begin == 0 && end == count; }
  int64_t begin;
  int64_t end;
};

// Transforms one vector of channels of a tile. kWhole: the tile lies inside the image.
template <int kTile, bool kWhole>
HWY_INLINE void TransformInputVector(const float* in, int64_t row, int64_t pixel, int64_t channels, InsideRange ys,
                                     InsideRange xs, float* to, int64_t point_stride) {
  constexpr int kSide = kTile + 2;
  FloatVec columns[kSide][kSide];
  WHERRY_UNROLL
  for (int j = 0; j < kSide; ++j) {
    FloatVec d[kSide];
    FloatVec o[kSide];
    WHERRY_UNROLL
    for (int i = 0; i < kSide; ++i) {
      const float* p = in + i * row + j * pixel;
      if constexpr (kWhole) {
        d[i] = HWY_LIKELY(channels >= kLanes) ? Load(p) : LoadN(p, channels);
      } else {
        d[i] = Zero();
        if (ys.Has(i) && xs.Has(j)) d[i] = HWY_LIKELY(channels >= kLanes) ? Load(p) : LoadN(p, channels);
      }
    }
    WinogradTransform<kTile>::Input(d, o);
    WHERRY_UNROLL
    for (int i = 0; i < kSide; ++i) columns[i][j] = o[i];
  }
  WHERRY_UNROLL
  for (int i = 0; i < kSide; ++i) {
    FloatVec o[kSide];
    WinogradTransform<kTile>::Input(columns[i], o);
    WHERRY_UNROLL
    for (int j = 0; j < kSide; ++j) hn::Store(o[j], FloatTag(), to + (i * kSide + j) * point_stride);
  }
}

template <int kTile>
HWY_NOINLINE void TransformInput(const WinogradPlan& plan, const float* in, int64_t tile, float* to) {
  constexpr int64_t kSide = kTile + 2;
  const ConvShape& s = plan.shape;
  const TilePlace place(plan, tile);
  const int64_t y = place.y - s.pad_top;
  const int64_t x = place.x - s.pad_left;
  const int64_t pixel = s.in_pixel_stride;
  const int64_t row = s.in_width * pixel;
  const InsideRange ys(y, s.in_height, kSide);
  const InsideRange xs(x, s.in_width, kSide);
  const float* from = in + (place.image * s.in_height + y) * row + x * pixel;
  const int64_t channels = s.in_channels();
  if (ys.All(kSide) && xs.All(kSide)) {
    for (int64_t c = 0; c < channels; c += kLanes) {
      // The next tile's pixels that no tile before has read: as many streams as there are pixels, which the processor
      // does not follow by itself.
      if (c % kLineFloats == 0) {
        for (int i = 2; i < kSide; ++i) {
          for (int j = 0; j < kTile; ++j) __builtin_prefetch(from + c + i * row + (kSide + j) * pixel);
        }
      }
      TransformInputVector<kTile, true>(from + c, row, pixel, channels - c, ys, xs, to + c, plan.input_point_stride);
    }
  } else {
    for (int64_t c = 0; c < channels; c += kLanes) {
      TransformInputVector<kTile, false>(from + c, row, pixel, channels - c, ys, xs, to + c, plan.input_point_stride);
    }
  }
}

// products[point][tile][64] = input[point][tile][channel] * panel[point], channels x width, for every point.
void MultiplyPanel(const WinogradPlan& plan, const float* input, int64_t tiles, const float* panel, int64_t width,
                   float* products) {
  const int64_t channels = plan.shape.in_channels();
  RunGrid runs;
  runs.length = channels;
  for (int64_t point = 0; point < plan.points(); ++point) {
    int64_t vectors = 0;
    for (int64_t column = 0; column < width; column += vectors * kLanes) {
      vectors = ColumnBlockVectors(width - column);
      const float* const at = panel + PanelColumn(kWeightLayout, channels, column);
      const int64_t floats = channels * std::max(vectors * kLanes, kPanelStep);
      const BalancedTiles blocks(tiles, MaxTileRows(vectors));
      const BlockAhead ahead(floats, channels, blocks.count);
      for (int64_t b = 0; b < blocks.count; ++b) {
        const int64_t first = blocks.First(b);
        const int64_t height = blocks.Height(b);
        const float* rows[kMaxTileRows];
        float* out[kMaxTileRows];
        for (int64_t r = 0; r < height; ++r) {
          rows[r] = input + (first + r) * plan.input_tile_stride;
          out[r] = products + (first + r) * kPanelWidth + column;
        }
        const TileAhead part{ahead.Part(at + floats, b), {}};
        MultiplyTileOf(vectors, height)(rows, runs, at, PanelRow(kWeightLayout, width),
                                        {nullptr, -kNoClamp, kNoClamp, vectors * kLanes, out}, part);
      }
    }
    input += plan.input_point_stride;
    panel += channels * width;
    products += plan.product_point_stride;
  }
}

// Transforms the products of one tile and panel back and stores them.
template <int kTile>
struct TransformOutput {
  const TileEpilogue& epilogue;
  const float* products;
  int64_t point_stride;
  int64_t column;  // first output channel
  int64_t columns;
  float* out;  // the tile's corner, first channel
  int64_t out_row;
  int64_t out_pixel;
  int64_t first_pixel;  // the corner's number in the output
  int64_t pixels_per_row;
  int64_t height;  // of the tile inside the output
  int64_t width;

  template <EpilogueForm kForm>
  HWY_INLINE void Run() const {
    constexpr int kSide = kTile + 2;
    const TransformOutput t = *this;  // a copy: what is stored could be the original
    for (int64_t c = 0; c < t.columns; c += kLanes) {
      FloatVec half[kTile][kSide];
      WHERRY_UNROLL
      for (int j = 0; j < kSide; ++j) {
        FloatVec m[kSide];
        FloatVec o[kTile];
        WHERRY_UNROLL
        for (int i = 0; i < kSide; ++i) m[i] = hn::Load(FloatTag(), t.products + (i * kSide + j) * t.point_stride + c);
        WinogradTransform<kTile>::Output(m, o);
        WHERRY_UNROLL
        for (int i = 0; i < kTile; ++i) half[i][j] = o[i];
      }
      const ColumnEpilogue<kForm> column_epilogue(t.epilogue, t.column + c, std::min(kLanes, t.columns - c));
      WHERRY_UNROLL
      for (int i = 0; i < kTile; ++i) {
        if (i >= t.height) break;
        FloatVec o[kTile];
        WinogradTransform<kTile>::Output(half[i], o);
        WHERRY_UNROLL
        for (int j = 0; j < kTile; ++j) {
          if (j < t.width) {
            column_epilogue.Store(o[j], t.first_pixel + i * t.pixels_per_row + j,
                                  t.out + i * t.out_row + j * t.out_pixel + c);
          }
        }
      }
    }
  }
};

template <int kTile>
HWY_NOINLINE void FinishTile(const WinogradPlan& plan, const TileEpilogue& epilogue, const float* products,
                             int64_t tile, int64_t column, float* out) {
  const ConvShape& s = plan.shape;
  const TilePlace place(plan, tile);
  const int64_t columns = std::min(kPanelWidth, s.weight.out_channels - column);
  const int64_t first_pixel = (place.image * s.out_height() + place.y) * s.out_width() + place.x;
  TransformOutput<kTile> transform{epilogue,
                                   products,
                                   plan.product_point_stride,
                                   column,
                                   columns,
                                   out + first_pixel * s.out_pixel_stride + column,
                                   s.out_width() * s.out_pixel_stride,
                                   s.out_pixel_stride,
                                   first_pixel,
                                   s.out_width(),
                                   std::min<int64_t>(kTile, s.out_height() - place.y),
                                   std::min<int64_t>(kTile, s.out_width() - place.x)};
  if (epilogue.form() != EpilogueForm::kGeneral) {
    WithEpilogueForm(epilogue.form(), transform);
    return;
  }
  HWY_ALIGN float buffer[kTile * kTile * kPanelWidth];
  transform.out = buffer;
  transform.out_row = kTile * kPanelWidth;
  transform.out_pixel = kPanelWidth;
  transform.template Run<EpilogueForm::kNone>();
  for (int64_t i = 0; i < transform.height; ++i) {
    for (int64_t j = 0; j < transform.width; ++j) {
      const int64_t pixel = first_pixel + i * s.out_width() + j;
      ApplyEpilogueSteps(epilogue, buffer + (i * kTile + j) * kPanelWidth, 0, out + pixel * s.out_pixel_stride + column,
                         0, 1, columns, pixel, column);
    }
  }
}

// Asks for where a tile will be stored, and for what the epilogue adds to it.
template <int kTile>
void AskForTile(const WinogradPlan& plan, const TileEpilogue& epilogue, int64_t tile, int64_t column, float* out) {
  const ConvShape& s = plan.shape;
  const TilePlace place(plan, tile);
  const int64_t columns = std::min(kPanelWidth, s.weight.out_channels - column);
  for (int64_t y = place.y; y < std::min(place.y + kTile, s.out_height()); ++y) {
    for (int64_t x = place.x; x < std::min(place.x + kTile, s.out_width()); ++x) {
      const int64_t pixel = (place.image * s.out_height() + y) * s.out_width() + x;
      AskToWrite(out + pixel * s.out_pixel_stride + column, columns);
      if (epilogue.add() != nullptr) PrefetchAdded(epilogue, pixel, column, columns);
    }
  }
}

template <int kTile>
void TransformTiles(const WinogradPlan& plan, const float* in, int64_t first, int64_t count, float* input) {
  for (int64_t t = 0; t < count; ++t) {
    TransformInput<kTile>(plan, in, first + t, input + t * plan.input_tile_stride);
  }
}

template <int kTile>
void RunPanel(const WinogradPlan& plan, const float* packed, const TileEpilogue& epilogue, int64_t panel, int64_t first,
              int64_t count, const float* input, float* products, float* out) {
  const int64_t column = panel * kPanelWidth;
  const int64_t depth = plan.points() * plan.shape.in_channels();
  MultiplyPanel(plan, input, count, packed + depth * column, PanelWidth(plan.shape.weight.out_channels, panel),
                products);
  for (int64_t t = 0; t < count; ++t) {
    if (t + 1 < count) AskForTile<kTile>(plan, epilogue, first + t + 1, column, out);
    FinishTile<kTile>(plan, epilogue, products + t * kPanelWidth, first + t, column, out);
  }
}

// The two stages by tile size: what RunWinograd calls.
void TransformTilesOf(const WinogradPlan& plan, const float* in, int64_t first, int64_t count, float* input) {
  if (plan.size == WinogradSize::kF4) return TransformTiles<4>(plan, in, first, count, input);
  TransformTiles<2>(plan, in, first, count, input);
}

void RunPanelOf(const WinogradPlan& plan, const float* packed, const TileEpilogue& epilogue, int64_t panel,
                int64_t first, int64_t count, const float* input, float* products, float* out) {
  if (plan.size == WinogradSize::kF4) {
    return RunPanel<4>(plan, packed, epilogue, panel, first, count, input, products, out);
  }
  RunPanel<2>(plan, packed, epilogue, panel, first, count, input, products, out);
}

}  // namespace
}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace wherry::cpu {
void RunWinograd(const WinogradPlan& plan, const float* in, const float* packed, const TileEpilogue& epilogue,
                 float* out, float* scratch, ThreadPool* pool) {
  const auto transform = WHERRY_ISA_CALL(TransformTilesOf);
  const auto run_panel = WHERRY_ISA_CALL(RunPanelOf);
  const int64_t input_floats = plan.points() * plan.input_point_stride;
  const int64_t product_floats = plan.points() * plan.product_point_stride;
  float* const all_products = scratch + plan.workers * input_floats;
  if (plan.share_panels) {
    ShareOut(pool, plan.workers, plan.panels, [&](int64_t worker, const auto& next) {
      int64_t panel = next();
      if (panel < 0) return;
      // Every worker transforms all tiles for itself. Half of them from another core's cache, where they have just been
      // written, cost a third of the time of 14x14x256 on two threads; the transform itself is 4 %.
      float* const input = scratch + worker * input_floats;
      float* const products = all_products + worker * product_floats;
      transform(plan, in, 0, plan.tiles, input);
      for (; panel >= 0; panel = next()) run_panel(plan, packed, epilogue, panel, 0, plan.tiles, input, products, out);
    });
    return;
  }
  ShareOut(pool, plan.workers, plan.blocks, [&](int64_t worker, const auto& next) {
    float* const input = scratch + worker * input_floats;
    float* const products = all_products + worker * product_floats;
    for (int64_t block = next(); block >= 0; block = next()) {
      const int64_t first = plan.tiles * block / plan.blocks;
      const int64_t count = plan.tiles * (block + 1) / plan.blocks - first;
      transform(plan, in, first, count, input);
      for (int64_t panel = 0; panel < plan.panels; ++panel) {
        run_panel(plan, packed, epilogue, panel, first, count, input, products, out);
      }
    }
  });
}

}  // namespace wherry::cpu
#endif  // HWY_ONCE
