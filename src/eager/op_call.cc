#include "eager/op_call.h"

#include <memory>
#include <utility>

#include "base/check.h"
#include "kernel/provider.h"

namespace wherry::eager {

OpCall::OpCall(const OpSchema& schema) : schema_(schema) { args_.reserve(schema.args.size()); }

std::string OpCall::Argument() const {
  WHERRY_CHECK(args_.size() < schema_.args.size(), schema_.name, " is given more than its arguments");
  return StrCat(schema_.name, ": argument '", schema_.args[args_.size()].name, "'");
}

void OpCall::EmplaceBackInput(const Tensor& tensor) {
  const std::string argument = Argument();
  const bool optional = schema_.args[args_.size()].kind == ArgKind::kOptionalTensor;
  WHERRY_ENFORCE(optional || tensor.defined(), kInvalidArgument, argument,
                 " is an undefined Tensor; expected one with data");
  CallArg& arg = args_.emplace_back();
  if (!tensor.defined()) return;
  WHERRY_ENFORCE(tensor.impl()->has_data(), kInvalidArgument, argument, " has a shape, ", tensor.shape().DebugString(),
                 ", but no data");
  arg.tensors.push_back(tensor.impl().get());
}

void OpCall::EmplaceBackInput(const std::vector<Tensor>& tensors) {
  const std::string argument = Argument();
  CallArg& arg = args_.emplace_back();
  for (size_t i = 0; i < tensors.size(); ++i) {
    WHERRY_ENFORCE(tensors[i].defined() && tensors[i].impl()->has_data(), kInvalidArgument, argument, ": tensor ", i,
                   " of ", tensors.size(), " is undefined or has no data");
    arg.tensors.push_back(tensors[i].impl().get());
  }
}

void OpCall::Add(Attribute attribute) {
  Argument();
  args_.emplace_back().attribute = std::move(attribute);
}

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
