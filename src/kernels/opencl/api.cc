#include "kernels/opencl/api.h"

#include "base/check.h"

namespace wherry::opencl {

namespace {

// Those that a working program can meet; the others are printed as numbers.
const char* StatusName(cl_int status) {
  switch (status) {
    case CL_DEVICE_NOT_FOUND: return "CL_DEVICE_NOT_FOUND";
    case CL_DEVICE_NOT_AVAILABLE: return "CL_DEVICE_NOT_AVAILABLE";
    case CL_COMPILER_NOT_AVAILABLE: return "CL_COMPILER_NOT_AVAILABLE";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case CL_OUT_OF_RESOURCES: return "CL_OUT_OF_RESOURCES";
    case CL_OUT_OF_HOST_MEMORY: return "CL_OUT_OF_HOST_MEMORY";
    case CL_BUILD_PROGRAM_FAILURE: return "CL_BUILD_PROGRAM_FAILURE";
    case CL_INVALID_VALUE: return "CL_INVALID_VALUE";
    case CL_INVALID_BINARY: return "CL_INVALID_BINARY";
    case CL_INVALID_BUFFER_SIZE: return "CL_INVALID_BUFFER_SIZE";
    case CL_INVALID_KERNEL_ARGS: return "CL_INVALID_KERNEL_ARGS";
    case CL_INVALID_WORK_GROUP_SIZE: return "CL_INVALID_WORK_GROUP_SIZE";
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
    default: return "status";
  }
}

bool IsMemory(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
         status == CL_OUT_OF_HOST_MEMORY || status == CL_INVALID_BUFFER_SIZE;
}

// The text that `get(size, buffer, &needed)` gives.
template <typename Get>
std::string Text(Get get) {
  size_t size = 0;
  if (get(0, nullptr, &size) != CL_SUCCESS || size == 0) return "";
  std::string text(size, '\0');
  if (get(size, text.data(), nullptr) != CL_SUCCESS) return "";
  text.resize(text.find('\0'));  // the terminator is counted
  return text;
}

}  // namespace

void Check(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  Throw(IsMemory(status) ? ErrorCode::kResourceExhausted : ErrorCode::kUnavailable, "OpenCL: ", what, " failed with ",
        StatusName(status), " (", status, ")");
}

std::string DeviceText(cl_device_id device, cl_device_info what) {
  return Text(
      [&](size_t size, void* text, size_t* needed) { return clGetDeviceInfo(device, what, size, text, needed); });
}

std::string PlatformText(cl_platform_id platform, cl_platform_info what) {
  return Text(
      [&](size_t size, void* text, size_t* needed) { return clGetPlatformInfo(platform, what, size, text, needed); });
}

}  // namespace wherry::opencl
