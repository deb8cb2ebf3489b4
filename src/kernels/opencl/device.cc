#include "kernels/opencl/device.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/never_destroyed.h"

namespace wherry::opencl {

namespace {

class MemoryAllocator : public Allocator {
 public:
  explicit MemoryAllocator(cl_context context) : context_(context) {}

  Target target() const override { return Target::kOpenCL; }
  std::shared_ptr<Buffer> Allocate(size_t bytes) override {
    cl_int status = CL_SUCCESS;
    // OpenCL has no empty buffers.
    cl_mem memory = clCreateBuffer(context_, CL_MEM_READ_WRITE, std::max<size_t>(bytes, 1), nullptr, &status);
    if (status != CL_SUCCESS) {
      Throw(ErrorCode::kResourceExhausted, "OpenCL: cannot allocate ", bytes, " bytes (status ", status, ")");
    }
    return std::make_shared<Buffer>(memory, bytes, Target::kOpenCL,
                                    [](void* handle) { clReleaseMemObject(static_cast<cl_mem>(handle)); });
  }

 private:
  cl_context context_;
};

std::vector<cl_device_id> AllDevices(std::string* why) {
  cl_uint count = 0;
  const cl_int status = clGetPlatformIDs(0, nullptr, &count);
  if (status != CL_SUCCESS || count == 0) {
    *why = "no OpenCL platform: no driver (ICD) is installed";
    return {};
  }
  std::vector<cl_platform_id> platforms(count);
  Check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  std::vector<cl_device_id> devices;
  for (cl_platform_id platform : platforms) {
    cl_uint found = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &found) != CL_SUCCESS || found == 0) continue;
    const size_t first = devices.size();
    devices.resize(first + found);
    Check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, found, devices.data() + first, nullptr), "clGetDeviceIDs");
  }
  if (devices.empty()) *why = "the installed OpenCL platforms have no device";
  return devices;
}

cl_device_type TypeOf(cl_device_id device) {
  cl_device_type type = 0;
  clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, nullptr);
  return type;
}

// Null when there is none.
cl_device_id Choose(std::string* why) {
  const std::vector<cl_device_id> devices = AllDevices(why);
  constexpr cl_device_type kWanted[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL};
  for (cl_device_type wanted : kWanted) {
    for (cl_device_id device : devices) {
      if ((TypeOf(device) & wanted) != 0) return device;
    }
  }
  return nullptr;
}

}  // namespace

Device::Device(cl_device_id id) : name_(DeviceText(id, CL_DEVICE_NAME)) {
  cl_int status = CL_SUCCESS;
  context_.reset(clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status));
  Check(status, "clCreateContext");
  queue_.reset(clCreateCommandQueue(context_.get(), id, 0, &status));
  Check(status, "clCreateCommandQueue");
  clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(max_work_group_size_), &max_work_group_size_, nullptr);
  allocator_ = std::make_unique<MemoryAllocator>(context_.get());
  programs_ = std::make_unique<ProgramCache>(context_.get(), id, DefaultCacheFolder());
}

Device* Device::Find(std::string* why) {
  struct Result {
    Device* device = nullptr;
    std::string why;
  };
  static const NeverDestroyed<Result> result([] {  // looked for once; contexts use the device as long as they live
    Result found;
    try {
      if (cl_device_id id = Choose(&found.why)) found.device = new Device(id);
    } catch (const Error& error) {
      found.why = error.what();
    }
    return found;
  }());
  if (result->device == nullptr && why != nullptr) *why = result->why;
  return result->device;
}

Device& Device::Get() {
  std::string why;
  Device* device = Find(&why);
  WHERRY_ENFORCE(device != nullptr, kUnavailable, "OpenCL is not available: ", why);
  return *device;
}

}  // namespace wherry::opencl
