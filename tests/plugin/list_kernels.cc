// Prints every pass, provider and kernel: what default_plugins_test.py looks at.
#include <cstdio>

#include "kernel/kernel_registry.h"
#include "kernel/provider.h"
#include "wherry/error.h"
#include "wherry/program.h"

int main() {
  try {
    for (const wherry::PassInfo& pass : wherry::ListPasses()) std::printf("pass %s\n", pass.name.c_str());
    for (const wherry::ProviderDescriptor* provider : wherry::ProviderRegistry::Global().List()) {
      std::printf("provider %s\n", provider->name);
    }
    for (const wherry::Kernel* kernel : wherry::KernelFactory::Instance().List()) {
      std::printf("kernel %s\n", kernel->id().c_str());
    }
  } catch (const wherry::Error& error) {
    std::printf("error %s\n", error.what());
    return 1;
  }
  return 0;
}
