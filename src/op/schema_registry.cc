#include "op/schema_registry.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "base/check.h"
#include "base/strings.h"
#include "op/pending.h"

namespace wherry {

struct SchemaRegistry::Impl {
  // Names point into descriptors, which are never freed.
  std::unordered_map<std::string_view, const OpSchema*> schemas;
  std::shared_mutex mutex;

  // All of the descriptor's names or none. The caller holds the lock.
  void AddLocked(const OpDescriptor* descriptor) {
    const auto check = [&](std::string_view name) {
      const auto found = schemas.find(name);
      WHERRY_ENFORCE(found == schemas.end(), kAlreadyExists, "op ", Quote(descriptor->name), ": the name ", Quote(name),
                     " is taken by op ", Quote(found->second->name));
    };
    check(descriptor->name);
    for (const char* alias : descriptor->aliases) check(alias);
    schemas.emplace(descriptor->name, descriptor);
    for (const char* alias : descriptor->aliases) schemas.emplace(alias, descriptor);
  }

  void MergePending() {
    if (!HasPending<OpDescriptor>()) return;
    // Taken under the lock: who finds nothing pending waits for it until what was taken is added.
    const std::unique_lock lock(mutex);
    TakePending<OpDescriptor>(
        [](const OpDescriptor* descriptor, void* impl) { static_cast<Impl*>(impl)->AddLocked(descriptor); }, this);
  }
};

SchemaRegistry::SchemaRegistry() : impl_(new Impl) {
  for (const OpDescriptor* descriptor : BuiltinOps()) impl_->AddLocked(descriptor);
}

SchemaRegistry& SchemaRegistry::Global() {
  static SchemaRegistry registry;  // its Impl is never destroyed: threads may outlive main
  registry.impl_->MergePending();
  return registry;
}

const OpSchema* SchemaRegistry::Find(std::string_view name) const {
  const std::shared_lock lock(impl_->mutex);
  const auto found = impl_->schemas.find(name);
  return found == impl_->schemas.end() ? nullptr : found->second;
}

const OpSchema& SchemaRegistry::Get(std::string_view name) const {
  if (const OpSchema* schema = Find(name)) return *schema;
  std::vector<std::string> names;
  {
    const std::shared_lock lock(impl_->mutex);
    for (const auto& [known, schema] : impl_->schemas) names.emplace_back(known);
  }
  Throw(ErrorCode::kNotFound, "there is no op ", Quote(name), DidYouMean(name, names));
}

std::vector<const OpSchema*> SchemaRegistry::List() const {
  std::vector<const OpSchema*> list;
  {
    const std::shared_lock lock(impl_->mutex);
    for (const auto& [name, schema] : impl_->schemas) {
      if (name == schema->name) list.push_back(schema);  // not an alias
    }
  }
  std::sort(list.begin(), list.end(),
            [](const OpSchema* a, const OpSchema* b) { return std::string_view(a->name) < b->name; });
  return list;
}

void SchemaRegistry::Add(const OpDescriptor* descriptor) {
  const std::unique_lock lock(impl_->mutex);
  impl_->AddLocked(descriptor);
}

}  // namespace wherry
