#include "kernel/layout_rule.h"

#include <algorithm>

namespace wherry {

bool FollowsLayout(const OpSchema& schema, size_t arg) {
  const ArgDef& def = schema.args[arg];
  if (!def.is_tensor()) return false;
  const auto names_tensor = [&schema](int8_t index) { return schema.args[static_cast<size_t>(index)].is_tensor(); };
  if (std::none_of(schema.layout_rule.begin(), schema.layout_rule.end(), names_tensor)) return true;
  const auto& rule = schema.layout_rule;
  if (std::find(rule.begin(), rule.end(), static_cast<int8_t>(arg)) != rule.end()) return true;
  return def.kind == ArgKind::kTensorList &&
         std::any_of(schema.args.begin(), schema.args.end(),
                     [](const ArgDef& other) { return other.type == AttrType::kEpilogue; });
}

DataLayout LayoutForKernel(DataLayout kernel_layout, DataLayout call_layout, bool follows, int rank) {
  if (rank < 3 || !follows) return DataLayout::kNCHW;
  return kernel_layout == DataLayout::kAny ? call_layout : kernel_layout;
}

}  // namespace wherry
