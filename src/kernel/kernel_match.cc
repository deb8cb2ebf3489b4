#include "kernel/kernel_match.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/strings.h"

namespace wherry {

namespace {

constexpr int kNoMatch = -1;
// Enough for every type of one provider; a message is read by people.
constexpr size_t kMaxListedKernels = 24;

// 0 is preferred. The host's and the native target's kernels run on the same memory, so they stand in for each other.
int TargetRank(Target kernel, Target key) {
  const Target native = Target::kNative;
  if (key == Target::kUndefined) key = native;
  const bool any = key == Target::kAny;
  if (kernel == native && (any || key == native || key == Target::kHost)) return 0;
  if (kernel == Target::kHost && (any || key == native || key == Target::kHost)) return 1;
  if (kernel == Target::kAny) return 2;
  if (kernel == key) return 0;
  return any ? 3 : kNoMatch;
}

// `preferred` is what an open part of the key would rather have.
template <typename Part>
int PartRank(Part kernel, Part key, Part preferred) {
  if (key == Part::kAny || key == Part::kUndefined) return kernel == preferred || kernel == Part::kAny ? 0 : 1;
  return kernel == key || kernel == Part::kAny ? 0 : kNoMatch;
}

int TypeRank(const Kernel& kernel, const KernelKey& key) {
  return PartRank(kernel.key.dtype(), key.dtype(), DataType::kFloat);
}
int LayoutRank(const Kernel& kernel, const KernelKey& key) {
  return PartRank(kernel.key.layout(), key.layout(), DataLayout::kNCHW);
}

struct Difference {
  bool target;
  bool type;
  bool layout;
  // Data of another layout or type is converted within the op; another target is another device.
  int distance() const { return (target ? 4 : 0) + (type ? 2 : 0) + (layout ? 1 : 0); }
};

Difference Compare(const Kernel& kernel, const KernelKey& key) {
  return {TargetRank(kernel.key.target(), key.target()) == kNoMatch, TypeRank(kernel, key) == kNoMatch,
          LayoutRank(kernel, key) == kNoMatch};
}

std::string Describe(const Kernel& kernel) { return kernel.id() + " for " + kernel.key.DebugString(); }

// What the best of all kernels still differ in: no kernel has the target; or some have it, but not the type; ...
std::string WhatDiffers(const std::vector<const Kernel*>& kernels, const KernelKey& key) {
  bool same_target = false;
  bool same_type = false;
  for (const Kernel* kernel : kernels) {
    const Difference difference = Compare(*kernel, key);
    if (difference.target) continue;
    same_target = true;
    if (!difference.type) same_type = true;
  }
  if (!same_target) return StrCat("none is for the target ", ToString(key.target()));
  if (!same_type)
    return StrCat("none for the target ", ToString(key.target()), " is for the type ", ToString(key.dtype()));
  return StrCat("none for this target and type is for the layout ", ToString(key.layout()));
}

}  // namespace

std::vector<const Kernel*> MatchingKernels(const std::vector<const Kernel*>& kernels, const KernelKey& key) {
  struct Ranked {
    std::tuple<int, int, int, int, bool, bool> rank;
    const Kernel* kernel;
  };
  std::vector<Ranked> ranked;
  for (const Kernel* kernel : kernels) {
    const Difference difference = Compare(*kernel, key);
    if (difference.distance() != 0) continue;
    ranked.push_back({{TargetRank(kernel->key.target(), key.target()), TypeRank(*kernel, key), LayoutRank(*kernel, key),
                       -kernel->priority, kernel->key.dtype() != key.dtype(), kernel->key.layout() != key.layout()},
                      kernel});
  }
  // Stable: kernels of equal rank stay in the order of the list (provider, variant).
  std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
  std::vector<const Kernel*> matching;
  matching.reserve(ranked.size());
  for (const Ranked& entry : ranked) matching.push_back(entry.kernel);
  return matching;
}

const Kernel* FirstSupporting(const std::vector<const Kernel*>& matching, const KernelProblem* problem) {
  for (const Kernel* kernel : matching) {
    if (problem == nullptr || kernel->Supports(*problem).ok) return kernel;
  }
  return nullptr;
}

std::string KeyDifference(const Kernel& kernel, const KernelKey& key) {
  const Difference difference = Compare(kernel, key);
  std::vector<std::string> parts;
  if (difference.target) {
    parts.push_back(StrCat("target is ", ToString(kernel.key.target()), ", not ", ToString(key.target())));
  }
  if (difference.type) {
    parts.push_back(StrCat("type is ", ToString(kernel.key.dtype()), ", not ", ToString(key.dtype())));
  }
  if (difference.layout) {
    parts.push_back(StrCat("layout is ", ToString(kernel.key.layout()), ", not ", ToString(key.layout())));
  }
  return Join(parts, "; ");
}

std::string ExplainNoKernel(std::string_view op, const std::vector<const Kernel*>& kernels, const KernelKey& key,
                            const KernelProblem* problem) {
  const std::vector<const Kernel*> matching = MatchingKernels(kernels, key);
  std::string message = StrCat("no kernel of ", Quote(op), " for ", key.DebugString(), ": ");
  if (!matching.empty() && problem != nullptr) {
    std::vector<std::string> refusals;
    for (const Kernel* kernel : matching) refusals.push_back(kernel->id() + ": " + kernel->Supports(*problem).reason);
    message += StrCat("all that fit refuse this call (", Join(refusals, "; "), ")");
  } else {
    const Kernel* nearest = *std::min_element(kernels.begin(), kernels.end(), [&key](const Kernel* a, const Kernel* b) {
      return Compare(*a, key).distance() < Compare(*b, key).distance();
    });
    message += StrCat(WhatDiffers(kernels, key), "; the nearest is ", Describe(*nearest), " (",
                      KeyDifference(*nearest, key), ")");
  }
  std::vector<std::string> listed;
  for (const Kernel* kernel : kernels) {
    if (listed.size() < kMaxListedKernels) listed.push_back(Describe(*kernel));
  }
  message += "; registered: " + Join(listed, ", ");
  if (kernels.size() > listed.size()) message += StrCat(" and ", kernels.size() - listed.size(), " more");
  return message;
}

}  // namespace wherry
