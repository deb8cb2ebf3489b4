#include "kernels/cpu/vector/elementwise.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/cpu/vector/tile_ops.h"

namespace wherry::cpu {

BroadcastLoops::BroadcastLoops(const StridedDims& output, std::span<const StridedDims> inputs) {
  const size_t rank = output.dims.size();
  WHERRY_CHECK(inputs.size() <= kMaxInputs, inputs.size(), " inputs, at most ", kMaxInputs);
  WHERRY_CHECK(rank < kMaxRank, "rank ", rank, ", at most ", kMaxRank - 1);
  // The dimensions other than 1, outermost in memory first.
  std::array<int64_t, kMaxRank> dims;
  std::array<Strides, kMaxRank> strides;
  size_t count = 0;
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t dim = output.dims[axis];
    numel_ *= dim;
    Strides here{};
    here[0] = output.strides[axis];
    for (size_t k = 0; k < inputs.size(); ++k) {
      const size_t missing = rank - inputs[k].dims.size();
      if (axis < missing) continue;
      const int64_t input_dim = inputs[k].dims[axis - missing];
      WHERRY_CHECK(input_dim == dim || input_dim == 1, "dimension ", input_dim, " does not broadcast to ", dim);
      if (input_dim != 1) here[k + 1] = inputs[k].strides[axis - missing];
    }
    if (dim == 1) continue;
    size_t at = count++;
    for (; at > 0 && strides[at - 1][0] < here[0]; --at) {
      dims[at] = dims[at - 1];
      strides[at] = strides[at - 1];
    }
    dims[at] = dim;
    strides[at] = here;
  }
  if (count == 0 || strides[count - 1][0] != 1) {
    // A scalar, or an output without neighbours (one channel of a padded image): rows of one.
    dims[count] = 1;
    strides[count] = {};
    strides[count][0] = 1;
    ++count;
  }
  for (size_t i = 0; i < count; ++i) {
    bool merges = rank_ > 0;
    for (size_t k = 0; k <= inputs.size() && merges; ++k) {
      merges = strides_[static_cast<size_t>(rank_ - 1)][k] == strides[i][k] * dims[i];
    }
    if (!merges) {
      dims_[static_cast<size_t>(rank_)] = 1;
      ++rank_;
    }
    dims_[static_cast<size_t>(rank_ - 1)] *= dims[i];
    strides_[static_cast<size_t>(rank_ - 1)] = strides[i];
  }
}

// Runs tiles of whole rows (or parts of long rows): at most kTile floats, whose intermediate results stay in L1. An
// operand that is one number in all of a tile (a value per channel before pixels) is read as that number, not spread
// over a tile first: adding and multiplying such took three times as long.
class ElementwiseRunner {
 public:
  ElementwiseRunner(const CompiledElementwise& program, const BroadcastLoops& loops,
                    std::span<const float* const> inputs, float* out)
      : program_(program), loops_(loops), inputs_(inputs), out_(out), ops_(TileOps()) {
    cols_ = loops.cols();
    rows_ = loops.numel() / cols_;
    const bool long_rows = cols_ >= kLongRow && ChangesByRow();
    if (cols_ > kTile) {
      parts_ = (cols_ + kTile - 1) / kTile;
      // Equal parts of whole cache lines.
      part_cols_ = ((cols_ + parts_ - 1) / parts_ + 15) / 16 * 16;
      parts_ = (cols_ + part_cols_ - 1) / part_cols_;
      tile_rows_ = 1;
    } else {
      part_cols_ = cols_;
      tile_rows_ = long_rows ? 1 : kTile / cols_;
    }
    // What has gaps between short rows gets its results from a tile without.
    scatters_ = tile_rows_ > 1 && !IsDense(-1);
    tiles_ = (rows_ + tile_rows_ - 1) / tile_rows_ * parts_;
    for (int i = 0; i < program.inputs(); ++i) kinds_[static_cast<size_t>(i)] = KindOf(i);
    Link();
  }

  int64_t tiles() const { return tiles_; }
  int64_t tile_floats() const { return tile_rows_ * part_cols_; }

