#include "op/recurrent.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/strings.h"

namespace wherry {
namespace {

// By RnnActKind.
constexpr const char* kActivationNames[] = {"sigmoid",          "tanh",        "relu",         "affine", "leaky_relu",
                                            "thresholded_relu", "scaled_tanh", "hard_sigmoid", "elu",    "softsign",
                                            "softplus"};

RnnActKind ParseActivation(const std::string& name) {
  const auto* const it = std::find(std::begin(kActivationNames), std::end(kActivationNames), name);
  WHERRY_ENFORCE(it != std::end(kActivationNames), kInvalidArgument, "activation ", Quote(name), ", expected one of ",
                 Join(std::vector<std::string>(std::begin(kActivationNames), std::end(kActivationNames)), ", "));
  return static_cast<RnnActKind>(it - std::begin(kActivationNames));
}

RnnCell ParseCell(const std::string& name) {
  WHERRY_ENFORCE(name == "lstm" || name == "gru" || name == "rnn", kInvalidArgument, "cell is ", Quote(name),
                 ", expected lstm, gru or rnn");
  return name == "lstm" ? RnnCell::kLstm : name == "gru" ? RnnCell::kGru : RnnCell::kRnn;
}

void CheckParameters(const char* name, size_t given, size_t activations) {
  WHERRY_ENFORCE(given == 0 || given == activations, kInvalidArgument, name, " has ", given, " entries, expected ",
                 activations, ", one per activation");
}

}  // namespace

RnnSpec::RnnSpec(const RnnAttributes& attributes)
    : cell(ParseCell(attributes.cell)),
      directions(attributes.direction == "bidirectional" ? 2 : 1),
      first_is_reverse(attributes.direction == "reverse"),
      clip(attributes.clip),
      linear_before_reset(attributes.linear_before_reset),
      input_forget(attributes.input_forget) {
  WHERRY_ENFORCE(directions == 2 || first_is_reverse || attributes.direction == "forward", kInvalidArgument,
                 "direction is ", Quote(attributes.direction), ", expected forward, reverse or bidirectional");
  WHERRY_ENFORCE(clip >= 0.0F, kInvalidArgument, "clip is ", clip, ", expected 0 (none) or more");
  const size_t count = attributes.activations.size();
  const size_t expected = static_cast<size_t>(directions) * static_cast<size_t>(activation_count());
  WHERRY_ENFORCE(count == 0 || count == expected, kInvalidArgument, "activations has ", count, " entries, expected ",
                 expected);
  CheckParameters("alphas", attributes.alphas.size(), count);
  CheckParameters("betas", attributes.betas.size(), count);
  size_t next = 0;
  for (int d = 0; d < directions; ++d) {
    for (int i = 0; i < activation_count(); ++i, ++next) {
      RnnActivation& activation = activations[static_cast<size_t>(d)][static_cast<size_t>(i)];
      activation.kind = i == 0 && cell != RnnCell::kRnn ? RnnActKind::kSigmoid : RnnActKind::kTanh;
      if (count == 0) continue;
      activation.kind = ParseActivation(attributes.activations[next]);
      if (!attributes.alphas.empty()) activation.alpha = static_cast<float>(attributes.alphas[next]);
      if (!attributes.betas.empty()) activation.beta = static_cast<float>(attributes.betas[next]);
    }
  }
}

int64_t SequenceLength(const DenseTensor* sequence_lens, int64_t b, int64_t steps) {
  if (sequence_lens == nullptr) return steps;
  const int64_t length = sequence_lens->dtype() == DataType::kInt32 ? int64_t{sequence_lens->data<int32_t>()[b]}
                                                                    : sequence_lens->data<int64_t>()[b];
  WHERRY_ENFORCE(length >= 0 && length <= steps, kInvalidArgument, "sequence_lens[", b, "] is ", length,
                 ", expected 0 to ", steps);
  return length;
}

}  // namespace wherry
