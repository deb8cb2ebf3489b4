#include "kernel/key_rule.h"

#include "core/promote.h"

namespace wherry {

DataType KeyDataType(const OpSchema& schema, const std::vector<BoundArg>& args) {
  for (int8_t index : schema.data_type_rule) {
    const BoundArg& arg = args[static_cast<size_t>(index)];
    if (arg.attribute != nullptr) {
      const auto* dtype = std::get_if<DataType>(arg.attribute);
      if (dtype != nullptr && *dtype != DataType::kUndefined) return *dtype;
    }
    if (!arg.tensors.empty()) return arg.tensors[0]->dtype;
  }
  DataType found = DataType::kUndefined;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!schema.args[i].is_tensor()) continue;
    for (const MetaTensor* tensor : args[i].tensors) {
      if (found == DataType::kUndefined) {
        found = tensor->dtype;
        if (!schema.promote) return found;
      } else {
        found = PromoteTypes(found, tensor->dtype);
      }
    }
  }
  // No tensor at all: the sources' default.
  return found == DataType::kUndefined && schema.data_type_rule.empty() ? DataType::kFloat : found;
}

}  // namespace wherry
