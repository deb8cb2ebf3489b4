// Kernel: one implementation of one operator for one key, with what it can say before it runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/dense_tensor.h"
#include "kernel/problem.h"
#include "wherry/types.h"

namespace wherry {

class KernelContext;

// Whether a kernel can run a problem, and if not, why ("needs stride 1, got 2").
struct Support {
  bool ok = true;
  std::string reason;
  static Support Yes() { return {}; }
  static Support No(std::string why) { return {false, std::move(why)}; }
};

// A weight rearranged for a kernel. The format names everything the arrangement depends on ("gemm16:t"), so that it can
// be shared between kernels, clones and files. Immutable.
struct PackedWeight {
  std::string format;
  std::shared_ptr<Buffer> buffer;
};
struct PackRequest {
  int input;  // position among the kernel's tensor parameters (lists count as one)
  std::string format;
};

// What a kernel works out once per shape: algorithm, tiles, scratch. Immutable and shared. Kernels derive their own.
struct KernelPlan {
  virtual ~KernelPlan() = default;
  size_t scratch_bytes = 0;        // what Run will ask CpuContext::Scratch for, at most
  std::vector<PackRequest> packs;  // only of constant inputs
  std::string algorithm;           // for people: "winograd4 tiles=12"
};

using SupportsFn = Support (*)(const KernelProblem&);
using PlanFn = std::shared_ptr<const KernelPlan> (*)(const KernelProblem&);
// Bytes of the packed weight. Error(kInvalidArgument) for a weight or format that the kernel's Plan does not ask for.
using PackedBytesFn = size_t (*)(const TensorMeta& weight, std::string_view format);
// Writes all of them to `packed`, which is 64-byte aligned. Thread-safe.
using PackFn = void (*)(const DenseTensor& weight, std::string_view format, void* packed);
using KernelFn = void (*)(KernelContext*);

// Immutable, lives in the KernelFactory for the whole process. Run is thread-safe (contexts are not shared) and
// allocates nothing but through its context.
struct Kernel {
  std::string op;  // the kernel name of the schema: "matmul_v2"
  KernelKey key;
  std::string provider;                  // "ref", "cpu", "onednn"
  std::string variant;                   // "" or "winograd4"
  int priority = 0;                      // among kernels with equal keys, higher first
  SupportsFn supports = nullptr;         // null: everything
  PlanFn plan = nullptr;                 // null: nothing to plan
  PackedBytesFn packed_bytes = nullptr;  // with pack, or neither
  PackFn pack = nullptr;
  KernelFn run = nullptr;
  // NHWC images, arguments and results, may have any pixel stride. What lies between their pixels is another value's:
  // it may be read but means nothing, and is not written.
  bool pixel_strides = false;
  // Work is split over threads of its own, not over the context's pool, whose workers sleep meanwhile.
  bool own_threads = false;

  Support Supports(const KernelProblem& problem) const {
    return supports == nullptr ? Support::Yes() : supports(problem);
  }
  void operator()(KernelContext* context) const { run(context); }
  // Bytes of a packed form, and the weight packed into memory of its own. Error(kInternal) for a kernel that packs
  // nothing.
  size_t PackedBytes(const TensorMeta& weight, std::string_view format) const;
  PackedWeight Pack(const DenseTensor& weight, std::string_view format) const;
  std::string id() const;  // "cpu:conv2d:winograd4", "ref:softmax"
};

}  // namespace wherry
