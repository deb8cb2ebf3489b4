#include "kernel/provider.h"

#include "kernels/opencl/context.h"

namespace wherry {

namespace {

bool OpenCLAvailable(std::string* why) { return opencl::Device::Find(why) != nullptr; }

std::unique_ptr<DeviceContext> CreateOpenCLContext() { return std::make_unique<OpenCLContext>(); }

}  // namespace

REGISTER_PROVIDER(opencl, "GPUs and other devices through OpenCL", kOpenCL, &OpenCLAvailable, &CreateOpenCLContext);

}  // namespace wherry
