// OpenCL's C API with owners for its objects and Errors for its status codes.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
// clCreateCommandQueue is what every version has.
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <memory>
#include <string>
#include <type_traits>

namespace wherry::opencl {

// Throws for every status but CL_SUCCESS: kResourceExhausted when memory is short, else kUnavailable. `what` is the
// call.
void Check(cl_int status, const char* what);

namespace internal {
struct Release {
  void operator()(cl_context object) const { clReleaseContext(object); }
  void operator()(cl_command_queue object) const { clReleaseCommandQueue(object); }
  void operator()(cl_program object) const { clReleaseProgram(object); }
  void operator()(cl_kernel object) const { clReleaseKernel(object); }
};
}  // namespace internal

template <typename Object>
using Owned = std::unique_ptr<std::remove_pointer_t<Object>, internal::Release>;

std::string DeviceText(cl_device_id device, cl_device_info what);
std::string PlatformText(cl_platform_id platform, cl_platform_info what);

}  // namespace wherry::opencl
