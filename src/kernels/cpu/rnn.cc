// Recurrent layers in f32. The products with x of many steps at once are one GEMM; a step is a GEMM of the state with
// packed weights, then a few passes over rows that lie in L1.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/vector/tile_ops.h"
#include "op/recurrent.h"

namespace wherry::cpu {
namespace {

// Positions among the kernel's tensors.
enum : size_t { kX, kW, kR, kBias, kLens, kInitialH, kInitialC, kPeephole };
// And among its results.
enum : size_t { kY, kLastH, kLastC };

// A weight [D, rows, K] packed per direction as K x rows; with `head` rows that are a matrix of their own before the
// others, where those are multiplied with something else (the hidden gate of a gru).
constexpr std::string_view kFormat = "rnn:head=";

int64_t PackedDirection(int64_t rows, int64_t head, int64_t k) {
  return PackedFloats(k, head) + PackedFloats(k, rows - head);
}

void PackDirection(const float* weight, int64_t rows, int64_t head, int64_t k, float* packed) {
  PackB({weight, 1, k}, k, head, packed, nullptr);
  PackB({weight + head * k, 1, k}, k, rows - head, packed + PackedFloats(k, head), nullptr);
}

int64_t HeadOfFormat(std::string_view format) {
  WHERRY_CHECK(format.starts_with(kFormat), "format '", format, "'");
  return std::stoll(std::string(format.substr(kFormat.size())));
}

size_t PackedBytes(const TensorMeta& weight, std::string_view format) {
  const Shape& shape = weight.shape;
  return static_cast<size_t>(shape[0] * PackedDirection(shape[1], HeadOfFormat(format), shape[2])) * sizeof(float);
}

void Pack(const DenseTensor& weight, std::string_view format, void* packed) {
  const int64_t rows = weight.shape()[1];
  const int64_t k = weight.shape()[2];
  const int64_t head = HeadOfFormat(format);
  const int64_t size = PackedDirection(rows, head, k);
  for (int64_t d = 0; d < weight.shape()[0]; ++d) {
    PackDirection(weight.data<float>() + d * rows * k, rows, head, k, static_cast<float*>(packed) + d * size);
  }
}

// One activation as a loop; nullopt for those that are not one.
struct RowActivation {
  ElementwiseOp op;
  float a = 0.0F;
  float b = 0.0F;
};

std::optional<RowActivation> ToRowActivation(const RnnActivation& act) {
  switch (act.kind) {
    case RnnActKind::kSigmoid: return RowActivation{ToElementwiseOp(ActKind::kSigmoid)};
    case RnnActKind::kTanh: return RowActivation{ToElementwiseOp(ActKind::kTanh)};
    case RnnActKind::kRelu: return RowActivation{ToElementwiseOp(ActKind::kRelu)};
    case RnnActKind::kAffine: return RowActivation{ToElementwiseOp(ActKind::kLinear), act.alpha, act.beta};
    case RnnActKind::kLeakyRelu: return RowActivation{ToElementwiseOp(ActKind::kLeakyRelu), act.alpha};
    case RnnActKind::kHardSigmoid: return RowActivation{ToElementwiseOp(ActKind::kHardSigmoid), act.alpha, act.beta};
    case RnnActKind::kElu: return RowActivation{ToElementwiseOp(ActKind::kElu), act.alpha};
    case RnnActKind::kSoftplus: return RowActivation{ToElementwiseOp(ActKind::kSoftplus), 1.0F, 88.0F};
    default: return std::nullopt;
  }
}

RnnSpec SpecOf(const KernelProblem& problem) {
  return RnnSpec({problem.Attr<std::string>("cell"), problem.Attr<std::string>("direction"),
                  problem.Attr<std::vector<std::string>>("activations"), problem.Attr<std::vector<double>>("alphas"),
                  problem.Attr<std::vector<double>>("betas"), problem.Attr<float>("clip"),
                  problem.Attr<bool>("linear_before_reset"), problem.Attr<bool>("input_forget")});
}

struct RnnPlan : KernelPlan {
  explicit RnnPlan(const KernelProblem& problem);

  // Floats of one direction's scratch, in the order in which they lie there.
  int64_t state_floats() const { return batch * hidden; }
  int64_t gate_floats() const { return batch * rows; }
  int64_t direction_floats() const {
    return 2 * rows + chunk * gate_floats() + 4 * state_floats() + (splits_gru ? gate_floats() : 0) +
           (packs_w ? 0 : PackedDirection(rows, 0, inputs)) + (packs_r ? 0 : PackedDirection(rows, head, hidden));
  }

