// Registrations that come from outside the tree: a program's own objects and plug-ins put themselves on a pending list,
// which the registry of their kind merges on its next use. In the tree nothing of this runs: the descriptors are
// constant data in a table.
#pragma once

namespace wherry {

struct OpDescriptor;
struct KernelDescriptor;
struct ProviderDescriptor;
struct PassDescriptor;
struct ImporterDescriptor;
struct ConverterDescriptor;
struct ImportRuleSet;

// Pushes `this` on the list of its kind at construction (thread-safe, no allocation). The node and its descriptor live
// as long as the object file that holds them is loaded; plug-ins are never unloaded.
template <typename Descriptor>
class PendingNode {
 public:
  explicit PendingNode(const Descriptor* registered) noexcept;

  const Descriptor* descriptor;
  // Mutable: nodes are constants, but the list is turned round when it is taken.
  mutable const PendingNode* next = nullptr;
};

// Takes everything pending, in the order of registration, calling `add` for each; if that throws, the rest is still
// added, then the first exception is rethrown. Defined for the kinds above in op/pending.cc.
template <typename Descriptor>
void TakePending(void (*add)(const Descriptor* descriptor, void* registry), void* registry);
// Whether anything is pending: one relaxed atomic load.
template <typename Descriptor>
bool HasPending() noexcept;

}  // namespace wherry

#ifdef WHERRY_BUILTIN
#define WHERRY_DESCRIPTOR_(Type, symbol) extern "C" constinit const ::wherry::Type symbol
#else
// The anonymous struct keeps the symbol out of the executable's and other plug-ins' reach: an extern one could be
// interposed. The extern "C" anchor is what USE_MIR_PASS and its kin refer to, so that a static library's member is
// linked; one that is interposed does no harm, nobody reads it.
#define WHERRY_DESCRIPTOR_(Type, symbol)                                              \
  namespace {                                                                         \
  struct symbol##_ {                                                                  \
    static const ::wherry::Type descriptor;                                           \
  };                                                                                  \
  const ::wherry::PendingNode<::wherry::Type> symbol##_node_{&symbol##_::descriptor}; \
  }                                                                                   \
  extern "C" {                                                                        \
  extern const char symbol##_anchor;                                                  \
  const char symbol##_anchor = 0;                                                     \
  }                                                                                   \
  constinit const ::wherry::Type symbol##_::descriptor
#endif

// Refers to the anchor of a registration that was made out of the tree, so that a static library's member is linked.
// What USE_KERNEL, USE_PROVIDER and USE_MIR_PASS expand to; belongs outside of functions. `used`: an optimiser would
// drop a constant that nobody reads.
#define WHERRY_USE_(symbol)                                                \
  extern "C" {                                                             \
  extern const char symbol##_anchor;                                       \
  }                                                                        \
  namespace {                                                              \
  __attribute__((used)) const char* const symbol##_use = &symbol##_anchor; \
  }
