// Stores a tile of accumulators through an epilogue. Per-instruction-set header: the guard toggles.
#if defined(WHERRY_KERNELS_CPU_TILE_EPILOGUE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WHERRY_KERNELS_CPU_TILE_EPILOGUE_INL_H_
#undef WHERRY_KERNELS_CPU_TILE_EPILOGUE_INL_H_
#else
#define WHERRY_KERNELS_CPU_TILE_EPILOGUE_INL_H_
#endif

#include <algorithm>

#include "kernels/cpu/simd/activation-inl.h"
#include "kernels/cpu/simd/cache_line.h"
#include "kernels/cpu/tile_epilogue.h"

HWY_BEFORE_NAMESPACE();
namespace wherry::cpu::HWY_NAMESPACE {

// V vectors of one row from `col` on, of which the last has `live` lanes.
template <int V>
struct EpilogueVectors {
  FloatVec (&v)[V];
  int64_t live;

  template <class Op>
  HWY_INLINE void WithOperand(const float* data, const Op& op) const {
    WHERRY_UNROLL
    for (int j = 0; j < V; ++j) {
      const float* const from = data + j * kLanes;
      v[j] = op(v[j], V == 1 && live < kLanes ? LoadN(from, live) : Load(from));
    }
  }

  struct Add {
    HWY_INLINE FloatVec operator()(FloatVec a, FloatVec b) const { return hn::Add(a, b); }
  };
  struct Mul {
    HWY_INLINE FloatVec operator()(FloatVec a, FloatVec b) const { return hn::Mul(a, b); }
  };
  struct Activation {
    FloatVec (&v)[V];
    const cpu::Activation& activation;
    template <ActKind kKind>
    HWY_INLINE void Run() const {
      const FloatVec a = Set(activation.a);
      const FloatVec b = Set(activation.b);
      WHERRY_UNROLL
      for (int j = 0; j < V; ++j) v[j] = Activate<kKind>(v[j], a, b);
    }
  };

  HWY_INLINE void Run(const TileEpilogue& epilogue, int64_t row, int64_t col) const {
    for (int i = 0; i < epilogue.count(); ++i) {
      const TileEpilogue::Step& step = epilogue.step(i);
      switch (step.kind) {
        case TileEpilogue::Step::Kind::kFactor:
          WHERRY_UNROLL
          for (int j = 0; j < V; ++j) v[j] = hn::Mul(v[j], Set(step.factor));
          break;
        case TileEpilogue::Step::Kind::kScale: WithOperand(step.data + col, Mul()); break;
        case TileEpilogue::Step::Kind::kBias: WithOperand(step.data + col, Add()); break;
        case TileEpilogue::Step::Kind::kAdd: WithOperand(step.data + row * step.row_stride + col, Add()); break;
        case TileEpilogue::Step::Kind::kActivation:
          WithActivation(step.activation.kind, Activation{v, step.activation});
          break;
      }
    }
  }
};

// Fetches the floats [column, column + columns) of output row `row` of an added operand. Called before the products
// that they are added to: read only then, they cost a 3x3 convolution over 80x80x64 14 %.
inline void PrefetchAdded(const TileEpilogue& epilogue, int64_t row, int64_t column, int64_t columns) {
  const float* p = epilogue.add() + row * epilogue.add_stride() + column;
  for (int64_t c = 0; c < columns; c += kLineFloats) __builtin_prefetch(p + c);
}

// ApplyEpilogue of this instruction set. Each row goes through all steps in registers, four vectors at a time (two with
// 16 registers, which is what tiles have there), and is stored only then: an added operand may be the output. Not
// inlined: it holds every activation.
template <int V = kRegisters == 32 ? 4 : 2>  // a template, so that one copy of it is linked
HWY_NOINLINE void ApplyEpilogueSteps(const TileEpilogue& epilogue, const float* tile, int64_t tile_stride, float* out,
                                     int64_t out_stride, int64_t rows, int64_t cols, int64_t row0, int64_t col0) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* const in = tile + r * tile_stride;
    float* const row_out = out + r * out_stride;
    int64_t c = 0;
    for (; c + V * kLanes <= cols; c += V * kLanes) {
      FloatVec v[V];
      WHERRY_UNROLL
      for (int j = 0; j < V; ++j) v[j] = Load(in + c + j * kLanes);
      EpilogueVectors<V>{v, kLanes}.Run(epilogue, row0 + r, col0 + c);
      WHERRY_UNROLL
      for (int j = 0; j < V; ++j) Store(v[j], row_out + c + j * kLanes);
    }
    for (; c < cols; c += kLanes) {
      const int64_t live = cols - c < kLanes ? cols - c : kLanes;
      FloatVec v[1] = {LoadN(in + c, live)};
      EpilogueVectors<1>{v, live}.Run(epilogue, row0 + r, col0 + c);
      StoreN(v[0], row_out + c, live);
    }
  }
}

