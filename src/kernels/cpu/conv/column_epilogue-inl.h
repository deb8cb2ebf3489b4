// An epilogue applied to one vector of output channels at a time: for kernels that finish a tile column by column and
// store to scattered pixels. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_CONV_COLUMN_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_CONV_COLUMN_EPILOGUE_INL_H_
#undef WHERRY_KERNELS_CPU_CONV_COLUMN_EPILOGUE_INL_H_
#else
#define WHERRY_KERNELS_CPU_CONV_COLUMN_EPILOGUE_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/conv/panel.h"
#include "kernels/cpu/simd/activation-inl.h"
#include "kernels/cpu/tile_epilogue-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// A tile's accumulators, and where each of its rows goes.
struct FinishedTile {
  const TileEpilogue& epilogue;
  const float* tile;      // rows kPanelWidth apart
  const int64_t* pixels;  // output pixel of each row
  int64_t rows;
  int64_t column;   // of the output, of the tile's first column
  int64_t columns;  // to store
  float* out;
  int64_t out_stride;

  template <EpilogueForm kForm>
  HWY_INLINE void Run() const {
    const FinishedTile t = *this;  // a copy: what is stored could be the original
    for (int64_t c = 0; c < t.columns; c += kLanes) {
      const ColumnEpilogue<kForm> column_epilogue(t.epilogue, t.column + c, std::min(kLanes, t.columns - c));
      for (int64_t r = 0; r < t.rows; ++r) {
        float* const to = t.out + t.pixels[r] * t.out_stride + t.column + c;
        column_epilogue.Store(Load(t.tile + r * kPanelWidth + c), t.pixels[r], to);
      }
    }
  }
};

inline void StoreFinishedTile(const FinishedTile& t) {
  if (t.epilogue.form() != EpilogueForm::kGeneral) {
    WithEpilogueForm(t.epilogue.form(), t);
    return;
  }
  for (int64_t r = 0; r < t.rows; ++r) {
    ApplyEpilogueSteps(t.epilogue, t.tile + r * kPanelWidth, kPanelWidth, t.out + t.pixels[r] * t.out_stride + t.column,
                       0, 1, t.columns, t.pixels[r], t.column);
  }
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
