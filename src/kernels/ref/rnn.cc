// Recurrent layers: every sequence of the batch by itself, step by step, in double.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/activation.h"
#include "kernels/ref/element.h"
#include "op/recurrent.h"

namespace wherry::ref {
namespace {

double ActivateCell(const RnnActivation& act, double x) {
  const double a = act.alpha;
  const double b = act.beta;
  switch (act.kind) {
    case RnnActKind::kSigmoid: return Activate(ActKind::kSigmoid, x, a, b);
    case RnnActKind::kTanh: return std::tanh(x);
    case RnnActKind::kRelu: return Activate(ActKind::kRelu, x, a, b);
    case RnnActKind::kAffine: return a * x + b;
    case RnnActKind::kLeakyRelu: return Activate(ActKind::kLeakyRelu, x, a, b);
    case RnnActKind::kThresholdedRelu: return x < a ? 0.0 : x;
    case RnnActKind::kScaledTanh: return a * std::tanh(b * x);
    case RnnActKind::kHardSigmoid: return Activate(ActKind::kHardSigmoid, x, a, b);
    case RnnActKind::kElu: return Activate(ActKind::kElu, x, a, b);
    case RnnActKind::kSoftsign: return x / (1.0 + std::fabs(x));
    case RnnActKind::kSoftplus: return x > 30.0 ? x : std::log1p(std::exp(x));
  }
  Throw(ErrorCode::kInternal, "bug in Wherry: unknown activation ", static_cast<int>(act.kind));
}

// Elements of a tensor from `offset` on, as double; zeros if it is absent.
template <typename T>
std::vector<double> Read(const DenseTensor* tensor, int64_t offset, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count), 0.0);
  if (tensor == nullptr) return values;
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = Load(tensor->data<T>()[offset + i]);
  return values;
}

template <typename T>
void Write(const std::vector<double>& values, DenseTensor* tensor, int64_t offset) {
  if (tensor == nullptr) return;
  for (size_t i = 0; i < values.size(); ++i) {
    tensor->mutable_data<T>()[offset + static_cast<int64_t>(i)] = Store<T>(values[i]);
  }
}

// One direction's parameters, and the state of one sequence.
class Cell {
 public:
  Cell(const RnnSpec& spec, int direction, int64_t inputs, int64_t hidden)
      : spec_(spec),
        direction_(direction),
        inputs_(static_cast<size_t>(inputs)),
        hidden_(static_cast<size_t>(hidden)) {}

  std::vector<double> w, r, bias, peephole, h, c;

  void Step(const std::vector<double>& x) {
    switch (spec_.cell) {
      case RnnCell::kLstm: return Lstm(x);
      case RnnCell::kGru: return Gru(x);
      case RnnCell::kRnn: return Plain(x);
    }
  }

 private:
  // Row j of gate g times x, and times a state, each with its bias.
  double FromInput(size_t g, size_t j, const std::vector<double>& x) const {
    const size_t row = g * hidden_ + j;
    double sum = bias[row];
    for (size_t k = 0; k < inputs_; ++k) sum += w[row * inputs_ + k] * x[k];
    return sum;
  }
  double FromState(size_t g, size_t j, const std::vector<double>& state) const {
    const size_t row = g * hidden_ + j;
    double sum = bias[bias.size() / 2 + row];
    for (size_t k = 0; k < hidden_; ++k) sum += r[row * hidden_ + k] * state[k];
    return sum;
  }
  double Act(int i, double v) const { return ActivateCell(spec_.activation(direction_, i), v); }
  double Gate(int i, double v) const {
    // Not std::clamp: NaN stays.
    if (spec_.clip > 0.0F) v = v < -spec_.clip ? -spec_.clip : v > spec_.clip ? spec_.clip : v;
    return Act(i, v);
  }

