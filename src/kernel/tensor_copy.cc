// Moving, casting and re-laying out tensors between ops, and between the host and devices.
#include <utility>

#include "base/check.h"
#include "core/dense_tensor.h"
#include "core/tensor_copy.h"
#include "kernel/invoke.h"
#include "kernel/kernel_registry.h"
#include "kernel/provider.h"
#include "op/schema_registry.h"

namespace wherry {

namespace {

bool SameMemory(Target a, Target b) { return a == b || (IsHostMemory(a) && IsHostMemory(b)); }

// `device` when it is one for that memory, else the calling thread's own.
DeviceContext* ContextFor(Target target, DeviceContext* device) {
  return SameMemory(device->target(), target) ? device : GetDeviceContextByBackend(target);
}

DenseTensor CastOn(DeviceContext* device, const DenseTensor& tensor, DataType dtype) {
  const OpSchema& cast = SchemaRegistry::Global().Get("cast");
  std::vector<CallArg> args(cast.args.size());
  const int x = cast.FindArg("x");
  const int to = cast.FindArg("dtype");
  WHERRY_CHECK(x >= 0 && to >= 0, "the op cast has no arguments x and dtype");
  args[static_cast<size_t>(x)].tensors = {&tensor};
  args[static_cast<size_t>(to)].attribute = dtype;
  return InvokeOp(cast, args, device)[0][0];
}

bool HasCastKernel(Target target, const DenseTensor& tensor) {
  return KernelFactory::Instance().SelectKernel("cast", KernelKey(target, tensor.dtype(), tensor.layout())) != nullptr;
}

DenseTensor ToHost(const DenseTensor& tensor, DeviceContext* device) {
  DenseTensor host(ContextFor(Target::kHost, device)->allocator(), tensor.meta());
  ContextFor(tensor.target(), device)->Copy(tensor, &host);
  return host;
}

DenseTensor WithLayoutOnHost(const DenseTensor& tensor, DataLayout layout, DeviceContext* device) {
  TensorMeta meta = tensor.meta();
  meta.layout = layout;
  meta.pixel_stride = 0;
  DenseTensor result(ContextFor(Target::kHost, device)->allocator(), meta);
  CopyHostTensor(tensor, &result);
  return result;
}

}  // namespace

DenseTensor TransformTensor(const DenseTensor& tensor, DataType dtype, DataLayout layout, DeviceContext* device) {
  WHERRY_ENFORCE(tensor.has_data(), kInvalidArgument, "a tensor ", tensor.meta().DebugString(),
                 " without data is used");
  if (dtype == DataType::kUndefined || dtype == DataType::kAny) dtype = tensor.dtype();
  if (layout == DataLayout::kUndefined || layout == DataLayout::kAny) layout = tensor.layout();

  DenseTensor result = tensor;
  if (dtype != result.dtype()) {
    // Where it lies if that device can; the host always can.
    DeviceContext* here = ContextFor(result.target(), device);
    if (!IsHostMemory(result.target()) && !HasCastKernel(result.target(), result)) {
      result = ToHost(result, device);
      here = ContextFor(Target::kHost, device);
    }
    result = CastOn(here, result, dtype);
  }
  if (layout != result.layout()) {
    if (!IsHostMemory(result.target())) result = ToHost(result, device);
    result = WithLayoutOnHost(result, layout, device);
  }
  if (!SameMemory(result.target(), device->target())) {
    if (!IsHostMemory(result.target())) result = ToHost(result, device);
    if (!IsHostMemory(device->target())) {
      DenseTensor moved(device->allocator(), result.meta());
      device->Copy(result, &moved);
      result = std::move(moved);
    }
  }
  return result;
}

DenseTensor CopyAcrossDevices(const DenseTensor& tensor, Target target) {
  return TransformTensor(tensor, DataType::kUndefined, DataLayout::kNCHW, GetDeviceContextByBackend(target));
}

}  // namespace wherry
