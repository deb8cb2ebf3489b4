#include "kernels/cpu/vector/elementwise.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/cpu/vector/tile_ops.h"

namespace wherry::cpu {
namespace {

ElementwiseOp OpOf(const ElementwiseInstruction& instruction) {
  using From = ElementwiseInstruction::Op;
  switch (instruction.op) {
    case From::kAdd: return ElementwiseOp::kAdd;
    case From::kSub: return ElementwiseOp::kSub;
    case From::kMul: return ElementwiseOp::kMul;
    case From::kDiv: return ElementwiseOp::kDiv;
    case From::kMax: return ElementwiseOp::kMax;
    case From::kMin: return ElementwiseOp::kMin;
    case From::kPow: return ElementwiseOp::kPow;
    case From::kAct: return ToElementwiseOp(instruction.act);
    case From::kConstant: return ElementwiseOp::kConstant;
  }
  Throw(ErrorCode::kInternal, "unknown elementwise instruction ", static_cast<int>(instruction.op));
}

bool ReadsLeft(ElementwiseOp op) { return op != ElementwiseOp::kConstant; }
bool ReadsRight(ElementwiseOp op) { return op <= ElementwiseOp::kPow; }

}  // namespace

CompiledElementwise::CompiledElementwise(ElementwiseOp op, float a, float b) {
  inputs_ = ReadsRight(op) ? 2 : 1;
  step_count_ = 1;
  steps_[0] = {static_cast<uint8_t>(op), 0, static_cast<int8_t>(ReadsRight(op) ? 1 : kNone), kOutput, a, b};
}

CompiledElementwise::CompiledElementwise(const ElementwiseProgram& program) {
  Validate(program);
  inputs_ = program.inputs;
  step_count_ = static_cast<int>(program.instructions.size());
  constexpr int kRegisters = ElementwiseProgram::kMaxInputs + ElementwiseProgram::kMaxInstructions;
  // The last instruction that reads each register.
  std::array<int, kRegisters> last_use;
  last_use.fill(-1);
  const auto use = [&](int reg, int at) { last_use[static_cast<size_t>(reg)] = at; };
  for (int i = 0; i < step_count_; ++i) {
    const ElementwiseInstruction& instruction = program.instructions[static_cast<size_t>(i)];
    if (ReadsLeft(OpOf(instruction))) use(instruction.lhs, i);
    if (ReadsRight(OpOf(instruction))) use(instruction.rhs, i);
  }
  // Buffers are taken lowest first and given back after the last use; an instruction may write over what it reads last.
  std::array<int8_t, kRegisters> place;
  place.fill(kNone);
  for (int i = 0; i < inputs_; ++i) place[static_cast<size_t>(i)] = static_cast<int8_t>(i);
  std::array<bool, ElementwiseProgram::kMaxInstructions> taken{};
  const auto release = [&](int reg, int at) {
    const int8_t where = place[static_cast<size_t>(reg)];
    if (where >= ElementwiseProgram::kMaxInputs && last_use[static_cast<size_t>(reg)] == at) {
      taken[static_cast<size_t>(where - ElementwiseProgram::kMaxInputs)] = false;
    }
  };
  for (int i = 0; i < step_count_; ++i) {
    const ElementwiseInstruction& instruction = program.instructions[static_cast<size_t>(i)];
    const ElementwiseOp op = OpOf(instruction);
    Step step;
    step.op = static_cast<uint8_t>(op);
    step.a = instruction.a;
    step.b = instruction.b;
    if (ReadsLeft(op)) {
      step.x = place[static_cast<size_t>(instruction.lhs)];
      release(instruction.lhs, i);
    }
    if (ReadsRight(op)) {
      step.y = place[static_cast<size_t>(instruction.rhs)];
      release(instruction.rhs, i);
    }
    if (i + 1 == step_count_) {
      step.to = kOutput;
    } else {
      const auto free = std::find(taken.begin(), taken.end(), false);
      const int buffer = static_cast<int>(free - taken.begin());
      *free = true;
      buffers_ = std::max(buffers_, buffer + 1);
      step.to = static_cast<int8_t>(ElementwiseProgram::kMaxInputs + buffer);
      place[static_cast<size_t>(inputs_) + static_cast<size_t>(i)] = step.to;
    }
    steps_[static_cast<size_t>(i)] = step;
  }
}

BroadcastLoops::BroadcastLoops(const StridedDims& output, std::span<const StridedDims> inputs) {
  const size_t rank = output.dims.size();
  WHERRY_CHECK(inputs.size() <= kMaxInputs, inputs.size(), " inputs, at most ", kMaxInputs);
  WHERRY_CHECK(rank < kMaxRank, "rank ", rank, ", at most ", kMaxRank - 1);
  // The dimensions other than 1, outermost in memory first.
  std::array<int64_t, kMaxRank> dims{};
  std::array<Strides, kMaxRank> strides{};
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

// Runs tiles of whole rows (or parts of long rows): at most kTile floats, whose intermediate results stay in L1.
class ElementwiseRunner {
 public:
  ElementwiseRunner(const CompiledElementwise& program, const BroadcastLoops& loops,
                    std::span<const float* const> inputs, float* out)
      : program_(program), loops_(loops), inputs_(inputs), out_(out), ops_(TileOps()) {
    cols_ = loops.cols();
    rows_ = loops.numel() / cols_;
    if (cols_ > kTile) {
      parts_ = (cols_ + kTile - 1) / kTile;
      // Equal parts of whole cache lines.
      part_cols_ = ((cols_ + parts_ - 1) / parts_ + 15) / 16 * 16;
      parts_ = (cols_ + part_cols_ - 1) / part_cols_;
      tile_rows_ = 1;
    } else {
      part_cols_ = cols_;
      tile_rows_ = kTile / cols_;
    }
    // What has gaps between short rows gets its results from a tile without.
    scatters_ = tile_rows_ > 1 && !IsDense(-1);
    tiles_ = (rows_ + tile_rows_ - 1) / tile_rows_ * parts_;
    for (int i = 0; i < program.inputs(); ++i) kinds_[static_cast<size_t>(i)] = KindOf(i);
  }

  int64_t tiles() const { return tiles_; }
  int64_t tile_floats() const { return tile_rows_ * part_cols_; }

  void RunTiles(int64_t begin, int64_t end) const {
    alignas(64) float buffers[kMaxBuffers][kTile];
    alignas(64) float results[kTile];
    std::array<const float*, kMaxInputs> filled{};  // inputs whose tile is the same for all tiles
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t row = tile / parts_ * tile_rows_;
      const int64_t col = tile % parts_ * part_cols_;
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
            Fill(i, 0, 0, tile_rows_, part_cols_, buffer);
            filled[at] = buffer;
          }
          tile_inputs[at] = filled[at];
        } else if (tile_rows_ == 1 && Stride(i, loops_.rank() - 1) == 1) {
          tile_inputs[at] = inputs_[at] + RowOffset(i, row) + col;
        } else {
          Fill(i, row, col, rows, cols, buffer);
          tile_inputs[at] = buffer;
        }
      }
      RunSteps(tile_inputs, buffers, scatters_ ? results : out_ + out_offset, rows * cols);
      if (scatters_) Scatter(results, row, rows);
    }
  }

 private:
  static constexpr int kMaxInputs = ElementwiseProgram::kMaxInputs;
  static constexpr int kMaxBuffers = kMaxInputs + ElementwiseProgram::kMaxInstructions;
  // 1.5 KB: with the usual handful of buffers a tile's data stay in the nearest cache of 32 KB.
  static constexpr int64_t kTile = 384;

  enum class Kind : uint8_t {
    kWhole,     // as the tile's result: read where it is
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

  Kind KindOf(int input) const {
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

  void RunSteps(const std::array<const float*, kMaxInputs>& tile_inputs, float (*buffers)[kTile], float* out,
                int64_t n) const {
    const auto place = [&](int8_t at) -> const float* {
      if (at < 0) return nullptr;
      return at < kMaxInputs ? tile_inputs[static_cast<size_t>(at)] : buffers[at];
    };
    for (int i = 0; i < program_.step_count_; ++i) {
      const CompiledElementwise::Step& step = program_.steps_[static_cast<size_t>(i)];
      float* const to = step.to == CompiledElementwise::kOutput ? out : buffers[step.to];
      ops_[step.op](place(step.x), place(step.y), to, n, step.a, step.b);
    }
  }

  const CompiledElementwise& program_;
  const BroadcastLoops& loops_;
  std::span<const float* const> inputs_;
  float* const out_;
  const std::array<TileOp, kElementwiseOps>& ops_;
  int64_t cols_;
  int64_t rows_;
  int64_t parts_ = 1;  // tiles of a row
  int64_t part_cols_;
  int64_t tile_rows_;
  bool scatters_ = false;
  int64_t tiles_;
  std::array<Kind, kMaxInputs> kinds_{};
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
