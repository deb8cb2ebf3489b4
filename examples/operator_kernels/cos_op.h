// The demo operator of the sources: a class that holds its kernels by name and chooses one by its context.
#pragma once

#include <cstdio>
#include <map>
#include <string>

#include "wherry/compat.h"

namespace paddle::framework {

/// simple kernel
template <typename T>
void CosineCPU(OpContext* ctx) {
  printf("run cosin op CPU kernel, scale = %f\n", ctx->op->GetAttr<T>("scale"));
  printf("%s\n", ctx->op->DebugString().c_str());
}

template <typename T>
void CosineGPU(OpContext* ctx) {
  printf("run cosin op GPU kernel, scale = %f\n", ctx->op->GetAttr<T>("scale"));
  printf("%s\n", ctx->op->DebugString().c_str());
}

class CosOp : public OperatorBase {
 public:
  explicit CosOp() {
    kernels_["CPU"] = CosineCPU<float>;
    kernels_["GPU"] = CosineGPU<float>;
  }

  void Run(OpContext* ctx) const override {
    auto dev_ctx = dynamic_cast<CPUDeviceContext*>(ctx->device_context);
    if (dev_ctx != nullptr) {
      kernels_.at("CPU")(ctx);
    } else {
      kernels_.at("GPU")(ctx);
    }
  }

 private:
  std::map<std::string, ComputeFun> kernels_;
};

}  // namespace paddle::framework
