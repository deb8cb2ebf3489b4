#include <vector>

#include "op/infer/infer_meta.h"

namespace wherry {

MetaTensor SequenceConstructInferMeta(const std::vector<const MetaTensor*>& /*x*/) {
  return MetaTensor(DataType::kSequence, {});
}

MetaTensor SequenceInferMeta(const MetaTensor& /*x*/) { return MetaTensor(DataType::kSequence, {}); }

MetaTensor SequenceAtInferMeta(const MetaTensor& /*sequence*/, DataType dtype) {
  return dtype == DataType::kSequence ? MetaTensor(dtype, {}) : MetaTensor::UnknownRank(dtype);
}

MetaTensor SequenceLengthInferMeta(const MetaTensor& /*sequence*/) { return MetaTensor(DataType::kInt64, {}); }

MetaTensor SequenceSizesInferMeta(const MetaTensor& /*sequence*/) { return MetaTensor::UnknownRank(DataType::kInt32); }

}  // namespace wherry