  void Lstm(const std::vector<double>& x) {
    enum : size_t { kInput, kOutput, kForget, kCell };
    std::vector<double> next_h(hidden_);
    for (size_t j = 0; j < hidden_; ++j) {
      const auto sum = [&](size_t gate) { return FromInput(gate, j, x) + FromState(gate, j, h); };
      const double input = Gate(0, sum(kInput) + peephole[j] * c[j]);
      const double forget = spec_.input_forget ? 1.0 - input : Gate(0, sum(kForget) + peephole[2 * hidden_ + j] * c[j]);
      c[j] = forget * c[j] + input * Gate(1, sum(kCell));
      next_h[j] = Gate(0, sum(kOutput) + peephole[hidden_ + j] * c[j]) * Act(2, c[j]);
    }
    h = std::move(next_h);
  }

  void Gru(const std::vector<double>& x) {
    enum : size_t { kUpdate, kReset, kHidden };
    std::vector<double> update(hidden_);
    std::vector<double> reset(hidden_);
    std::vector<double> reset_h(hidden_);
    for (size_t j = 0; j < hidden_; ++j) {
      update[j] = Gate(0, FromInput(kUpdate, j, x) + FromState(kUpdate, j, h));
      reset[j] = Gate(0, FromInput(kReset, j, x) + FromState(kReset, j, h));
      reset_h[j] = reset[j] * h[j];
    }
    std::vector<double> next_h(hidden_);
    for (size_t j = 0; j < hidden_; ++j) {
      const double state =
          spec_.linear_before_reset ? reset[j] * FromState(kHidden, j, h) : FromState(kHidden, j, reset_h);
      const double hidden = Gate(1, FromInput(kHidden, j, x) + state);
      next_h[j] = (1.0 - update[j]) * hidden + update[j] * h[j];
    }
    h = std::move(next_h);
  }

  void Plain(const std::vector<double>& x) {
    std::vector<double> next_h(hidden_);
    for (size_t j = 0; j < hidden_; ++j) next_h[j] = Gate(0, FromInput(0, j, x) + FromState(0, j, h));
    h = std::move(next_h);
  }

  const RnnSpec& spec_;
  int direction_;
  size_t inputs_;
  size_t hidden_;
};

template <typename T>
void Rnn(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& w, const DenseTensor& r,
         const DenseTensor* bias, const DenseTensor* sequence_lens, const DenseTensor* initial_h,
         const DenseTensor* initial_c, const DenseTensor* peephole, const std::string& cell,
         const std::string& direction, const std::vector<std::string>& activations, const std::vector<double>& alphas,
         const std::vector<double>& betas, float clip, bool linear_before_reset, bool input_forget, DenseTensor* y,
         DenseTensor* last_h, DenseTensor* last_c) {
  const RnnSpec spec({cell, direction, activations, alphas, betas, clip, linear_before_reset, input_forget});
  const int64_t steps = x.shape()[0];
  const int64_t batch = x.shape()[1];
  const int64_t inputs = x.shape()[2];
  const int64_t hidden = r.shape()[2];
  const int64_t rows = spec.gates() * hidden;
  for (int d = 0; d < spec.directions; ++d) {
    Cell one(spec, d, inputs, hidden);
    one.w = Read<T>(&w, d * rows * inputs, rows * inputs);
    one.r = Read<T>(&r, d * rows * hidden, rows * hidden);
    one.bias = Read<T>(bias, d * 2 * rows, 2 * rows);
    one.peephole = Read<T>(peephole, d * 3 * hidden, 3 * hidden);
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t length = SequenceLength(sequence_lens, b, steps);
      const int64_t state = (d * batch + b) * hidden;
      one.h = Read<T>(initial_h, state, hidden);
      one.c = Read<T>(initial_c, state, hidden);
      for (int64_t s = 0; s < steps; ++s) {
        const int64_t t = spec.reverse(d) ? steps - 1 - s : s;
        const int64_t at = ((t * spec.directions + d) * batch + b) * hidden;
        if (t < length) one.Step(Read<T>(&x, (t * batch + b) * inputs, inputs));
        Write<T>(t < length ? one.h : std::vector<double>(static_cast<size_t>(hidden), 0.0), y, at);
      }
      Write<T>(one.h, last_h, state);
      if (spec.cell == RnnCell::kLstm) Write<T>(one.c, last_c, state);
    }
  }
}

}  // namespace

REGISTER_KERNEL(rnn, ref, kHost, kNCHW, Rnn, WHERRY_REF_FLOATS);

}  // namespace wherry::ref
