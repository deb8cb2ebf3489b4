#include "kernel/plan_cache.h"

#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/never_destroyed.h"

namespace wherry {

namespace {

struct CallKey {
  const Kernel* kernel;
  int threads;
  std::vector<size_t> tensor_counts;  // of each argument, so that metas cannot shift between arguments
  std::vector<MetaTensor> metas;      // of all arguments, then of the outputs
  std::vector<Attribute> attributes;
  std::vector<int8_t> constants;

  friend bool operator==(const CallKey& a, const CallKey& b) {
    if (a.kernel != b.kernel || a.threads != b.threads || a.tensor_counts != b.tensor_counts || a.metas != b.metas ||
        a.constants != b.constants || a.attributes.size() != b.attributes.size()) {
      return false;
    }
    for (size_t i = 0; i < a.attributes.size(); ++i) {
      if (!SameAttribute(a.attributes[i], b.attributes[i])) return false;
    }
    return true;
  }
};

uint64_t HashMeta(uint64_t hash, const MetaTensor& meta) {
  hash = HashCombine(hash, static_cast<uint64_t>(meta.dtype) * 256 + static_cast<uint64_t>(meta.layout));
  hash = HashCombine(hash, static_cast<uint64_t>(meta.pixel_stride));
  for (const Dim& dim : meta.dims)
    hash = HashCombine(hash, dim.known() ? static_cast<uint64_t>(dim.value()) : ~uint64_t{0});
  return hash;
}

struct CallKeyHash {
  size_t operator()(const CallKey& key) const {
    uint64_t hash = HashCombine(reinterpret_cast<uintptr_t>(key.kernel), static_cast<uint64_t>(key.threads));
    for (const MetaTensor& meta : key.metas) hash = HashMeta(hash, meta);
    for (const Attribute& attribute : key.attributes) hash = HashCombine(hash, HashAttribute(attribute));
    return hash;
  }
};

CallKey KeyOf(const Kernel& kernel, const std::vector<BoundArg>& args, std::span<const MetaTensor* const> outputs,
              std::span<const int8_t> constants, int threads) {
  CallKey key{&kernel, threads, {}, {}, {}, {constants.begin(), constants.end()}};
  key.tensor_counts.reserve(args.size());
  for (const BoundArg& arg : args) {
    key.tensor_counts.push_back(arg.tensors.size());
    for (const MetaTensor* meta : arg.tensors) key.metas.push_back(*meta);
    if (arg.attribute != nullptr) key.attributes.push_back(*arg.attribute);
  }
  for (const MetaTensor* meta : outputs) key.metas.push_back(*meta);
  return key;
}

}  // namespace

struct PlanCache::Impl {
  struct Entry {
    const CallKey* key;
    std::shared_ptr<const KernelPlan> plan;
  };
  using Order = std::list<Entry>;  // last used in front

  std::shared_ptr<const KernelPlan> Find(const CallKey& key) {
    const std::scoped_lock lock(mutex);
    const auto found = entries.find(key);
    if (found == entries.end()) return nullptr;
    order.splice(order.begin(), order, found->second);
    return found->second->plan;
  }

  // Another thread may have been faster: its plan stays.
  std::shared_ptr<const KernelPlan> Insert(CallKey key, std::shared_ptr<const KernelPlan> plan) {
    const std::scoped_lock lock(mutex);
    const auto [place, inserted] = entries.try_emplace(std::move(key), Order::iterator());
    if (!inserted) return place->second->plan;
    order.push_front({&place->first, std::move(plan)});
    place->second = order.begin();
    if (entries.size() > capacity) {
      entries.erase(entries.find(*order.back().key));
      order.pop_back();
    }
    return order.front().plan;
  }

  size_t capacity = 0;
  mutable std::mutex mutex;
  Order order;
  std::unordered_map<CallKey, Order::iterator, CallKeyHash> entries;
};

PlanCache::PlanCache(size_t capacity) : impl_(std::make_unique<Impl>()) {
  WHERRY_ENFORCE(capacity > 0, kInvalidArgument, "a plan cache for 0 plans");
  impl_->capacity = capacity;
}
PlanCache::~PlanCache() = default;

std::shared_ptr<const KernelPlan> PlanCache::Get(const Kernel& kernel, const OpSchema& schema,
                                                 const std::vector<BoundArg>& args,
                                                 std::span<const MetaTensor* const> outputs,
                                                 std::span<const int8_t> constants, int threads) {
  CallKey key = KeyOf(kernel, args, outputs, constants, threads);
  if (std::shared_ptr<const KernelPlan> plan = impl_->Find(key)) return plan;
  std::shared_ptr<const KernelPlan> plan = kernel.plan(KernelProblem(schema, args, outputs, constants, threads));
  WHERRY_CHECK(plan != nullptr, "kernel ", kernel.id(), " planned nothing");
  return impl_->Insert(std::move(key), std::move(plan));
}

size_t PlanCache::size() const {
  const std::scoped_lock lock(impl_->mutex);
  return impl_->entries.size();
}

PlanCache& PlanCache::Global() {
  static NeverDestroyed<PlanCache> cache;
  return *cache;
}

}  // namespace wherry
