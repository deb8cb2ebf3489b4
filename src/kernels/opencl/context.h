// OpenCLContext: how kernels of this provider reach the device.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/device_context.h"
#include "kernels/opencl/device.h"

namespace wherry {

// A context on the process's OpenCL device. Launches are asynchronous, in order; Copy and Synchronize wait.
// Buffer::data() of its tensors is a cl_mem.
class OpenCLContext : public DeviceContext {
 public:
  // Error(kUnavailable) that says what is missing when there is no device.
  OpenCLContext();
  ~OpenCLContext() override;

  Target target() const override { return Target::kOpenCL; }
  Allocator& allocator() override { return device_.allocator(); }
  void Synchronize() override;
  void Copy(const DenseTensor& from, DenseTensor* to) override;

  opencl::Device& device() const { return device_; }

  // Runs `function` of the file `source`.cl, built with `options`, over `global` work items in groups of `local`
  // (empty: the driver's choice). Arguments: a tensor is two parameters, its buffer and a long, the position of its
  // first element; anything else is passed as its bytes.
  template <typename... Args>
  void Launch(const char* source, const std::string& options, const char* function, std::span<const size_t> global,
              std::span<const size_t> local, const Args&... args) const {
    cl_kernel kernel = KernelNamed(source, options, function);
    cl_uint next = 0;
    (SetArgument(kernel, &next, args), ...);
    Enqueue(kernel, function, global, local);
  }

 private:
  cl_kernel KernelNamed(const char* source, const std::string& options, const char* function) const;
  static void SetArgument(cl_kernel kernel, cl_uint* next, const DenseTensor& tensor);
  template <typename T>
  static void SetArgument(cl_kernel kernel, cl_uint* next, const T& value) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a cl_mem is a pointer, and passed as one
    opencl::Check(clSetKernelArg(kernel, (*next)++, sizeof(T), &value), "clSetKernelArg");
  }
  void Enqueue(cl_kernel kernel, const char* function, std::span<const size_t> global,
               std::span<const size_t> local) const;

  opencl::Device& device_;
  // Setting a cl_kernel's arguments is not thread-safe, so each context has its own.
  mutable std::map<std::pair<cl_program, std::string>, opencl::Owned<cl_kernel>> kernels_;
};

}  // namespace wherry
