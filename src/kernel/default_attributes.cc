#include "kernel/default_attributes.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "base/never_destroyed.h"

namespace wherry {

const std::vector<Attribute>& DefaultAttributes(const OpSchema& schema) {
  struct Cache {
    std::shared_mutex mutex;
    std::unordered_map<const OpSchema*, std::vector<Attribute>> entries;  // schemas are never unloaded
  };
  static NeverDestroyed<Cache> cache;
  {
    const std::shared_lock lock(cache->mutex);
    const auto found = cache->entries.find(&schema);
    if (found != cache->entries.end()) return found->second;
  }
  std::vector<Attribute> defaults(schema.args.size());
  for (size_t i = 0; i < defaults.size(); ++i) {
    const ArgDef& def = schema.args[i];
    if (def.default_text != nullptr) defaults[i] = ParseAttribute(def.type, def.default_text);
  }
  const std::unique_lock lock(cache->mutex);
  return cache->entries.try_emplace(&schema, std::move(defaults)).first->second;
}

}  // namespace wherry
