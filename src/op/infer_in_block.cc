#include "op/infer_in_block.h"

#include <deque>

#include "wherry/error.h"

namespace wherry {

std::vector<std::vector<MetaTensor>> InferMetaInBlock(const OpSchema& schema, const std::vector<BoundArg>& args,
                                                      std::span<const size_t> output_counts) {
  try {
    return InferMeta(schema, args, output_counts);
  } catch (const Error&) {
    std::deque<MetaTensor> types;  // keeps addresses
    std::vector<BoundArg> unknown = args;
    for (BoundArg& arg : unknown) {
      for (const MetaTensor*& tensor : arg.tensors) {
        tensor = &types.emplace_back(MetaTensor::UnknownRank(tensor->dtype));
      }
    }
    try {
      return InferMeta(schema, unknown, output_counts);
    } catch (const Error&) {
      // The first error says more.
    }
    throw;
  }
}

}  // namespace wherry
