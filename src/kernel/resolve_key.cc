#include "kernel/invoke.h"
#include "kernel/kernel_key.h"

namespace wherry {

namespace {

bool Skips(const OpSchema& schema, size_t arg) {
  for (int8_t skipped : schema.skip_transform) {
    if (static_cast<size_t>(skipped) == arg) return true;
  }
  return false;
}

// The value of an attribute argument as a Part (DataType, Target, DataLayout); kUndefined when it is none or says
// "decide for me".
template <typename Part>
Part AttributePart(const ArgDef& def, const CallArg& arg, AttrType type) {
  if (def.type != type) return Part::kUndefined;
  if (const Part* given = std::get_if<Part>(&arg.attribute)) return *given;
  if (def.default_text == nullptr || TypeOf(arg.attribute) != AttrType::kNone) return Part::kUndefined;
  return std::get<Part>(ParseAttribute(type, def.default_text));
}

// The tensors that a rule falls back on: those it names, in its order; without any, all that are data.
std::vector<const DenseTensor*> RuleTensors(const OpSchema& schema, const std::vector<CallArg>& args, KeyRule rule) {
  std::vector<const DenseTensor*> tensors;
  for (int8_t index : rule) {
    const CallArg& arg = args[static_cast<size_t>(index)];
    tensors.insert(tensors.end(), arg.tensors.begin(), arg.tensors.end());
  }
  if (!tensors.empty()) return tensors;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!schema.args[i].is_tensor() || Skips(schema, i)) continue;
    tensors.insert(tensors.end(), args[i].tensors.begin(), args[i].tensors.end());
  }
  return tensors;
}

KernelKey KeyOfTensors(const std::vector<const DenseTensor*>& tensors, bool promote) {
  KernelKeySet set;
  for (const DenseTensor* tensor : tensors) set.Add(*tensor);
  return set.GetHighestPriorityKernelKey(promote);
}

template <typename Part>
Part FromAttributes(const OpSchema& schema, const std::vector<CallArg>& args, KeyRule rule, AttrType type) {
  for (int8_t index : rule) {
    const auto i = static_cast<size_t>(index);
    const Part part = AttributePart<Part>(schema.args[i], args[i], type);
    if (part != Part::kUndefined) return part;
  }
  return Part::kUndefined;
}

}  // namespace

KernelKey ResolveKernelKey(const OpSchema& schema, const std::vector<CallArg>& args, const KernelKey& fixed) {
  Target target = fixed.target();
  if (target == Target::kUndefined) {
    target = FromAttributes<Target>(schema, args, schema.backend_rule, AttrType::kTarget);
  }
  if (target == Target::kUndefined)
    target = KeyOfTensors(RuleTensors(schema, args, schema.backend_rule), false).target();

  DataType dtype = fixed.dtype();
  if (dtype == DataType::kUndefined) {
    dtype = FromAttributes<DataType>(schema, args, schema.data_type_rule, AttrType::kDataType);
  }
  if (dtype == DataType::kUndefined) {
    dtype = KeyOfTensors(RuleTensors(schema, args, schema.data_type_rule), schema.promote).dtype();
  }

  DataLayout layout = fixed.layout();
  if (layout == DataLayout::kUndefined) {
    layout = FromAttributes<DataLayout>(schema, args, schema.layout_rule, AttrType::kDataLayout);
  }
  if (layout == DataLayout::kUndefined) {
    std::vector<const DenseTensor*> images = RuleTensors(schema, args, schema.layout_rule);
    // Below rank 3 both layouts are the same order: a bias does not speak for one.
    std::erase_if(images, [](const DenseTensor* tensor) { return tensor->shape().rank() < 3; });
    layout = KeyOfTensors(images, false).layout();
  }
  return {target, dtype, layout};
}

}  // namespace wherry
