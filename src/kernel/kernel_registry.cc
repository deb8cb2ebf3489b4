#include "kernel/kernel_registry.h"

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "kernel/kernel_match.h"
#include "kernel/plugin.h"

namespace wherry {

namespace {

// Best first within an op; the key makes the order complete.
bool ListedBefore(const Kernel& a, const Kernel& b) {
  return std::tie(b.priority, a.provider, a.variant, a.key) < std::tie(a.priority, b.provider, b.variant, b.key);
}

bool SameRegistration(const Kernel& a, const Kernel& b) {
  return a.key == b.key && a.provider == b.provider && a.variant == b.variant;
}

std::vector<Kernel> KernelsOf(const KernelDescriptor& descriptor) {
  std::vector<Kernel> kernels;
  for (size_t i = 0; i < descriptor.instance_count; ++i) {
    Kernel kernel;
    kernel.op = descriptor.op;
    kernel.key = KernelKey(descriptor.target, descriptor.instances[i].dtype, descriptor.layout);
    kernel.provider = descriptor.provider;
    kernel.variant = descriptor.variant;
    kernel.priority = descriptor.priority;
    kernel.supports = descriptor.supports;
    kernel.plan = descriptor.plan;
    kernel.packed_bytes = descriptor.packed_bytes;
    kernel.pack = descriptor.pack;
    kernel.pixel_strides = descriptor.pixel_strides;
    kernel.own_threads = descriptor.own_threads;
    kernel.run = descriptor.instances[i].run;
    WHERRY_ENFORCE(kernel.run != nullptr, kInvalidArgument, "kernel ", kernel.id(), " for ", kernel.key.DebugString(),
                   " is registered without .Run()");
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace

struct KernelFactory::Impl {
  using List = std::vector<std::unique_ptr<const Kernel>>;
  // Built-in kernels wait until the op is asked for: a network has few of the ops, and the 3,000 kernels of all of them
  // would take as long to make as a small network takes to load.
  struct OfOp {
    List list;
    std::vector<const KernelDescriptor*> waiting;
  };

  // Everything that is pending is added, then the first error is thrown: one taken name must not lose the others.
  void MergePending() {
    if (!HasPending<KernelDescriptor>()) return;
    // Taken under the lock: who finds nothing pending waits here until what was taken is added.
    const std::unique_lock lock(mutex);
    std::vector<const KernelDescriptor*> taken;
    TakePending<KernelDescriptor>(
        [](const KernelDescriptor* descriptor, void* list) {
          static_cast<std::vector<const KernelDescriptor*>*>(list)->push_back(descriptor);
        },
        &taken);
    std::exception_ptr error;
    for (const KernelDescriptor* descriptor : taken) {
      try {
        AddLocked(*descriptor);
      } catch (const Error&) {
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
  }

  // All kernels of the descriptor or none. The caller holds the lock.
  void AddLocked(const KernelDescriptor& descriptor) {
    OfOp& of_op = kernels[descriptor.op];
    Settle(&of_op);
    Insert(descriptor, &of_op.list);
  }

  static void Insert(const KernelDescriptor& descriptor, List* to) {
    std::vector<Kernel> added = KernelsOf(descriptor);
    List& list = *to;
    for (const Kernel& kernel : added) {
      for (const auto& other : list) {
        WHERRY_ENFORCE(!SameRegistration(kernel, *other), kAlreadyExists, "kernel ", kernel.id(), " for ",
                       kernel.key.DebugString(), " is registered already");
      }
    }
    for (Kernel& kernel : added) {
      auto owned = std::make_unique<const Kernel>(std::move(kernel));
      const auto place = std::upper_bound(list.begin(), list.end(), owned,
                                          [](const auto& a, const auto& b) { return ListedBefore(*a, *b); });
      list.insert(place, std::move(owned));
    }
  }

  // Alone with `of_op`.
  static void Settle(OfOp* of_op) {
    for (const KernelDescriptor* descriptor : std::exchange(of_op->waiting, {})) Insert(*descriptor, &of_op->list);
  }

  std::vector<const Kernel*> Of(std::string_view op) {
    {
      const std::shared_lock lock(mutex);
      const auto found = kernels.find(op);
      if (found == kernels.end()) return {};
      if (found->second.waiting.empty()) return Pointers(found->second.list);
    }
    const std::unique_lock lock(mutex);
    OfOp& of_op = kernels.find(op)->second;
    Settle(&of_op);
    return Pointers(of_op.list);
  }

  static std::vector<const Kernel*> Pointers(const List& list) {
    std::vector<const Kernel*> pointers;
    pointers.reserve(list.size());
    for (const auto& kernel : list) pointers.push_back(kernel.get());
    return pointers;
  }

  std::vector<std::string> Names() {
    std::vector<std::string> names;
    const std::shared_lock lock(mutex);
    for (const auto& [name, of_op] : kernels) names.push_back(name);
    return names;
  }

  std::shared_mutex mutex;
  std::map<std::string, OfOp, std::less<>> kernels;
};

KernelFactory::KernelFactory() : impl_(new Impl) {
  for (const KernelDescriptor* descriptor : BuiltinKernels()) {
    impl_->kernels[descriptor->op].waiting.push_back(descriptor);
  }
}

KernelFactory& KernelFactory::Instance() {
  LoadDefaultPlugins();
  static KernelFactory factory;  // its Impl is never destroyed: threads may outlive main
  factory.impl_->MergePending();
  return factory;
}

bool KernelFactory::Has(std::string_view op) const { return !impl_->Of(op).empty(); }

std::vector<const Kernel*> KernelFactory::Kernels(std::string_view op) const { return impl_->Of(op); }

std::vector<const Kernel*> KernelFactory::List() const {
  std::vector<const Kernel*> kernels;
  for (const std::string& op : impl_->Names()) {
    const std::vector<const Kernel*> of_op = impl_->Of(op);
    kernels.insert(kernels.end(), of_op.begin(), of_op.end());
  }
  return kernels;
}

const Kernel* KernelFactory::SelectKernel(std::string_view op, const KernelKey& key,
                                          const KernelProblem* problem) const {
  return FirstSupporting(MatchingKernels(Kernels(op), key), problem);
}

const Kernel& KernelFactory::SelectKernelOrThrowError(std::string_view op, const KernelKey& key,
                                                      const KernelProblem* problem) const {
  const std::vector<const Kernel*> kernels = Kernels(op);
  if (kernels.empty()) {
    Throw(ErrorCode::kNotFound, "operator ", Quote(op), " has no kernels", DidYouMean(op, impl_->Names()));
  }
  const Kernel* selected = FirstSupporting(MatchingKernels(kernels, key), problem);
  WHERRY_ENFORCE(selected != nullptr, kUnsupported, ExplainNoKernel(op, kernels, key, problem));
  return *selected;
}

const Kernel* KernelFactory::FindKernel(std::string_view op, std::string_view provider, std::string_view variant,
                                        const KernelKey& key) const {
  for (const Kernel* kernel : MatchingKernels(Kernels(op), key)) {
    if (kernel->provider == provider && kernel->variant == variant) return kernel;
  }
  return nullptr;
}

std::vector<KernelCandidate> KernelFactory::Candidates(std::string_view op, const KernelKey& key,
                                                       const KernelProblem* problem) const {
  const std::vector<const Kernel*> kernels = Kernels(op);
  std::vector<KernelCandidate> candidates;
  for (const Kernel* kernel : MatchingKernels(kernels, key)) {
    candidates.push_back({kernel, problem != nullptr ? kernel->Supports(*problem) : Support::Yes()});
  }
  for (const Kernel* kernel : kernels) {
    const std::string difference = KeyDifference(*kernel, key);
    if (!difference.empty()) candidates.push_back({kernel, Support::No(difference)});
  }
  return candidates;
}

void KernelFactory::Add(const KernelDescriptor* descriptor) {
  const std::unique_lock lock(impl_->mutex);
  impl_->AddLocked(*descriptor);
}

}  // namespace wherry
