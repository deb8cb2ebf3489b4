// Elementwise programs over broadcast tensors: single operators, and chains of them in one pass over memory.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/thread_pool.h"
#include "op/epilogue.h"

namespace wherry::cpu {

// What an instruction does with x and y (the values of its registers) and its parameters a and b. The kinds of ActKind
// are there too: kActivation + kind.
enum class ElementwiseOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,  // NaN if either is
  kMin,  // NaN if either is
  kPow,
  kFmod,       // the sign of x
  kRemainder,  // the sign of y
  kConstant,   // a
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kExpm1,
  kLog1p,
  kActivation,
};
inline constexpr int kBinaryElementwiseOps = static_cast<int>(ElementwiseOp::kConstant);
inline constexpr int kElementwiseOps = static_cast<int>(ElementwiseOp::kActivation) + kActKinds;

constexpr ElementwiseOp ToElementwiseOp(ActKind kind) {
  return static_cast<ElementwiseOp>(static_cast<int>(ElementwiseOp::kActivation) + static_cast<int>(kind));
}

// A program whose registers are assigned to buffers. Immutable once made; a value without pointers.
class CompiledElementwise {
 public:
  // One operator of one or two inputs.
  explicit CompiledElementwise(ElementwiseOp op, float a = 0.0f, float b = 0.0f);
  // A chain. Throws as Validate(program) does.
  explicit CompiledElementwise(const ElementwiseProgram& program);

  int inputs() const { return inputs_; }

 private:
  friend class ElementwiseCalls;

  // Where an operand is: input i, or buffer j as kMaxInputs + j, or the output.
  static constexpr int8_t kOutput = -1;
  static constexpr int8_t kNone = -2;
  struct Step {
    uint8_t op = 0;
    int8_t x = kNone;
    int8_t y = kNone;
    int8_t to = kOutput;
    float a = 0.0f;
    float b = 0.0f;
  };

  std::array<Step, ElementwiseProgram::kMaxInstructions> steps_;
  int step_count_ = 0;
  int inputs_ = 0;
  int buffers_ = 0;
};

// The dimensions of a tensor and the floats from one step along each to the next.
struct StridedDims {
  std::span<const int64_t> dims;
  std::span<const int64_t> strides;
};

// The loops of a broadcast: the output's dimensions in the order in which they lie in memory, with those merged that
// every tensor walks alike, and the strides of the output and of each input (0: the input does not change).
class BroadcastLoops {
 public:
  static constexpr int kMaxRank = 13;
  static constexpr int kMaxInputs = ElementwiseProgram::kMaxInputs;

  // Each input's dimensions are aligned at the end, as NumPy does; each is 1 or the output's. The tensors may lie in
  // memory in different orders and with gaps; the output's elements lie apart.
  BroadcastLoops(const StridedDims& output, std::span<const StridedDims> inputs);

  int rank() const { return rank_; }
  int64_t dim(int i) const { return dims_[static_cast<size_t>(i)]; }
  int64_t stride(int input, int i) const { return strides_[static_cast<size_t>(i)][static_cast<size_t>(input) + 1]; }
  int64_t out_stride(int i) const { return strides_[static_cast<size_t>(i)][0]; }
  int64_t numel() const { return numel_; }
  // The innermost dimension; along it the output's elements are neighbours.
  int64_t cols() const { return dim(rank_ - 1); }

 private:
  using Strides = std::array<int64_t, kMaxInputs + 1>;  // the output's first

  int rank_ = 0;  // at least 1 when made
  int64_t numel_ = 1;
  // Of these, as many as the rank and the inputs are; clearing all would take longer than what shapes are computed by.
  std::array<int64_t, kMaxRank> dims_;
  std::array<Strides, kMaxRank> strides_;
};

// out = program(inputs). out may be an input that has the output's shape and strides. Thread-safe, allocates nothing; a
// null pool means on the caller alone; the number of threads does not change the result.
void RunElementwise(const CompiledElementwise& program, const BroadcastLoops& loops,
                    std::span<const float* const> inputs, float* out, ThreadPool* pool);

}  // namespace wherry::cpu
