// KernelFactory: all kernels, and the choice among them by key.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/kernel_registrar.h"

namespace wherry {

// Generated from the registrations under src/kernels.
std::span<const KernelDescriptor* const> BuiltinKernels();

// A candidate for an op, for people and for the pick: the kernel and, when it cannot be taken, the reason.
struct KernelCandidate {
  const Kernel* kernel = nullptr;
  Support support;
};

// Thread-safe. Built on first use; grows only when a plug-in is loaded; kernels keep their address.
class KernelFactory {
 public:
  static KernelFactory& Instance();

  bool Has(std::string_view op) const;
  // All kernels of an op, best first (priority, then provider and variant by name). Empty for an unknown op.
  std::vector<const Kernel*> Kernels(std::string_view op) const;
  std::vector<const Kernel*> List() const;

  // The best kernel for exactly this key: its target (host and the native target stand in for each other, in that order
  // of preference: native first), its type (or a kernel for kAny), its layout (or a kernel for kAny; kUndefined and
  // kAny in the key match all, kNCHW preferred). With a problem, kernels that refuse it are passed over. Null when
  // there is none.
  const Kernel* SelectKernel(std::string_view op, const KernelKey& key, const KernelProblem* problem = nullptr) const;
  // Likewise, but no kernel is Error(kUnsupported): it says what differs (target, type or layout), lists the registered
  // keys, names the nearest one, and gives the refusals' reasons. An op without kernels is Error(kNotFound) with the
  // nearest names.
  const Kernel& SelectKernelOrThrowError(std::string_view op, const KernelKey& key,
                                         const KernelProblem* problem = nullptr) const;
  // By id: provider and variant ("cpu", "winograd4"; variant "" means the one without).
  const Kernel* FindKernel(std::string_view op, std::string_view provider, std::string_view variant,
                           const KernelKey& key) const;

  // Every kernel of the op with its refusal, if any, for this key and problem. Used by the pick and by --explain.
  std::vector<KernelCandidate> Candidates(std::string_view op, const KernelKey& key,
                                          const KernelProblem* problem) const;

  // Error(kAlreadyExists) when (op, key, provider, variant) is taken.
  void Add(const KernelDescriptor* descriptor);

 private:
  KernelFactory();
  struct Impl;
  Impl* impl_;
};

}  // namespace wherry
