// Providers: sources of kernels. A provider whose kernels need a device of their own also says how to make a context
// for it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/device_context.h"
#include "op/pending.h"

namespace wherry {

struct ProviderDescriptor {
  const char* name;  // the folder: "opencl"
  const char* doc;   // one line
  Target target;     // where its kernels run
  // Whether it can work here; if not, `why` says what is missing. Null: always.
  bool (*available)(std::string* why);
  // A context on the device; Error(kUnavailable) when there is none. Null: kernels run with a CpuContext.
  std::unique_ptr<DeviceContext> (*create_context)();
};

// Generated from the registrations under src/kernels.
std::span<const ProviderDescriptor* const> BuiltinProviders();

// Thread-safe.
class ProviderRegistry {
 public:
  static ProviderRegistry& Global();
  const ProviderDescriptor* Find(std::string_view name) const;
  std::vector<const ProviderDescriptor*> List() const;
  void Add(const ProviderDescriptor* descriptor);  // Error(kAlreadyExists)

 private:
  ProviderRegistry();
  struct Impl;
  Impl* impl_;
};

// A new context for a target: a CpuContext for host targets, else what the provider of that target makes.
// Error(kUnavailable) that says what is missing when the target has no provider or it cannot work here.
std::unique_ptr<DeviceContext> CreateDeviceContext(Target target);
// The calling thread's context for eager calls, made on first use (CpuContext: one thread).
DeviceContext* GetDeviceContextByBackend(Target target);

}  // namespace wherry

#define REGISTER_PROVIDER(name, doc, target, available, create_context)                           \
  WHERRY_DESCRIPTOR_(ProviderDescriptor, wherry_provider_##name) = ::wherry::ProviderDescriptor { \
#name, doc, ::wherry::Target::target, available, create_context                               \
  }

// Keeps a provider that was registered out of the tree, in a static library.
#define USE_PROVIDER(name) WHERRY_USE_(wherry_provider_##name)
