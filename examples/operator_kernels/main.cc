// One operator, many kernels. First the demo of the sources, as they print it; then the operator `cos` of Wherry, made
// once without a device and run on the processor and on devices with memory of their own.
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cos_op.h"
#include "toy_device.h"
#include "wherry/compat.h"

// The toy device is in a static library, which would not be linked otherwise.
USE_PROVIDER(toy)
USE_KERNEL(cos, toy, kCustom, kNCHW)

namespace {

using namespace paddle::framework;  // NOLINT: the sources write their names bare
using wherry::DenseTensor;
using wherry::Error;
using wherry::Target;

constexpr float kInput[] = {0.0F, 0.5F, 1.0F, 3.0F};
constexpr size_t kCount = std::size(kInput);

// The device that plays the second one in the sources' demo: CUDA where there is one.
DeviceContext* NewSecondContext() {
  try {
    return new CUDADeviceContext();
  } catch (const Error& error) {
    printf("no CUDADeviceContext: %s\n", error.what());
    return wherry::CreateDeviceContext(Target::kCustom).release();
  }
}

void RunTheSourcesDemo() {
  wherry::OpRegistry::RegisterOp("cosine", [] { return std::make_unique<CosOp>(); });
  OpDesc op_desc("cosine");
  op_desc.SetInput("x", {"a"});
  op_desc.SetOutput("out", {"b"});
  op_desc.SetAttr("scale", 0.5F);

  DeviceContext* cpu_ctx = new CPUDeviceContext();
  DeviceContext* gpu_ctx = NewSecondContext();
  auto scope = std::make_shared<Scope>();

  OperatorBase* op = paddle::framework::OpRegistry::CreateOp(op_desc);

  // will run on cpu kernel
  op->Run(scope, cpu_ctx);

  // will run on gpu kernel
  op->Run(scope, gpu_ctx);

  delete op;
  delete gpu_ctx;
  delete cpu_ctx;
}

DenseTensor Input() {
  wherry::TensorMeta meta;
  meta.dtype = wherry::DataType::kFloat;
  meta.shape = wherry::Shape{static_cast<int64_t>(kCount)};
  DenseTensor tensor(wherry::HostAllocator(), meta);
  for (size_t i = 0; i < kCount; ++i) tensor.mutable_data<float>()[i] = kInput[i];
  return tensor;
}

// Prints where the output lies, brings it back and compares it; 1 if it is wrong.
int Check(const DenseTensor& output, DeviceContext* context) {
  printf("  output on %s:", wherry::ToString(output.target()));
  DenseTensor host(wherry::HostAllocator(), output.meta());
  context->Copy(output, &host);
  int wrong = 0;
  for (size_t i = 0; i < kCount; ++i) {
    const float value = host.data<float>()[i];
    printf(" %.4f", value);
    if (std::abs(value - std::cos(kInput[i])) > 1e-5F) wrong = 1;
  }
  printf(wrong != 0 ? " WRONG\n" : " as expected\n");
  return wrong;
}

template <typename Action>
void ExpectError(const char* what, Action action) {
  try {
    action();
    printf("%s: NO ERROR\n", what);
  } catch (const Error& error) {
    printf("%s:\n  %s\n", what, error.what());
  }
}

OpDesc UnaryDesc(const char* type) {
  OpDesc desc(type);
  desc.SetInput("x", {"a"});
  desc.SetOutput("out", {"b"});
  return desc;
}

int RunOneOperatorOnManyDevices() {
  const std::unique_ptr<OperatorBase> op(OpRegistry::CreateOp(UnaryDesc("cos")));
  auto scope = std::make_shared<Scope>();
  *scope->Tensor("a") = Input();

  CPUDeviceContext cpu_ctx;
  printf("%s on the processor\n", op->DebugString().c_str());
  op->Run(scope, &cpu_ctx);
  int wrong = Check(*scope->Tensor("b"), &cpu_ctx);

  toy::ToyContext toy_ctx;
  printf("the same operator on the toy device\n");
  op->Run(scope, &toy_ctx);
  wrong += Check(*scope->Tensor("b"), &toy_ctx);
  printf("  %zu bytes in, %zu bytes out\n", toy_ctx.bytes_in(), toy_ctx.bytes_out());
  ExpectError("the host reading that output", [&] { scope->Tensor("b")->data<float>(); });

  printf("its output as the input of the next run on the processor\n");
  *scope->Tensor("a") = *scope->Tensor("b");
  op->Run(scope, &cpu_ctx);
  printf("  output on %s, cos(cos(0)) = %.4f\n", wherry::ToString(scope->Tensor("b")->target()),
         scope->Tensor("b")->data<float>()[0]);
  *scope->Tensor("a") = Input();

  printf("the kernel bound ahead\n");
  op->Bind({Target::kCustom, wherry::DataType::kFloat, wherry::DataLayout::kNCHW});
  printf("  bound to %s\n", op->bound_kernel()->id().c_str());
  op->Run(scope, &toy_ctx);
  wrong += Check(*scope->Tensor("b"), &toy_ctx);
  ExpectError("the bound operator with a context of another target", [&] { op->Run(scope, &cpu_ctx); });

  const std::unique_ptr<OperatorBase> sin_op(OpRegistry::CreateOp(UnaryDesc("sin")));
  ExpectError("an operator without a kernel for the device", [&] { sin_op->Run(scope, &toy_ctx); });

  const std::unique_ptr<OperatorBase> free_op(OpRegistry::CreateOp(UnaryDesc("cos")));
  try {
    const std::unique_ptr<DeviceContext> opencl_ctx = wherry::CreateDeviceContext(Target::kOpenCL);
    printf("the same operator on OpenCL\n");
    free_op->Run(scope, opencl_ctx.get());
    wrong += Check(*scope->Tensor("b"), opencl_ctx.get());
  } catch (const Error& error) {
    if (error.code() != wherry::ErrorCode::kUnavailable) throw;
    printf("no OpenCL here: %s\n", error.what());
  }
  return wrong;
}

}  // namespace

int main() {
  try {
    RunTheSourcesDemo();
    return RunOneOperatorOnManyDevices() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