// The columns [column, column + count), count <= kLanes, of an epilogue of kForm, which is not kGeneral.
template <EpilogueForm kForm>
class ColumnEpilogue {
 public:
  HWY_INLINE ColumnEpilogue(const TileEpilogue& epilogue, int64_t column, int64_t count)
      : bias_(epilogue.bias() == nullptr ? Zero() : LoadN(epilogue.bias() + column, count)),
        lo_(Set(epilogue.lo())),
        hi_(Set(epilogue.hi())),
        scale_(kScales ? LoadN(epilogue.last_scale() + column, count) : Zero()),
        shift_(kScales ? LoadN(epilogue.last_bias() + column, count) : Zero()),
        add_(kForm == EpilogueForm::kBiasAddClip ? epilogue.add() + column : nullptr),
        add_stride_(epilogue.add_stride()),
        count_(count) {}

  // Stores the accumulator v of output row `row` (an NHWC pixel) at out.
  HWY_INLINE void Store(FloatVec v, int64_t row, float* out) const {
    if constexpr (kForm != EpilogueForm::kNone) v = hn::Add(v, bias_);
    if constexpr (kForm == EpilogueForm::kBiasAddClip) v = hn::Add(v, LoadColumns(add_ + row * add_stride_));
    if constexpr (kForm == EpilogueForm::kBiasClip || kForm == EpilogueForm::kBiasAddClip) v = Clip(v, lo_, hi_);
    if constexpr (kForm == EpilogueForm::kBiasHardSwish || kScales) v = HardSwish(v);
    if constexpr (kScales) v = hn::MulAdd(v, scale_, shift_);
    if constexpr (kForm == EpilogueForm::kBiasSwish) v = hn::Mul(v, Sigmoid(v));
    if constexpr (kForm == EpilogueForm::kBiasGelu) v = Activate<ActKind::kGelu>(v, lo_, hi_);
    if constexpr (kForm == EpilogueForm::kBiasLeakyRelu) v = Activate<ActKind::kLeakyRelu>(v, lo_, hi_);
    if (HWY_LIKELY(count_ == kLanes)) {
      HWY_NAMESPACE::Store(v, out);
    } else {
      StoreN(v, out, count_);
    }
  }

 private:
  static constexpr bool kScales = kForm == EpilogueForm::kBiasHardSwishScaleBias;
  HWY_INLINE FloatVec LoadColumns(const float* p) const { return count_ == kLanes ? Load(p) : LoadN(p, count_); }

  FloatVec bias_;
  FloatVec lo_;
  FloatVec hi_;
  FloatVec scale_;
  FloatVec shift_;
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
    case EpilogueForm::kBiasHardSwishScaleBias: return body.template Run<EpilogueForm::kBiasHardSwishScaleBias>();
    case EpilogueForm::kBiasSwish: return body.template Run<EpilogueForm::kBiasSwish>();
    case EpilogueForm::kBiasGelu: return body.template Run<EpilogueForm::kBiasGelu>();
    case EpilogueForm::kBiasLeakyRelu: return body.template Run<EpilogueForm::kBiasLeakyRelu>();
    case EpilogueForm::kGeneral: return;
  }
}

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

// A tile of sums in a buffer, and where it goes: columns [col, col + cols) of the rows.
template <class Rows>
struct BufferedTile {
  const TileEpilogue& epilogue;
  const float* tile;
  int64_t tile_stride;
  int height;
  Rows rows;
  int64_t col;
  int64_t cols;