  void RunTiles(int64_t begin, int64_t end) const {
    alignas(64) float buffers[kMaxBuffers][kTile];
    alignas(64) float results[kTile];
    std::array<const float*, kMaxInputs> filled{};  // inputs whose tile is the same for all tiles
    int64_t row = begin / parts_ * tile_rows_;
    int64_t col = begin % parts_ * part_cols_;
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t rows = std::min(tile_rows_, rows_ - row);
      const int64_t cols = std::min(part_cols_, cols_ - col);
      const int64_t out_offset = RowOffset(-1, row) + col;
      std::array<const float*, kMaxInputs> tile_inputs;
      for (int i = 0; i < program_.inputs(); ++i) {
        const size_t at = static_cast<size_t>(i);
        float* const buffer = buffers[i];
        if (kinds_[at] == Kind::kWhole) {
          tile_inputs[at] = inputs_[at] + (scatters_ ? row * cols_ : out_offset);
        } else if (kinds_[at] == Kind::kSameTile) {
          if (filled[at] == nullptr) {
            Fill(i, 0, 0, std::min(tile_rows_, rows_), part_cols_, buffer);
            filled[at] = buffer;
          }
          tile_inputs[at] = filled[at];
        } else if (kinds_[at] == Kind::kUniform) {
          tile_inputs[at] = inputs_[at] + RowOffset(i, row);
        } else if (tile_rows_ == 1 && Stride(i, loops_.rank() - 1) == 1) {
          tile_inputs[at] = inputs_[at] + RowOffset(i, row) + col;
        } else {
          Fill(i, row, col, rows, cols, buffer);
          tile_inputs[at] = buffer;
        }
      }
      RunCalls(tile_inputs, buffers, scatters_ ? results : out_ + out_offset, rows * cols);
      if (scatters_) Scatter(results, row, rows);
      col += part_cols_;
      if (col >= cols_) {
        col = 0;
        row += tile_rows_;
      }
    }
  }

 private:
  static constexpr int kMaxInputs = ElementwiseProgram::kMaxInputs;
  static constexpr int kMaxBuffers = kMaxInputs + ElementwiseProgram::kMaxInstructions;
  // 1.5 KB: with the usual handful of buffers a tile's data stay in the nearest cache of 32 KB.
  static constexpr int64_t kTile = 384;
  // Rows from here on are tiles of their own if an operand changes from row to row only: a loop more for each costs
  // less than spreading it.
  static constexpr int64_t kLongRow = 40;

  enum class Kind : uint8_t {
    kWhole,     // as the tile's result: read where it is
    kUniform,   // one number in each tile
    kSameTile,  // every tile looks alike: filled once
    kOther,
  };

  int64_t Stride(int input, int dim) const { return loops_.stride(input, dim); }

  // The tensor (-1: the output) has no gaps.
  bool IsDense(int tensor) const {
    int64_t expected = 1;
    for (int d = loops_.rank() - 1; d >= 0; --d) {
      if (Stride(tensor, d) != expected) return false;
      expected *= loops_.dim(d);
    }
    return true;
  }

  // Some input is the same along the rows, but not everywhere.
  bool ChangesByRow() const {
    for (int i = 0; i < program_.inputs(); ++i) {
      if (Stride(i, loops_.rank() - 1) == 0 && !IsNumber(i)) return true;
    }
    return false;
  }

  bool IsNumber(int input) const {
    for (int d = 0; d < loops_.rank(); ++d) {
      if (Stride(input, d) != 0) return false;
    }
    return true;
  }

  Kind KindOf(int input) const {
    if (IsNumber(input) || (tile_rows_ == 1 && Stride(input, loops_.rank() - 1) == 0)) return Kind::kUniform;
    const int inner = loops_.rank() - 1;
    bool whole = true;
    bool outer_constant = true;
    for (int d = inner; d >= 0; --d) {
      whole = whole && Stride(input, d) == loops_.out_stride(d);
      if (d < inner) outer_constant = outer_constant && Stride(input, d) == 0;
    }
    if (scatters_ ? IsDense(input) : whole) return Kind::kWhole;
    return outer_constant && (parts_ == 1 || Stride(input, inner) == 0) ? Kind::kSameTile : Kind::kOther;
  }

  // Of the first element in a row of an input, or of the output (input -1).
  int64_t RowOffset(int input, int64_t row) const {
    if (loops_.rank() == 1) return 0;
    int64_t offset = 0;
    for (int d = loops_.rank() - 2; d > 0 && row > 0; --d) {
      offset += row % loops_.dim(d) * Stride(input, d);
      row /= loops_.dim(d);
    }
    return offset + row * Stride(input, 0);
  }

  // The input's values in part of some rows, one after another.
  void Fill(int input, int64_t row, int64_t col, int64_t rows, int64_t cols, float* to) const {
    const float* const data = inputs_[static_cast<size_t>(input)];
    const int64_t stride = Stride(input, loops_.rank() - 1);
    for (int64_t r = 0; r < rows; ++r, to += cols) {
      const float* const from = data + RowOffset(input, row + r) + col * stride;
      if (stride == 0) {
        std::fill_n(to, cols, *from);
      } else if (stride == 1 && cols >= 16) {
        std::memcpy(to, from, static_cast<size_t>(cols) * sizeof(float));
      } else {
        for (int64_t c = 0; c < cols; ++c) to[c] = from[c * stride];
      }
    }
  }

  // The results of some whole rows to where they belong.
  void Scatter(const float* results, int64_t row, int64_t rows) const {
    for (int64_t r = 0; r < rows; ++r, results += cols_) {
      std::memcpy(out_ + RowOffset(-1, row + r), results, static_cast<size_t>(cols_) * sizeof(float));
    }
  }

  // A step as it runs on these tensors.
  struct Call {
    TileOp op = nullptr;
    int8_t x = CompiledElementwise::kNone;
    int8_t y = CompiledElementwise::kNone;
    int8_t to = CompiledElementwise::kOutput;
    bool single = false;  // of uniform operands: so is the result
    bool affine = false;  // x * y + summand, both uniform
    int8_t summand = CompiledElementwise::kNone;
    float a = 0.0f;
    float b = 0.0f;
  };

  void Link() {
    std::array<bool, kMaxBuffers> uniform{};
    for (int i = 0; i < program_.inputs(); ++i) {
      uniform[static_cast<size_t>(i)] = kinds_[static_cast<size_t>(i)] == Kind::kUniform;
    }
    const auto is_uniform = [&uniform](int8_t at) { return at < 0 || uniform[static_cast<size_t>(at)]; };
    for (int i = 0; i < program_.step_count_; ++i) {
      const CompiledElementwise::Step& step = program_.steps_[static_cast<size_t>(i)];
      Call call{.op = ops_.ops[step.op], .x = step.x, .y = step.y, .to = step.to, .a = step.a, .b = step.b};
      call.single = is_uniform(step.x) && is_uniform(step.y);
      if (!call.single && step.y >= 0) {
        if (is_uniform(step.x)) call.op = ops_.uniform_x[step.op];
        if (is_uniform(step.y)) call.op = ops_.uniform_y[step.op];
      }
      if (const int8_t summand = SummandAfter(i, is_uniform); summand >= 0) {
        if (is_uniform(call.x)) std::swap(call.x, call.y);
        call.op = ops_.ops[static_cast<size_t>(ToElementwiseOp(ActKind::kLinear))];
        call.affine = true;
        call.summand = summand;
        call.to = program_.steps_[static_cast<size_t>(++i)].to;
      }
      if (call.to >= 0) uniform[static_cast<size_t>(call.to)] = call.single;
      calls_[static_cast<size_t>(call_count_++)] = call;
    }
  }

  // Where the uniform value is that step i + 1 adds to the product of a tensor and a uniform factor that step i is, and
  // only step i + 1 reads; kNone if they do otherwise.
  template <typename IsUniform>
  int8_t SummandAfter(int i, const IsUniform& is_uniform) const {
    if (i + 1 >= program_.step_count_) return CompiledElementwise::kNone;
    const CompiledElementwise::Step& product = program_.steps_[static_cast<size_t>(i)];
    const CompiledElementwise::Step& sum = program_.steps_[static_cast<size_t>(i + 1)];
    // The place of the product is given back, and taken again as the lowest, if nothing else reads it.
    const bool read_once = sum.to == product.to || sum.to == CompiledElementwise::kOutput;
    if (static_cast<ElementwiseOp>(product.op) != ElementwiseOp::kMul ||
        static_cast<ElementwiseOp>(sum.op) != ElementwiseOp::kAdd || !read_once ||
        is_uniform(product.x) == is_uniform(product.y)) {
      return CompiledElementwise::kNone;
    }
    const int8_t other = sum.x == product.to ? sum.y : sum.x;
    const bool adds_product = (sum.x == product.to) != (sum.y == product.to);
    return adds_product && is_uniform(other) ? other : CompiledElementwise::kNone;
  }

  void RunCalls(const std::array<const float*, kMaxInputs>& tile_inputs, float (*buffers)[kTile], float* out,
                int64_t n) const {
    const auto place = [&](int8_t at) -> const float* {
      if (at < 0) return nullptr;
      return at < kMaxInputs ? tile_inputs[static_cast<size_t>(at)] : buffers[at];
    };
    for (int i = 0; i < call_count_; ++i) {
      const Call& call = calls_[static_cast<size_t>(i)];
      float* const to = call.to == CompiledElementwise::kOutput ? out : buffers[call.to];
      if (call.affine) {
        call.op(place(call.x), nullptr, to, n, *place(call.y), *place(call.summand));
      } else {
        call.op(place(call.x), place(call.y), to, call.single ? 1 : n, call.a, call.b);
      }
      if (call.single && call.to == CompiledElementwise::kOutput) std::fill(to + 1, to + n, to[0]);
    }
  }

  const CompiledElementwise& program_;
  const BroadcastLoops& loops_;
  std::span<const float* const> inputs_;
  float* const out_;
  const TileOpTable& ops_;
  int64_t cols_;
  int64_t rows_;
  int64_t parts_ = 1;  // tiles of a row
  int64_t part_cols_;
  int64_t tile_rows_;
  bool scatters_ = false;
  int64_t tiles_;
  std::array<Kind, kMaxInputs> kinds_{};
  std::array<Call, ElementwiseProgram::kMaxInstructions> calls_{};
  int call_count_ = 0;
};

void RunElementwise(const CompiledElementwise& program, const BroadcastLoops& loops,
                    std::span<const float* const> inputs, float* out, ThreadPool* pool) {
  WHERRY_CHECK(static_cast<int>(inputs.size()) == program.inputs(), inputs.size(), " inputs for a program of ",
               program.inputs());
  if (loops.numel() == 0) return;
  const ElementwiseRunner runner(program, loops, inputs, out);
  // About 5 us a chunk at least, at the speed of a cheap operator.
  constexpr int64_t kMinFloats = 32768;
  ParallelFor(pool, runner.tiles(), std::max<int64_t>(1, kMinFloats / runner.tile_floats()),
              [&](int64_t begin, int64_t end) { runner.RunTiles(begin, end); });
}

}  // namespace wherry::cpu
