#include "kernel/provider.h"

#include <array>
#include <exception>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "kernel/plugin.h"

namespace wherry {

struct ProviderRegistry::Impl {
  // As in KernelFactory: everything pending is added, then the first error is thrown.
  void MergePending() {
    if (!HasPending<ProviderDescriptor>()) return;
    const std::unique_lock lock(mutex);
    std::vector<const ProviderDescriptor*> taken;
    TakePending<ProviderDescriptor>(
        [](const ProviderDescriptor* descriptor, void* list) {
          static_cast<std::vector<const ProviderDescriptor*>*>(list)->push_back(descriptor);
        },
        &taken);
    std::exception_ptr error;
    for (const ProviderDescriptor* descriptor : taken) {
      try {
        AddLocked(descriptor);
      } catch (const Error&) {
        if (!error) error = std::current_exception();
      }
    }
    if (error) std::rethrow_exception(error);
  }

  void AddLocked(const ProviderDescriptor* descriptor) {
    WHERRY_ENFORCE(Find(descriptor->name) == nullptr, kAlreadyExists, "provider ", Quote(descriptor->name),
                   " is registered already");
    providers.push_back(descriptor);
  }

  const ProviderDescriptor* Find(std::string_view name) const {
    for (const ProviderDescriptor* provider : providers) {
      if (provider->name == name) return provider;
    }
    return nullptr;
  }

  std::shared_mutex mutex;
  std::vector<const ProviderDescriptor*> providers;
};

ProviderRegistry::ProviderRegistry() : impl_(new Impl) {
  for (const ProviderDescriptor* descriptor : BuiltinProviders()) impl_->AddLocked(descriptor);
}

ProviderRegistry& ProviderRegistry::Global() {
  LoadDefaultPlugins();
  static ProviderRegistry registry;  // its Impl is never destroyed: threads may outlive main
  registry.impl_->MergePending();
  return registry;
}

const ProviderDescriptor* ProviderRegistry::Find(std::string_view name) const {
  const std::shared_lock lock(impl_->mutex);
  return impl_->Find(name);
}

std::vector<const ProviderDescriptor*> ProviderRegistry::List() const {
  const std::shared_lock lock(impl_->mutex);
  return impl_->providers;
}

void ProviderRegistry::Add(const ProviderDescriptor* descriptor) {
  const std::unique_lock lock(impl_->mutex);
  impl_->AddLocked(descriptor);
}

std::unique_ptr<DeviceContext> CreateDeviceContext(Target target) {
  if (IsHostMemory(target) || target == Target::kUndefined || target == Target::kAny)
    return std::make_unique<CpuContext>();
  std::vector<std::string> refusals;
  for (const ProviderDescriptor* provider : ProviderRegistry::Global().List()) {
    if (provider->target != target || provider->create_context == nullptr) continue;
    std::string why;
    if (provider->available == nullptr || provider->available(&why)) return provider->create_context();
    refusals.push_back(StrCat("provider ", provider->name, ": ", why));
  }
  WHERRY_ENFORCE(!refusals.empty(), kUnavailable, "no context for the target ", ToString(target),
                 ": no provider for it is built in or loaded");
  Throw(ErrorCode::kUnavailable, "no context for the target ", ToString(target), ": ", Join(refusals, "; "));
}

DeviceContext* GetDeviceContextByBackend(Target target) {
  // One slot a target; host targets and "decide for me" are one.
  thread_local std::array<std::unique_ptr<DeviceContext>, static_cast<size_t>(Target::kCustom) + 1> contexts;
  const bool host = IsHostMemory(target) || target == Target::kUndefined || target == Target::kAny;
  std::unique_ptr<DeviceContext>& context = contexts.at(static_cast<size_t>(host ? Target::kHost : target));
  if (context == nullptr) context = CreateDeviceContext(target);
  return context.get();
}

}  // namespace wherry
