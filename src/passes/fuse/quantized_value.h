// What fusions of quantised operators ask of the operators around them.
#pragma once

#include <optional>
#include <vector>

#include "ir/fuse_util.h"

namespace wherry::mir {

// Integers of 8 bits (a bias: of 32) with constant scales and zero points: what dequantize_linear reads, or
// quantize_linear gives.
struct QuantizedValue {
  Node* integers = nullptr;
  Node* zero = nullptr;        // null: all are 0
  std::vector<double> scales;  // positive and finite: one, or one per place along `axis`
  int axis = 0;                // not negative

  bool per_tensor() const { return scales.size() == 1; }
  DataType dtype() const { return integers->AsArg().type.dtype; }
};

// If `arg` is an f32 result of a dequantize_linear without blocks.
std::optional<QuantizedValue> Dequantized(const SSAGraph& graph, const Node* arg);
// If `stmt` is a quantize_linear of f32 values to i8 or u8 with one scale, which rounds ties to even.
std::optional<QuantizedValue> QuantizedBy(const SSAGraph& graph, const Node* stmt);

// The one number of a zero point.
int ZeroOf(const SSAGraph& graph, const Node* zero);

// Whether integers of the one are integers of the other: type, scale and zero point are the same, for the whole tensor.
bool SameSteps(const SSAGraph& graph, const QuantizedValue& a, const QuantizedValue& b);

// `value` as an integer of `steps`: rounded, plus zero, within the type's limits.
int StepOf(const SSAGraph& graph, double value, const QuantizedValue& steps);

}  // namespace wherry::mir