  RnnSpec spec;
  std::array<std::array<RowActivation, RnnSpec::kMaxActivations>, 2> activations;
  int64_t steps, batch, inputs, hidden;
  int64_t rows;     // of all gates
  int64_t head;     // rows of r that are multiplied with the state before the others with something else
  int64_t chunk;    // steps whose products with x are made at once
  bool splits_gru;  // the products with the state need memory apart from those with x
  bool packs_w, packs_r;
  bool apart;  // each direction on a thread of its own
};

RnnPlan::RnnPlan(const KernelProblem& problem) : spec(SpecOf(problem)) {
  const Shape x = problem.Input("x")->shape();
  steps = x[0];
  batch = x[1];
  inputs = x[2];
  hidden = problem.Input("r")->shape()[2];
  rows = spec.gates() * hidden;
  const bool gru = spec.cell == RnnCell::kGru;
  splits_gru = gru && spec.linear_before_reset;
  head = gru && !splits_gru ? 2 * hidden : 0;
  packs_w = problem.IsConstant("w");
  packs_r = problem.IsConstant("r");
  for (int d = 0; d < spec.directions; ++d) {
    for (int i = 0; i < spec.activation_count(); ++i) {
      activations[static_cast<size_t>(d)][static_cast<size_t>(i)] = *ToRowActivation(spec.activation(d, i));
    }
  }
  // 1 MiB of products: they are still in L2 when their step comes, and the GEMM has rows enough to run at its best.
  constexpr int64_t kChunkFloats = int64_t{1} << 18;
  chunk = std::clamp<int64_t>(kChunkFloats / std::max<int64_t>(1, gate_floats()), 1, std::max<int64_t>(1, steps));
  // A step has to wait for the one before: two directions keep two threads busy with no waiting in between. With more
  // threads the GEMMs of a large step are worth sharing instead.
  constexpr int64_t kLargeStep = int64_t{1} << 23;
  const bool shares_steps = problem.threads() > 2 && batch * rows * hidden > kLargeStep;
  apart = spec.directions == 2 && problem.threads() > 1 && !shares_steps;
  scratch_bytes = static_cast<size_t>(spec.directions * direction_floats()) * sizeof(float);
  if (packs_w) packs.push_back({static_cast<int>(kW), StrCat(kFormat, 0)});
  if (packs_r) packs.push_back({static_cast<int>(kR), StrCat(kFormat, head)});
  algorithm = StrCat("chunk=", chunk, apart ? " directions apart" : "");
}

// One direction of one run.
class Direction {
 public:
  Direction(const RnnPlan& plan, const KernelContext& context, int d, float* scratch, ThreadPool* pool)
      : plan_(plan), context_(context), d_(d), pool_(pool), ops_(TileOps().ops) {
    const auto take = [&scratch](int64_t floats) {
      float* const taken = scratch;
      scratch += floats;
      return taken;
    };
    x_bias_ = take(plan.rows);
    state_bias_ = take(plan.rows);
    gates_ = take(plan.chunk * plan.gate_floats());
    h_ = take(plan.state_floats());
    c_ = take(plan.state_floats());
    spare_ = take(2 * plan.state_floats());
    state_gates_ = plan.splits_gru ? take(plan.gate_floats()) : nullptr;
    size_t pack = 0;
    w_ = plan.packs_w ? Packed(pack++, PackedDirection(plan.rows, 0, plan.inputs))
                      : PackNow(kW, 0, plan.inputs, take(PackedDirection(plan.rows, 0, plan.inputs)));
    r_ = plan.packs_r ? Packed(pack, PackedDirection(plan.rows, plan.head, plan.hidden))
                      : PackNow(kR, plan.head, plan.hidden, take(PackedDirection(plan.rows, plan.head, plan.hidden)));
    if (const DenseTensor* peephole = context.Input(kPeephole))
      peephole_ = peephole->data<float>() + d * 3 * plan.hidden;
  }

  void Run() {
    SetBias();
    LoadState(kInitialH, h_);
    LoadState(kInitialC, c_);
    for (int64_t done = 0; done < plan_.steps; done += plan_.chunk) {
      const int64_t count = std::min(plan_.chunk, plan_.steps - done);
      // Steps in the order of x; the last chunk of x first, where it runs backwards.
      const int64_t first = plan_.spec.reverse(d_) ? plan_.steps - done - count : done;
      const float* x = context_.Input(kX)->data<float>() + first * plan_.batch * plan_.inputs;
      GemmPacked({x, plan_.inputs, 1}, w_, gates_, plan_.rows, count * plan_.batch, plan_.rows, plan_.inputs,
                 TileEpilogue().Bias(x_bias_), pool_);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = plan_.spec.reverse(d_) ? count - 1 - i : i;
        Step(first + at, gates_ + at * plan_.gate_floats());
      }
    }
    StoreState(h_, kLastH);
    if (plan_.spec.cell == RnnCell::kLstm) StoreState(c_, kLastC);
  }

