#include "kernel/operator.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/never_destroyed.h"
#include "base/strings.h"
#include "kernel/invoke.h"
#include "kernel/kernel_registry.h"
#include "op/schema_registry.h"

namespace wherry {

namespace {

struct Creators {
  std::mutex mutex;
  std::map<std::string, OpRegistry::Creator, std::less<>> by_type;
};

Creators& GlobalCreators() {
  static NeverDestroyed<Creators> creators;
  return *creators;
}

// An argument that is an absent optional has a variable without data.
void AddTensors(const Variable& variable, std::vector<const DenseTensor*>* tensors) {
  if (variable.IsTensor()) {
    if (variable.tensor().has_data()) tensors->push_back(&variable.tensor());
  } else {
    for (const DenseTensor& tensor : variable.sequence()) tensors->push_back(&tensor);
  }
}

std::vector<CallArg> ReadArguments(const OpSchema& schema, const OpDesc& desc, const Scope& scope) {
  std::vector<CallArg> args(schema.args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    const ArgDef& def = schema.args[i];
    for (const std::string& name : desc.Input(def.name)) {
      const size_t before = args[i].tensors.size();
      AddTensors(scope.GetVar(name), &args[i].tensors);
      WHERRY_ENFORCE(args[i].tensors.size() > before || def.kind == ArgKind::kOptionalTensor, kInvalidArgument,
                     desc.DebugString(), ": variable ", Quote(name), " has no data");
    }
    if (!def.is_tensor() && args[i].tensors.empty() && desc.HasAttr(def.name)) {
      args[i].attribute = desc.GetAttribute(def.name);
    }
  }
  return args;
}

InvokeOptions OptionsFor(const OpSchema& schema, const OpDesc& desc, const Kernel* bound) {
  InvokeOptions options;
  options.kernel = bound;
  for (const OutputDef& output : schema.outputs) {
    const size_t count = desc.Output(output.name).size();
    options.output_counts.push_back(output.is_list || output.optional ? count : 1);
  }
  return options;
}

void WriteOutputs(const OpSchema& schema, const OpDesc& desc, std::vector<std::vector<DenseTensor>> results,
                  Scope* scope) {
  for (size_t i = 0; i < schema.outputs.size(); ++i) {
    const std::vector<std::string>& names = desc.Output(schema.outputs[i].name);
    WHERRY_ENFORCE(names.empty() || names.size() == results[i].size(), kInvalidArgument, desc.DebugString(),
                   ": output '", schema.outputs[i].name, "' has ", results[i].size(), " values for ", names.size(),
                   " variables");
    for (size_t j = 0; j < names.size(); ++j) *scope->Tensor(names[j]) = std::move(results[i][j]);
  }
}

}  // namespace

void OperatorBase::Run(Scope* scope, DeviceContext* device_context) const {
  WHERRY_ENFORCE(scope != nullptr && device_context != nullptr, kInvalidArgument, "op ", Type(),
                 " is run without a scope or a device context");
  OpContext context{this, scope, device_context};
  Run(&context);
}

void OperatorBase::Run(OpContext* context) const {
  WHERRY_ENFORCE(schema_ != nullptr, kUnsupported, "op ", Type(),
                 " has no schema, and its class does not say how it runs (it does not override Run)");
  std::vector<std::vector<DenseTensor>> results =
      InvokeOp(*schema_, ReadArguments(*schema_, desc_, *context->scope), context->device_context,
               OptionsFor(*schema_, desc_, bound_));
  WriteOutputs(*schema_, desc_, std::move(results), context->scope);
}

void OperatorBase::Bind(const KernelKey& key) {
  WHERRY_ENFORCE(schema_ != nullptr, kUnsupported, "op ", Type(), " has no schema, so no kernel can be bound to it");
  bound_ = &KernelFactory::Instance().SelectKernelOrThrowError(schema_->kernel, key);
}

std::unique_ptr<OperatorBase> OpRegistry::CreateOp(const OpDesc& desc) {
  Creators& creators = GlobalCreators();
  Creator creator;
  std::vector<std::string> names;
  {
    const std::scoped_lock lock(creators.mutex);
    const auto found = creators.by_type.find(desc.Type());
    if (found != creators.by_type.end()) creator = found->second;
    for (const auto& [name, unused] : creators.by_type) names.push_back(name);
  }
  const OpSchema* schema = SchemaRegistry::Global().Find(desc.Type());
  if (creator == nullptr && schema == nullptr) {
    for (const OpSchema* known : SchemaRegistry::Global().List()) names.emplace_back(known->name);
    Throw(ErrorCode::kNotFound, "no operator ", Quote(desc.Type()), DidYouMean(desc.Type(), names));
  }
  std::unique_ptr<OperatorBase> op = creator != nullptr ? creator() : std::make_unique<OperatorBase>();
  WHERRY_ENFORCE(op != nullptr, kInvalidArgument, "the creator of op ", Quote(desc.Type()), " made nothing");
  op->desc_ = desc;
  op->schema_ = schema;
  if (creator == nullptr) ValidateOpDesc(*schema, &op->desc_);
  return op;
}

void OpRegistry::RegisterOp(const std::string& type, const Creator& creator) {
  WHERRY_ENFORCE(creator != nullptr, kInvalidArgument, "op ", Quote(type), " is registered without a creator");
  Creators& creators = GlobalCreators();
  const std::scoped_lock lock(creators.mutex);
  const bool inserted = creators.by_type.try_emplace(type, creator).second;
  WHERRY_ENFORCE(inserted, kAlreadyExists, "op ", Quote(type), " has a creator already");
}

}  // namespace wherry
