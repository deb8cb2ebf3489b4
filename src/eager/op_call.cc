#include "eager/op_call.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "kernel/provider.h"

namespace wherry::eager {

OpCall::OpCall(const OpSchema& schema) : schema_(schema) { args_.reserve(schema.args.size()); }

// For messages; built only when there is one.
std::string OpCall::Argument(size_t i) const { return StrCat(schema_.name, ": argument '", schema_.args[i].name, "'"); }

CallArg& OpCall::Next() {
  WHERRY_CHECK(args_.size() < schema_.args.size(), schema_.name, " is given more than its arguments");
  return args_.emplace_back();
}

void OpCall::EmplaceBackInput(const Tensor& tensor) {
  const size_t i = args_.size();
  CallArg& arg = Next();
  if (!tensor.defined()) {
    WHERRY_ENFORCE(schema_.args[i].kind == ArgKind::kOptionalTensor, kInvalidArgument, Argument(i),
                   " is an undefined Tensor; expected one with data");
    return;
  }
  WHERRY_ENFORCE(tensor.impl()->has_data(), kInvalidArgument, Argument(i), " has a shape, ",
                 tensor.shape().DebugString(), ", but no data");
  arg.tensors.push_back(tensor.impl().get());
}

void OpCall::EmplaceBackInput(const std::vector<Tensor>& tensors) {
  const size_t i = args_.size();
  CallArg& arg = Next();
  for (size_t j = 0; j < tensors.size(); ++j) {
    WHERRY_ENFORCE(tensors[j].defined() && tensors[j].impl()->has_data(), kInvalidArgument, Argument(i), ": tensor ", j,
                   " of ", tensors.size(), " is undefined or has no data");
    arg.tensors.push_back(tensors[j].impl().get());
  }
}

void OpCall::Add(Attribute attribute) { Next().attribute = std::move(attribute); }

void OpCall::Run() { Invoke(InvokeOptions()); }

void OpCall::RunInplace(Tensor* tensor) {
  InvokeOptions options;
  options.inplace = tensor->impl().get();
  Invoke(options);
}

void OpCall::Invoke(const InvokeOptions& options) {
  outputs_ = InvokeOp(schema_, args_, nullptr, options);
  // A device may still be at work; the user's next step, whatever it is, sees finished data.
  for (const std::vector<DenseTensor>& group : outputs_) {
    for (const DenseTensor& tensor : group) {
      if (!IsHostMemory(tensor.target())) GetDeviceContextByBackend(tensor.target())->Synchronize();
    }
  }
}

Tensor OpCall::Output(size_t i) { return Tensor(std::make_shared<DenseTensor>(std::move(outputs_.at(i).at(0)))); }

std::vector<Tensor> OpCall::OutputList(size_t i) {
  std::vector<Tensor> tensors;
  for (DenseTensor& tensor : outputs_.at(i)) tensors.emplace_back(std::make_shared<DenseTensor>(std::move(tensor)));
  return tensors;
}

}  // namespace wherry::eager