  template <EpilogueForm kForm>
  HWY_INLINE void Run() const {
    const BufferedTile t = *this;  // a copy: what is stored could be the original
    for (int64_t c = 0; c < t.cols; c += kLanes) {
      const ColumnEpilogue<kForm> column(t.epilogue, t.col + c, std::min(kLanes, t.cols - c));
      for (int r = 0; r < t.height; ++r) {
        column.Store(Load(t.tile + r * t.tile_stride + c), t.rows.Row(r), t.rows.Out(r) + t.col + c);
      }
    }
  }
};

// Not inlined: once for all tiles. With the steps of the general form in its place, 2304 pixels of 8 channels to 8 took
// 23 us, of which the product is 5.
template <class Rows>
HWY_NOINLINE void StoreBufferedTile(const BufferedTile<Rows>& t) {
  if (t.epilogue.form() != EpilogueForm::kGeneral) {
    WithEpilogueForm(t.epilogue.form(), t);
    return;
  }
  for (int r = 0; r < t.height; ++r) {
    ApplyEpilogueSteps(t.epilogue, t.tile + r * t.tile_stride, t.tile_stride, t.rows.Out(r) + t.col, 0, 1, t.cols,
                       t.rows.Row(r), t.col);
  }
}

// A whole vector of the bias.
HWY_INLINE FloatVec BiasAt(const TileEpilogue& epilogue, int64_t column) {
  return epilogue.bias() == nullptr ? Zero() : Load(epilogue.bias() + column);
}

// Stores acc (MR rows of NV vectors) at columns [col, col + cols) of the rows. cols <= NV * kLanes; fewer cost a detour
// through a buffer, as does EpilogueForm::kGeneral. Inlined so that the accumulators never leave their registers.
template <int MR, int NV, class Rows>
HWY_INLINE void StoreTile(const FloatVec (&acc)[MR][NV], const TileEpilogue& epilogue, const Rows& rows, int64_t col,
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
        const FloatVec bias = BiasAt(epilogue, col + j * kLanes);
        WHERRY_UNROLL
        for (int r = 0; r < MR; ++r) Store(hn::Add(acc[r][j], bias), rows.Out(r) + col + j * kLanes);
      }
      return;
    case EpilogueForm::kBiasClip: {
      const FloatVec lo = Set(epilogue.lo());
      const FloatVec hi = Set(epilogue.hi());
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) {
        const FloatVec bias = BiasAt(epilogue, col + j * kLanes);
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
          const FloatVec biased = hn::Add(acc[r][j], BiasAt(epilogue, col + j * kLanes));
          Store(Clip(hn::Add(biased, Load(add + j * kLanes)), lo, hi), out + j * kLanes);
        }
      }
      return;
    }
    case EpilogueForm::kBiasHardSwish:
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) {
        const FloatVec bias = BiasAt(epilogue, col + j * kLanes);
        WHERRY_UNROLL
        for (int r = 0; r < MR; ++r) Store(HardSwish(hn::Add(acc[r][j], bias)), rows.Out(r) + col + j * kLanes);
      }
      return;
    case EpilogueForm::kBiasHardSwishScaleBias:
      WHERRY_UNROLL
      for (int j = 0; j < NV; ++j) {
        const int64_t c = col + j * kLanes;
        const FloatVec bias = BiasAt(epilogue, c);
        const FloatVec scale = Load(epilogue.last_scale() + c);
        const FloatVec last = Load(epilogue.last_bias() + c);
        WHERRY_UNROLL
        for (int r = 0; r < MR; ++r) {
          Store(hn::MulAdd(HardSwish(hn::Add(acc[r][j], bias)), scale, last), rows.Out(r) + c);
        }
      }
      return;
    case EpilogueForm::kBiasSwish:  // once in BufferedTile rather than for every accumulator of every tile
    case EpilogueForm::kBiasGelu:
    case EpilogueForm::kBiasLeakyRelu:
    case EpilogueForm::kGeneral: {
      // Through a buffer even when the columns are whole: the added operand may be the output.
      HWY_ALIGN float tile[MR * NV * kLanes];
      WHERRY_UNROLL
      for (int r = 0; r < MR; ++r) {
        WHERRY_UNROLL
        for (int j = 0; j < NV; ++j) hn::Store(acc[r][j], FloatTag(), tile + (r * NV + j) * kLanes);
      }
      StoreBufferedTile(BufferedTile<Rows>{epilogue, tile, NV * kLanes, MR, rows, col, cols});
      return;
    }
  }
}

}  // namespace wherry::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
