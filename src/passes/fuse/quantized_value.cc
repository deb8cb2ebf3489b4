#include "passes/fuse/quantized_value.h"

#include <algorithm>
#include <cmath>

namespace wherry::mir {
namespace {

bool IsByte(DataType dtype) { return dtype == DataType::kInt8 || dtype == DataType::kUInt8; }

bool IsZero(const DenseTensor& tensor) {
  const auto* bytes = static_cast<const uint8_t*>(tensor.raw_data());
  return std::all_of(bytes, bytes + tensor.nbytes(), [](uint8_t byte) { return byte == 0; });
}

// Scales, zero point and axis of either operator.
std::optional<QuantizedValue> StepsOf(const SSAGraph& graph, const Node::Stmt& stmt, Node* integers,
                                      const Node* floats) {
  QuantizedValue value;
  value.integers = integers;
  const DenseTensor* scale = graph.TryWeight(stmt.input("scale"));
  if (scale == nullptr || scale->dtype() != DataType::kFloat || stmt.GetAttr<int64_t>("block_size") != 0 ||
      floats->AsArg().type.dtype != DataType::kFloat || !floats->AsArg().type.rank_known) {
    return std::nullopt;
  }
  for (int64_t i = 0; i < scale->numel(); ++i) {
    const double number = scale->data<float>()[i];
    if (!std::isnormal(number) || number < 0) return std::nullopt;
    value.scales.push_back(number);
  }
  if (value.scales.empty()) return std::nullopt;
  const int axis = stmt.GetAttr<int>("axis");
  value.axis = axis < 0 ? axis + floats->AsArg().type.rank() : axis;
  if (Node* zero = stmt.input("zero_point")) {
    const DenseTensor* tensor = graph.TryWeight(zero);
    if (tensor == nullptr) return std::nullopt;
    if (!IsZero(*tensor)) value.zero = zero;
  }
  return value;
}

}  // namespace

std::optional<QuantizedValue> Dequantized(const SSAGraph& graph, const Node* arg) {
  const Node::Stmt* stmt = ProducerOf(arg, "dequantize_linear");
  return stmt == nullptr ? std::nullopt : StepsOf(graph, *stmt, stmt->input("x"), arg);
}

std::optional<QuantizedValue> QuantizedBy(const SSAGraph& graph, const Node* stmt) {
  if (stmt->AsStmt().op_type() != "quantize_linear" || stmt->AsStmt().GetAttr<bool>("ties_away") ||
      !IsByte(stmt->AsStmt().GetAttr<DataType>("dtype"))) {
    return std::nullopt;
  }
  std::optional<QuantizedValue> value =
      StepsOf(graph, stmt->AsStmt(), stmt->AsStmt().output(), stmt->AsStmt().input("x"));
  return value && value->per_tensor() ? value : std::nullopt;
}

int ZeroOf(const SSAGraph& graph, const Node* zero) {
  if (zero == nullptr) return 0;
  const DenseTensor& tensor = graph.WeightTensor(zero);
  return tensor.dtype() == DataType::kInt8 ? tensor.data<int8_t>()[0] : tensor.data<uint8_t>()[0];
}

bool SameSteps(const SSAGraph& graph, const QuantizedValue& a, const QuantizedValue& b) {
  return IsByte(a.dtype()) && a.dtype() == b.dtype() && a.per_tensor() && a.scales == b.scales &&
         ZeroOf(graph, a.zero) == ZeroOf(graph, b.zero);
}

int StepOf(const SSAGraph& graph, double value, const QuantizedValue& steps) {
  const bool is_signed = steps.dtype() == DataType::kInt8;
  const double step = std::nearbyint(value / steps.scales[0]) + ZeroOf(graph, steps.zero);
  return static_cast<int>(std::clamp(step, is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0));
}

}  // namespace wherry::mir
