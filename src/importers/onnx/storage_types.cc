#include "importers/onnx/storage_types.h"

#include <set>
#include <string>

namespace wherry::onnx {

namespace {

// kUndefined: operators take the type itself. Floats of 8 bits are held as their bits.
DataType HolderOf(DataType stored) {
  switch (stored) {
    case DataType::kFP8E4M3FN:
    case DataType::kFP8E4M3FNUZ:
    case DataType::kFP8E5M2:
    case DataType::kFP8E5M2FNUZ:
    case DataType::kFP8E8M0:
    case DataType::kUInt4:
    case DataType::kUInt2: return DataType::kUInt8;
    case DataType::kInt4:
    case DataType::kInt2: return DataType::kInt8;
    case DataType::kFP4E2M1: return DataType::kFloat;
    default: return DataType::kUndefined;
  }
}

std::string Converted(OnnxContext* context, const std::string& x, DataType stored, DataType dtype) {
  const bool is_bits = IsFloating(stored) && HolderOf(stored) == DataType::kUInt8;
  return context->Emit(is_bits ? "bitcast" : "cast", {{"x", {x}}}, {{"dtype", dtype}});
}

// Those that give the same elements another shape take all types.
bool OnlyMoves(const ForeignOp& op) {
  static const std::set<std::string> types = {"CenterCropPad", "Compress",        "Concat",         "DepthToSpace",
                                              "Expand",        "Gather",          "GatherElements", "GatherND",
                                              "Pad",           "ReverseSequence", "Scatter",        "ScatterElements",
                                              "ScatterND",     "Slice",           "SpaceToDepth",   "Split",
                                              "Tile",          "Transpose",       "Trilu",          "Where"};
  return op.domain.empty() && types.count(op.type) != 0;
}

}  // namespace

DataType HoldOperands(OnnxContext* context, ForeignOp* op) {
  DataType stored = DataType::kUndefined;
  if (!OnlyMoves(*op)) return stored;
  for (ForeignOp::Slot& slot : op->inputs) {
    for (std::string& value : slot.values) {
      const DataType dtype = context->TypeOf(value);
      const DataType holder = HolderOf(dtype);
      if (holder == DataType::kUndefined) continue;
      stored = dtype;
      value = Converted(context, value, dtype, holder);
    }
  }
  return stored;
}

void StoreResults(OnnxContext* context, DataType stored) {
  if (stored == DataType::kUndefined) return;
  const DataType holder = HolderOf(stored);
  const auto results = context->results();
  context->ClearResults();
  const auto& outputs = context->op().outputs;
  for (const auto& [name, value] : results) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].values.empty() || outputs[i].values[0] != name) continue;
      context->Bind(i, context->TypeOf(value) == holder ? Converted(context, value, stored, stored) : value);
    }
  }
}

}  // namespace wherry::onnx
