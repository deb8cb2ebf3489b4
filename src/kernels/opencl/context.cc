#include "kernels/opencl/context.h"

#include "base/check.h"
#include "kernels/opencl/source.h"

namespace wherry {

using opencl::Check;

namespace {

cl_mem MemoryOf(const DenseTensor& tensor) {
  WHERRY_CHECK(tensor.target() == Target::kOpenCL, "an OpenCL kernel is given a tensor on ", ToString(tensor.target()));
  return static_cast<cl_mem>(tensor.buffer()->data());
}

bool OnHost(const DenseTensor& tensor) { return IsHostMemory(tensor.target()); }

// A host copy of `tensor` with the layout of `meta`, or itself.
DenseTensor WithMeta(const DenseTensor& tensor, const TensorMeta& meta) {
  if (tensor.meta() == meta) return tensor;
  DenseTensor converted(HostAllocator(), meta);
  CopyHostTensor(tensor, &converted);
  return converted;
}

}  // namespace

OpenCLContext::OpenCLContext() : device_(opencl::Device::Get()) {}
OpenCLContext::~OpenCLContext() = default;

void OpenCLContext::Synchronize() { Check(clFinish(device_.queue()), "clFinish"); }

void OpenCLContext::Copy(const DenseTensor& from, DenseTensor* to) {
  WHERRY_ENFORCE(from.dtype() == to->dtype() && from.shape() == to->shape(), kInvalidArgument, "OpenCL: cannot copy ",
                 from.meta().DebugString(), " to ", to->meta().DebugString());
  if (OnHost(from) && OnHost(*to)) return CopyHostTensor(from, to);
  const size_t bytes = from.nbytes();
  if (bytes == 0) return;
  if (OnHost(from)) {
    const DenseTensor source = WithMeta(from, to->meta());
    Check(clEnqueueWriteBuffer(device_.queue(), MemoryOf(*to), CL_TRUE, to->offset(), source.nbytes(),
                               source.raw_data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  } else if (OnHost(*to)) {
    DenseTensor target = from.meta() == to->meta() ? *to : DenseTensor(HostAllocator(), from.meta());
    Check(clEnqueueReadBuffer(device_.queue(), MemoryOf(from), CL_TRUE, from.offset(), bytes, target.mutable_raw_data(),
                              0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    if (from.meta() != to->meta()) CopyHostTensor(target, to);
  } else {
    WHERRY_ENFORCE(from.meta() == to->meta(), kInvalidArgument, "OpenCL: a copy on the device cannot convert ",
                   from.meta().DebugString(), " to ", to->meta().DebugString());
    Check(clEnqueueCopyBuffer(device_.queue(), MemoryOf(from), MemoryOf(*to), from.offset(), to->offset(), bytes, 0,
                              nullptr, nullptr),
          "clEnqueueCopyBuffer");
    Synchronize();
  }
}

cl_kernel OpenCLContext::KernelNamed(const char* source, const std::string& options, const char* function) const {
  cl_program program = device_.programs().Get(opencl::SourceNamed(source).text, options);
  opencl::Owned<cl_kernel>& kernel = kernels_[{program, function}];
  if (kernel == nullptr) {
    cl_int status = CL_SUCCESS;
    kernel.reset(clCreateKernel(program, function, &status));
    Check(status, "clCreateKernel");
  }
  return kernel.get();
}

void OpenCLContext::SetArgument(cl_kernel kernel, cl_uint* next, const DenseTensor& tensor) {
  SetArgument(kernel, next, MemoryOf(tensor));
  SetArgument(kernel, next, static_cast<cl_long>(tensor.offset() / SizeOf(tensor.dtype())));
}

void OpenCLContext::Enqueue(cl_kernel kernel, const char* function, std::span<const size_t> global,
                            std::span<const size_t> local) const {
  const cl_int status =
      clEnqueueNDRangeKernel(device_.queue(), kernel, static_cast<cl_uint>(global.size()), nullptr, global.data(),
                             local.empty() ? nullptr : local.data(), 0, nullptr, nullptr);
  Check(status, function);
}

}  // namespace wherry