 private:
  const float* Packed(size_t i, int64_t size) const {
    return static_cast<const float*>(context_.Packed(i).buffer->data()) + d_ * size;
  }
  const float* PackNow(size_t input, int64_t head, int64_t k, float* to) const {
    PackDirection(context_.Input(input)->data<float>() + d_ * plan_.rows * k, plan_.rows, head, k, to);
    return to;
  }

  // The bias of the state joins that of x, but where the reset gate multiplies it.
  void SetBias() {
    std::fill_n(x_bias_, 2 * plan_.rows, 0.0F);
    const DenseTensor* const bias = context_.Input(kBias);
    if (bias == nullptr) return;
    const float* const from = bias->data<float>() + d_ * 2 * plan_.rows;
    std::copy_n(from, plan_.rows, x_bias_);
    float* const to = plan_.splits_gru ? state_bias_ : x_bias_;
    Apply(ElementwiseOp::kAdd, to, from + plan_.rows, to, plan_.rows);
  }
  void LoadState(size_t input, float* to) const {
    const DenseTensor* const from = context_.Input(input);
    if (from == nullptr) {
      std::fill_n(to, plan_.state_floats(), 0.0F);
    } else {
      std::copy_n(from->data<float>() + d_ * plan_.state_floats(), plan_.state_floats(), to);
    }
  }
  void StoreState(const float* from, size_t output) const {
    DenseTensor* const to = context_.Output(output);
    if (to != nullptr) std::copy_n(from, plan_.state_floats(), to->mutable_data<float>() + d_ * plan_.state_floats());
  }

  // Rows of a gate lie plan_.rows apart, those of a state plan_.hidden.
  void Step(int64_t t, float* gates) {
    const int64_t batch = plan_.batch;
    const int64_t hidden = plan_.hidden;
    const int64_t rows = plan_.rows;
    const float* const r_tail = r_ + PackedFloats(hidden, plan_.head);
    if (plan_.splits_gru) {
      GemmPacked({h_, hidden, 1}, r_, state_gates_, rows, batch, rows, hidden, TileEpilogue().Bias(state_bias_), pool_);
    } else if (plan_.head == 0) {
      GemmPacked({h_, hidden, 1}, r_, gates, rows, batch, rows, hidden, TileEpilogue().Add(gates, rows), pool_);
    } else {
      GemmPacked({h_, hidden, 1}, r_, gates, rows, batch, plan_.head, hidden, TileEpilogue().Add(gates, rows), pool_);
      float* const reset_h = spare_;
      for (int64_t b = 0; b < batch; ++b) {
        float* const row = gates + b * rows;
        Gate(0, row, plan_.head);
        Apply(ElementwiseOp::kMul, row + hidden, h_ + b * hidden, reset_h + b * hidden, hidden);
      }
      float* const tail = gates + plan_.head;
      GemmPacked({reset_h, hidden, 1}, r_tail, tail, rows, batch, hidden, hidden, TileEpilogue().Add(tail, rows),
                 pool_);
    }
    DenseTensor* const y = context_.Output(kY);
    for (int64_t b = 0; b < batch; ++b) {
      float* const out =
          y == nullptr ? nullptr : y->mutable_data<float>() + ((t * plan_.spec.directions + d_) * batch + b) * hidden;
      if (t >= SequenceLength(context_.Input(kLens), b, plan_.steps)) {
        if (out != nullptr) std::fill_n(out, hidden, 0.0F);
        continue;
      }
      Advance(gates + b * rows, b);
      if (out != nullptr) std::copy_n(h_ + b * hidden, hidden, out);
    }
  }

  void Advance(float* gates, int64_t b) {
    float* const h = h_ + b * plan_.hidden;
    switch (plan_.spec.cell) {
      case RnnCell::kLstm: return Lstm(gates, h, c_ + b * plan_.hidden);
      case RnnCell::kGru: return Gru(gates, plan_.splits_gru ? state_gates_ + b * plan_.rows : nullptr, h);
      case RnnCell::kRnn: Gate(0, gates, plan_.hidden); std::copy_n(gates, plan_.hidden, h);
    }
  }

