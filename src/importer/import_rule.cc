#include "importer/import_rule.h"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "base/never_destroyed.h"
#include "base/strings.h"
#include "op/pending.h"

namespace wherry {

namespace {

using RuleKey = std::tuple<std::string_view, std::string_view, std::string_view>;
RuleKey KeyOf(const ImportRule& rule) { return {rule.format, rule.domain, rule.type}; }

const ImportRule* FindBuiltin(const RuleKey& key, int since, int until) {
  const std::span<const ImportRule> rules = BuiltinImportRules();
  auto rule = std::lower_bound(rules.begin(), rules.end(), key,
                               [](const ImportRule& a, const RuleKey& wanted) { return KeyOf(a) < wanted; });
  for (; rule != rules.end() && KeyOf(*rule) == key; ++rule) {
    if (rule->since <= until && since <= rule->until) return &*rule;
  }
  return nullptr;
}

// Those of programs and plug-ins: a few, searched one by one.
class RegisteredRules {
 public:
  static RegisteredRules& Global() {
    static NeverDestroyed<RegisteredRules> rules;
    return *rules;
  }

  const ImportRule* Find(const RuleKey& key, int since, int until) {
    const std::lock_guard lock(mutex_);
    if (HasPending<ImportRuleSet>()) TakePending<ImportRuleSet>(&Add, this);
    return FindLocked(key, since, until);
  }

 private:
  const ImportRule* FindLocked(const RuleKey& key, int since, int until) const {
    for (const ImportRule* rule : rules_) {
      if (KeyOf(*rule) == key && rule->since <= until && since <= rule->until) return rule;
    }
    return nullptr;
  }

  // Called by TakePending, with the lock held.
  static void Add(const ImportRuleSet* set, void* registry) {
    auto* self = static_cast<RegisteredRules*>(registry);
    const ImportRule* refused = nullptr;
    const ImportRule* holder = nullptr;
    for (const ImportRule& rule : set->rules) {
      const RuleKey key = KeyOf(rule);
      const ImportRule* other = FindBuiltin(key, rule.since, rule.until);
      if (other == nullptr) other = self->FindLocked(key, rule.since, rule.until);
      if (other == nullptr) {
        self->rules_.push_back(&rule);
      } else if (refused == nullptr) {
        refused = &rule;
        holder = other;
      }
    }
    WHERRY_ENFORCE(refused == nullptr, kAlreadyExists, "operator ", refused->op, ": ", refused->format, " ",
                   Quote(refused->type), " is imported as ", holder->op, " already");
  }

  std::mutex mutex_;
  std::vector<const ImportRule*> rules_;
};

}  // namespace

const ImportRule* FindImportRule(std::string_view format, std::string_view domain, std::string_view type, int opset) {
  const RuleKey key{format, domain, type};
  const ImportRule* rule = FindBuiltin(key, opset, opset);
  return rule != nullptr ? rule : RegisteredRules::Global().Find(key, opset, opset);
}

}  // namespace wherry
