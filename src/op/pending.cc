#include "op/pending.h"

#include <atomic>
#include <exception>

namespace wherry {
namespace {

// Newest first. Constant initialisation: constructors of other files push before any constructor here could have run.
template <typename Descriptor>
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): what registers itself has only this to go to
constinit std::atomic<const PendingNode<Descriptor>*> pending_head{nullptr};

}  // namespace

template <typename Descriptor>
PendingNode<Descriptor>::PendingNode(const Descriptor* registered) noexcept : descriptor(registered) {
  next = pending_head<Descriptor>.load(std::memory_order_relaxed);
  while (!pending_head<Descriptor>.compare_exchange_weak(next, this, std::memory_order_release,
                                                         std::memory_order_relaxed)) {
  }
}

template <typename Descriptor>
void TakePending(void (*add)(const Descriptor* descriptor, void* registry), void* registry) {
  const PendingNode<Descriptor>* newest = pending_head<Descriptor>.exchange(nullptr, std::memory_order_acquire);
  const PendingNode<Descriptor>* oldest = nullptr;
  while (newest != nullptr) {  // turn the list round
    const PendingNode<Descriptor>* older = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = older;
  }
  std::exception_ptr error;
  for (const PendingNode<Descriptor>* node = oldest; node != nullptr; node = node->next) {
    try {
      add(node->descriptor, registry);
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

template <typename Descriptor>
bool HasPending() noexcept {
  return pending_head<Descriptor>.load(std::memory_order_relaxed) != nullptr;
}

#define WHERRY_PENDING_KIND(Descriptor)                                             \
  template class PendingNode<Descriptor>;                                           \
  template void TakePending<Descriptor>(void (*)(const Descriptor*, void*), void*); \
  template bool HasPending<Descriptor>() noexcept;

WHERRY_PENDING_KIND(OpDescriptor)
WHERRY_PENDING_KIND(KernelDescriptor)
WHERRY_PENDING_KIND(ProviderDescriptor)
WHERRY_PENDING_KIND(PassDescriptor)
WHERRY_PENDING_KIND(ImporterDescriptor)
WHERRY_PENDING_KIND(ConverterDescriptor)
WHERRY_PENDING_KIND(ImportRuleSet)

}  // namespace wherry