  void Lstm(float* input, float* h, float* c) {
    const int64_t n = plan_.hidden;
    float* const output = input + n;
    float* const forget = output + n;
    float* const cell = forget + n;
    if (peephole_ == nullptr) {
      Gate(0, input, 3 * n);
    } else {
      AddProduct(peephole_, c, input);
      AddProduct(peephole_ + 2 * n, c, forget);
      Gate(0, input, n);
      Gate(0, forget, n);
    }
    if (plan_.spec.input_forget) Apply(ToElementwiseOp(ActKind::kLinear), input, nullptr, forget, n, -1.0F, 1.0F);
    Gate(1, cell, n);
    Apply(ElementwiseOp::kMul, cell, input, cell, n);
    Apply(ElementwiseOp::kMul, c, forget, c, n);
    Apply(ElementwiseOp::kAdd, c, cell, c, n);
    if (peephole_ != nullptr) {
      AddProduct(peephole_ + n, c, output);
      Gate(0, output, n);
    }
    Activate(2, c, h, n);
    Apply(ElementwiseOp::kMul, h, output, h, n);
  }

  // (1 - z) n + z h = n + z (h - n). `from_state`: where the reset gate is still to be applied to the hidden gate.
  void Gru(float* update, const float* from_state, float* h) {
    const int64_t n = plan_.hidden;
    float* const reset = update + n;
    float* const fresh = reset + n;
    if (from_state != nullptr) {
      Apply(ElementwiseOp::kAdd, update, from_state, update, 2 * n);
      Gate(0, update, 2 * n);
      AddProduct(from_state + 2 * n, reset, fresh);
    }
    Gate(1, fresh, n);
    Apply(ElementwiseOp::kSub, h, fresh, h, n);
    Apply(ElementwiseOp::kMul, h, update, h, n);
    Apply(ElementwiseOp::kAdd, h, fresh, h, n);
  }

  void Apply(ElementwiseOp op, const float* x, const float* y, float* out, int64_t n, float a = 0.0F,
             float b = 0.0F) const {
    ops_[static_cast<size_t>(op)](x, y, out, n, a, b);
  }
  void Activate(size_t i, const float* x, float* out, int64_t n) const {
    const RowActivation& act = plan_.activations[static_cast<size_t>(d_)][i];
    Apply(act.op, x, nullptr, out, n, act.a, act.b);
  }
  void Gate(size_t i, float* gate, int64_t n) const {
    const float clip = plan_.spec.clip;
    if (clip > 0.0F) Apply(ToElementwiseOp(ActKind::kClip), gate, nullptr, gate, n, -clip, clip);
    Activate(i, gate, gate, n);
  }
  // out += x * y, by way of the spare row.
  void AddProduct(const float* x, const float* y, float* out) const {
    Apply(ElementwiseOp::kMul, x, y, spare_, plan_.hidden);
    Apply(ElementwiseOp::kAdd, out, spare_, out, plan_.hidden);
  }

  const RnnPlan& plan_;
  const KernelContext& context_;
  const int d_;
  ThreadPool* const pool_;
  const std::array<TileOp, kElementwiseOps>& ops_;
  float* x_bias_;
  float* state_bias_;
  float* gates_;
  float* h_;
  float* c_;
  float* spare_;
  float* state_gates_;
  const float* w_;
  const float* r_;
  const float* peephole_ = nullptr;
};

Support Supports(const KernelProblem& problem) {
  const RnnSpec spec = SpecOf(problem);
  for (int d = 0; d < spec.directions; ++d) {
    for (int i = 0; i < spec.activation_count(); ++i) {
      if (!ToRowActivation(spec.activation(d, i))) return Support::No("needs other activations");
    }
  }
  return Support::Yes();
}

std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) { return std::make_shared<RnnPlan>(problem); }

void Run(KernelContext* context) {
  const RnnPlan& plan = context->plan<RnnPlan>();
  const CpuContext& device = context->device_as<CpuContext>();
  float* const scratch = static_cast<float*>(device.Scratch(plan.scratch_bytes));
  const auto run = [&](int64_t d, ThreadPool* pool) {
    Direction(plan, *context, static_cast<int>(d), scratch + d * plan.direction_floats(), pool).Run();
  };
  if (plan.apart && device.pool() != nullptr) {
    device.pool()->Run(plan.spec.directions, [&](int64_t d) { run(d, nullptr); });
  } else {
    for (int d = 0; d < plan.spec.directions; ++d) run(d, device.pool());
  }
}

}  // namespace

REGISTER_KERNEL_VARIANT(rnn, cpu, gemm, kNative, kFloat, kNCHW)
    .Supports(&Supports)
    .Plan(&Plan)
    .Pack(&PackedBytes, &Pack)
    .Run(&Run);

}  // namespace wherry::cpu
