// Second spellings: names and signatures under which the documents that Wherry follows use its classes. Nothing in Wherry itself uses
// them. Needs C++20.
#pragma once

#include <functional>
#include <memory>

#include "wherry/extend.h"

namespace wherry {

// A kernel of an operator class that holds its own kernels, by name.
using ComputeFun = std::function<void(OpContext*)>;

using CPUDeviceContext = CpuContext;

// A CUDA device by the class name that the sources give it. Constructing one where there is no CUDA device (or no provider for it) is
// Error(kUnavailable) that says what is missing.
class CUDADeviceContext : public DeviceContext {
 public:
  CUDADeviceContext() : context_(CreateDeviceContext(Target::kCUDA)) {}

  Target target() const override { return context_->target(); }
  DeviceContext& implementation() override { return context_->implementation(); }
  Allocator& allocator() override { return context_->allocator(); }
  void Synchronize() override { context_->Synchronize(); }
  void Copy(const DenseTensor& from, DenseTensor* to) override { context_->Copy(from, to); }

 private:
  std::unique_ptr<DeviceContext> context_;
};

}  // namespace wherry

namespace paddle::framework {

using wherry::ComputeFun;
using wherry::CPUDeviceContext;
using wherry::CUDADeviceContext;
using wherry::DeviceContext;
using wherry::OpContext;
using wherry::OpDesc;
using wherry::OperatorBase;
using wherry::Scope;

struct OpRegistry {
  // The caller owns the operator. Errors are those of wherry::OpRegistry::CreateOp.
  static OperatorBase* CreateOp(const OpDesc& desc) { return wherry::OpRegistry::CreateOp(desc).release(); }
};

}  // namespace paddle::framework
