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
#include "kernels/cpu/epilogue-inl.h"
#include "kernels/cpu/simd/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// The columns [column, column + count), count <= kLanes, of an epilogue of kForm, which is not kGeneral.
template <EpilogueForm kForm>
class ColumnEpilogue {
 public:
  HWY_INLINE ColumnEpilogue(const Epilogue& epilogue, int64_t column, int64_t count)
      : bias_(kForm == EpilogueForm::kNone ? Zero() : LoadN(epilogue.bias() + column, count)),
        lo_(Set(epilogue.lo())),
        hi_(Set(epilogue.hi())),
        add_(kForm == EpilogueForm::kBiasAddClip ? epilogue.add() + column : nullptr),
        add_stride_(epilogue.add_stride()),
        count_(count) {}

  // Stores the accumulator v of output row `row` (an NHWC pixel) at out.
  HWY_INLINE void Store(FloatVec v, int64_t row, float* out) const {
    if constexpr (kForm != EpilogueForm::kNone) v = hn::Add(v, bias_);
    if constexpr (kForm == EpilogueForm::kBiasAddClip) v = hn::Add(v, LoadColumns(add_ + row * add_stride_));
    if constexpr (kForm == EpilogueForm::kBiasClip || kForm == EpilogueForm::kBiasAddClip) v = Clamp(v, lo_, hi_);
    if constexpr (kForm == EpilogueForm::kBiasHardSwish) v = HardSwish(v);
    if (HWY_LIKELY(count_ == kLanes)) {
      HWY_NAMESPACE::Store(v, out);
    } else {
      StoreN(v, out, count_);
    }
  }

 private:
  HWY_INLINE FloatVec LoadColumns(const float* p) const { return count_ == kLanes ? Load(p) : LoadN(p, count_); }

  FloatVec bias_;
  FloatVec lo_;
  FloatVec hi_;
  const float* add_;
  int64_t add_stride_;
  int64_t count_;
};

// Calls body.Run<form>() for every form but kGeneral: the one switch over the forms.
template <class Body>
HWY_INLINE void WithEpilogueForm(EpilogueForm form, const Body& body) {
  switch (form) {
    case EpilogueForm::kNone: return body.template Run<EpilogueForm::kNone>();
    case EpilogueForm::kBias: return body.template Run<EpilogueForm::kBias>();
    case EpilogueForm::kBiasClip: return body.template Run<EpilogueForm::kBiasClip>();
    case EpilogueForm::kBiasAddClip: return body.template Run<EpilogueForm::kBiasAddClip>();
    case EpilogueForm::kBiasHardSwish: return body.template Run<EpilogueForm::kBiasHardSwish>();
    case EpilogueForm::kGeneral: return;
  }
}

// Fetches the floats [column, column + columns) of output row `row` of an added operand. Called before the products
// that they are added to: read only then, they cost a 3x3 convolution over 80x80x64 14 %.
inline void PrefetchAdded(const Epilogue& epilogue, int64_t row, int64_t column, int64_t columns) {
  constexpr int64_t kLineFloats = 16;
  const float* p = epilogue.add() + row * epilogue.add_stride() + column;
  for (int64_t c = 0; c < columns; c += kLineFloats) __builtin_prefetch(p + c);
}

// A tile's accumulators, and where each of its rows goes.
struct FinishedTile {
  const Epilogue& epilogue;
  const float* tile;      // rows kPanelWidth apart
  const int64_t* pixels;  // output pixel of each row
  int64_t rows;
  int64_t column;   // of the output, of the tile's first column
  int64_t columns;  // to store
  float* out;
  int64_t out_stride;

  template <EpilogueForm kForm>
  HWY_INLINE void Run() const {
    for (int64_t c = 0; c < columns; c += kLanes) {
      const ColumnEpilogue<kForm> column_epilogue(epilogue, column + c, std::min(kLanes, columns - c));
      for (int64_t r = 0; r < rows; ++r) {
        column_epilogue.Store(Load(tile + r * kPanelWidth + c), pixels[r], out + pixels[r] * out_stride + column + c);
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
