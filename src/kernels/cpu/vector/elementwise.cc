#include "kernels/cpu/vector/elementwise.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/cpu/vector/broadcast_tiles.h"
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

// A program linked to the tensors that it runs on. An operand that is one number in all of a tile (a value per channel
// before pixels) is read as that number, not spread over a tile first: adding and multiplying such took three times as
// long.
class ElementwiseCalls {
 public:
  ElementwiseCalls(const CompiledElementwise& program, const BroadcastTiles& tiles) : program_(program) {
    Link(TileOps(), tiles);
  }

  // On one tile; intermediate results stay in L1.
  void Run(const BroadcastTiles::Inputs& inputs, float* out, int64_t n) const {
    alignas(64) float buffers[ElementwiseProgram::kMaxInstructions][BroadcastTiles::kTile];
    const auto place = [&](int8_t at) -> const float* {
      if (at < 0) return nullptr;
      return at < kMaxInputs ? static_cast<const float*>(inputs[static_cast<size_t>(at)]) : buffers[at - kMaxInputs];
    };
    for (int i = 0; i < call_count_; ++i) {
      const Call& call = calls_[static_cast<size_t>(i)];
      float* const to = call.to == CompiledElementwise::kOutput ? out : buffers[call.to - kMaxInputs];
      if (call.affine) {
        call.op(place(call.x), nullptr, to, n, *place(call.y), *place(call.summand));
      } else {
        call.op(place(call.x), place(call.y), to, call.single ? 1 : n, call.a, call.b);
      }
      if (call.single && call.to == CompiledElementwise::kOutput) std::fill(to + 1, to + n, to[0]);
    }
  }

 private:
  static constexpr int kMaxInputs = ElementwiseProgram::kMaxInputs;
  static constexpr int kMaxBuffers = kMaxInputs + ElementwiseProgram::kMaxInstructions;

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

  void Link(const TileOpTable& ops, const BroadcastTiles& tiles) {
    std::array<bool, kMaxBuffers> uniform{};
    for (int i = 0; i < program_.inputs(); ++i) uniform[static_cast<size_t>(i)] = tiles.IsUniform(i);
    const auto is_uniform = [&uniform](int8_t at) { return at < 0 || uniform[static_cast<size_t>(at)]; };
    for (int i = 0; i < program_.step_count_; ++i) {
      const CompiledElementwise::Step& step = program_.steps_[static_cast<size_t>(i)];
      Call call{.op = ops.ops[step.op], .x = step.x, .y = step.y, .to = step.to, .a = step.a, .b = step.b};
      call.single = is_uniform(step.x) && is_uniform(step.y);
      if (!call.single && step.y >= 0) {
        if (is_uniform(step.x)) call.op = ops.uniform_x[step.op];
        if (is_uniform(step.y)) call.op = ops.uniform_y[step.op];
      }
      if (const int8_t summand = SummandAfter(i, is_uniform); summand >= 0) {
        if (is_uniform(call.x)) std::swap(call.x, call.y);
        call.op = ops.ops[static_cast<size_t>(ToElementwiseOp(ActKind::kLinear))];
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

  const CompiledElementwise& program_;
  std::array<Call, ElementwiseProgram::kMaxInstructions> calls_;  // of which there are call_count_
  int call_count_ = 0;
};

void RunElementwise(const CompiledElementwise& program, const BroadcastLoops& loops,
                    std::span<const float* const> inputs, float* out, ThreadPool* pool) {
  WHERRY_CHECK(static_cast<int>(inputs.size()) == program.inputs(), inputs.size(), " inputs for a program of ",
               program.inputs());
  std::array<TileInput, BroadcastTiles::kMaxInputs> tensors;
  for (size_t i = 0; i < inputs.size(); ++i) tensors[i] = {inputs[i], sizeof(float)};
  const BroadcastTiles tiles(loops, {tensors.data(), inputs.size()}, out, sizeof(float), UniformInputs::kAsOneElement);
  const ElementwiseCalls calls(program, tiles);
  tiles.Run(pool, [&](const BroadcastTiles::Inputs& at, void* part, int64_t n) {
    calls.Run(at, static_cast<float*>(part), n);
  });
}

}  // namespace wherry::cpu
