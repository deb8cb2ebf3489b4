// What the attributes of the op rnn say, read once: InferMeta checks with it, kernels plan with it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/dense_tensor.h"

namespace wherry {

enum class RnnCell : uint8_t { kLstm, kGru, kRnn };

// Activations of recurrent cells. The comment is the formula for input x, parameters alpha and beta.
enum class RnnActKind : uint8_t {
  kSigmoid,          // 1 / (1 + exp(-x))
  kTanh,             // tanh(x)
  kRelu,             // max(x, 0)
  kAffine,           // alpha * x + beta
  kLeakyRelu,        // x >= 0 ? x : alpha * x
  kThresholdedRelu,  // x >= alpha ? x : 0
  kScaledTanh,       // alpha * tanh(beta * x)
  kHardSigmoid,      // min(max(alpha * x + beta, 0), 1)
  kElu,              // x >= 0 ? x : alpha * (exp(x) - 1)
  kSoftsign,         // x / (1 + |x|)
  kSoftplus,         // log(1 + exp(x))
};

struct RnnActivation {
  RnnActKind kind = RnnActKind::kSigmoid;
  float alpha = 0.0F;
  float beta = 0.0F;
};

// As the op's attributes have it.
struct RnnAttributes {
  const std::string& cell;
  const std::string& direction;
  const std::vector<std::string>& activations;
  const std::vector<double>& alphas;
  const std::vector<double>& betas;
  float clip;
  bool linear_before_reset;
  bool input_forget;
};

struct RnnSpec {
  // Of the gates; of the cell or hidden value; of an lstm's output.
  static constexpr int kMaxActivations = 3;

  // Error(kInvalidArgument) naming the attribute and its value.
  explicit RnnSpec(const RnnAttributes& attributes);

  int gates() const { return cell == RnnCell::kLstm ? 4 : cell == RnnCell::kGru ? 3 : 1; }
  int activation_count() const { return cell == RnnCell::kLstm ? 3 : cell == RnnCell::kGru ? 2 : 1; }
  const RnnActivation& activation(int direction, int i) const {
    return activations[static_cast<size_t>(direction)][static_cast<size_t>(i)];
  }
  bool reverse(int direction) const { return direction == 1 || first_is_reverse; }

  RnnCell cell = RnnCell::kLstm;
  int directions = 1;
  bool first_is_reverse = false;
  std::array<std::array<RnnActivation, kMaxActivations>, 2> activations;
  float clip = 0.0F;
  bool linear_before_reset = false;
  bool input_forget = false;
};

// The steps of batch entry b: sequence_lens' number (i32 or i64), or all `steps` without it.
// Error(kInvalidArgument) if it is not from 0 to `steps`.
int64_t SequenceLength(const DenseTensor* sequence_lens, int64_t b, int64_t steps);

}  // namespace wherry
