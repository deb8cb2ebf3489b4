// Running one operator now, from tensors to tensors: used by the eager API, OperatorBase, constant folding and tests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/device_context.h"
#include "kernel/kernel.h"
#include "op/op_schema.h"

namespace wherry {

// One argument of a call, in the schema's order: tensors (none = absent), or an attribute (monostate = not given: the
// default).
struct CallArg {
  std::vector<const DenseTensor*> tensors;
  Attribute attribute;
};

struct InvokeOptions {
  // Parts of the kernel key that the caller fixes; kUndefined parts come from the schema's rules.
  KernelKey key;
  // Exactly this kernel instead of a selected one. It must fit the device.
  const Kernel* kernel = nullptr;
  // What that kernel refuses (it may have accepted shapes that were not known yet) runs with the best of its key.
  bool or_another = false;
  // Number of values of each output (0: an optional one that is not wanted); empty: one each, of a list as many as
  // InferMeta says.
  std::vector<size_t> output_counts;
  // Arguments (by index) whose tensors never change: the kernel may have them packed.
  std::vector<int8_t> constants;
  // Gives a constant packed, which it may keep as long as the tensor lives. None: packs are made for this call alone,
  // as they are of what had to be transformed.
  std::function<std::shared_ptr<const PackedWeight>(const Kernel&, const DenseTensor&, const std::string& format)> pack;
  // The only output is written over this argument's memory, which the schema's `inplace` must allow. Type and shape
  // must be the output's, else Error(kInvalidArgument) before anything is written. Null: new memory.
  DenseTensor* inplace = nullptr;
  // Elements between the pixels of results that are NHWC images: for kernels that take pixel strides.
  int64_t pixel_padding = 0;
  // Gets what the kernel itself takes, in us, without transforms and packing: the least of further runs, of which there
  // are as many as fit into some milliseconds (other work only ever adds to a time). Null: it runs once.
  double* kernel_us = nullptr;
  // Microseconds that calls may still take on one thread, as estimated (cost.h). Lowered by this call's; a call that
  // would take more is refused with Error(kResourceExhausted) before it runs. Null: no bound.
  double* budget_us = nullptr;
};

// Infers, selects, transforms inputs that lie elsewhere or have another type or layout (only where the schema allows),
// allocates and runs on `device` (null: the calling thread's context for the key's target). Returns the outputs by
// schema output, in the device's memory and in the layout of the call: a kernel of the machine's own target for another
// layout goes before a host kernel for exactly this one, and then its outputs are converted. Errors carry "running op
// NAME". Work on an asynchronous device may still be going on.
std::vector<std::vector<DenseTensor>> InvokeOp(const OpSchema& schema, const std::vector<CallArg>& args,
                                               DeviceContext* device, const InvokeOptions& options = {});

// The key of a call by the schema's rules (data_type, backend, layout), with the given parts fixed.
KernelKey ResolveKernelKey(const OpSchema& schema, const std::vector<CallArg>& args, const KernelKey& fixed);

// A copy of `tensor` with this type and layout in the memory of `device` (the same tensor when nothing differs;
// kUndefined: as it is). Casts as the op `cast` does.
DenseTensor TransformTensor(const DenseTensor& tensor, DataType dtype, DataLayout layout, DeviceContext* device);

}  // namespace wherry
