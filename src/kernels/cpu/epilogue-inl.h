// Stores a tile of accumulators through an epilogue. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_EPILOGUE_INL_H_
#undef WHERRY_KERNELS_CPU_EPILOGUE_INL_H_
#else
#define WHERRY_KERNELS_CPU_EPILOGUE_INL_H_
#endif

#include "kernels/cpu/epilogue.h"
#include "kernels/cpu/simd/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// Rows that lie `out_stride` apart, the usual Rows argument of StoreTile. A kernel whose rows are scattered (grouped
// pixels) passes its own struct with the same two functions.
struct StridedRows {
  float* out;  // row 0, column 0 of the whole output
  int64_t out_stride;
  int64_t row0;           // the tile's first row
  int64_t epilogue_row0;  // what the epilogue calls row 0 of `out`
  HWY_INLINE float* Out(int r) const { return out + (row0 + r) * out_stride; }
  HWY_INLINE int64_t Row(int r) const { return epilogue_row0 + row0 + r; }  // the row of an added operand
};

// Stores acc (MR rows of NV vectors) at columns [col, col + cols) of the rows. cols <= NV * kLanes; fewer cost a detour
// through a buffer, as does EpilogueForm::kGeneral. Inlined so that the accumulators never leave their registers.
template <int MR, int NV, class Rows>
HWY_INLINE void StoreTile(const FloatVec (&acc)[MR][NV], const Epilogue& epilogue, const Rows& rows, int64_t col,
                          int64_t cols) {
  EpilogueForm form = epilogue.form();
  if (HWY_UNLIKELY(cols != NV * kLanes)) form = EpilogueForm::kGeneral;
  switch (form) {
    case EpilogueForm::kNone:
      WHERRY_UNROLL
      for (int r = 0; r < MR; ++r) {
        float* const out = rows.Out(r) + col;
        WHERRY_UNROLL
        for (int j = 0; j < NV; ++j) Store(acc[r][j], out + j * kLanes);
      }
      return;
    case EpilogueForm::kBias:
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) {
        const FloatVec bias = Load(epilogue.bias() + col + j * kLanes);
        WHERRY_UNROLL
        for (int r = 0; r < MR; ++r) Store(hn::Add(acc[r][j], bias), rows.Out(r) + col + j * kLanes);
      }
      return;
    case EpilogueForm::kBiasClip: {
      const FloatVec lo = Set(epilogue.lo());
      const FloatVec hi = Set(epilogue.hi());
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) {
        const FloatVec bias = Load(epilogue.bias() + col + j * kLanes);
        WHERRY_UNROLL
        for (int r = 0; r < MR; ++r) {
          Store(Clip(hn::Add(acc[r][j], bias), lo, hi), rows.Out(r) + col + j * kLanes);
        }
      }
      return;
    }
    case EpilogueForm::kBiasAddClip: {
      const FloatVec lo = Set(epilogue.lo());
      const FloatVec hi = Set(epilogue.hi());
      WHERRY_UNROLL
      for (int r = 0; r < MR; ++r) {
        float* const out = rows.Out(r) + col;
        const float* const add = epilogue.add() + rows.Row(r) * epilogue.add_stride() + col;
        WHERRY_UNROLL
        for (int j = 0; j < NV; ++j) {
          const FloatVec biased = hn::Add(acc[r][j], Load(epilogue.bias() + col + j * kLanes));
          Store(Clip(hn::Add(biased, Load(add + j * kLanes)), lo, hi), out + j * kLanes);
        }
      }
      return;
    }
    case EpilogueForm::kBiasHardSwish:
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) {
        const FloatVec bias = Load(epilogue.bias() + col + j * kLanes);
        WHERRY_UNROLL
        for (int r = 0; r < MR; ++r) Store(HardSwish(hn::Add(acc[r][j], bias)), rows.Out(r) + col + j * kLanes);
      }
      return;
    case EpilogueForm::kGeneral: {
      // Through a buffer even when the columns are whole: the added operand may be the output.
      HWY_ALIGN float tile[MR * NV * kLanes];
      WHERRY_UNROLL
      for (int r = 0; r < MR; ++r) {
        WHERRY_UNROLL
        for (int j = 0; j < NV; ++j) hn::Store(acc[r][j], FloatTag(), tile + (r * NV + j) * kLanes);
      }
      for (int r = 0; r < MR; ++r) {
        ApplyEpilogue(epilogue, tile + r * NV * kLanes, NV * kLanes, rows.Out(r) + col, 0, 1, cols, rows.Row(r), col);
      }
      return;
    }
  }
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
