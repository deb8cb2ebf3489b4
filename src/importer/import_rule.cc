#include "importer/import_rule.h"

#include <algorithm>
#include <tuple>

namespace wherry {

namespace {

using RuleKey = std::tuple<std::string_view, std::string_view, std::string_view>;
RuleKey KeyOf(const ImportRule& rule) { return {rule.format, rule.domain, rule.type}; }

}  // namespace

const ImportRule* FindImportRule(std::string_view format, std::string_view domain, std::string_view type, int opset) {
  const std::span<const ImportRule> rules = BuiltinImportRules();
  const RuleKey key{format, domain, type};
  auto rule = std::lower_bound(rules.begin(), rules.end(), key,
                               [](const ImportRule& a, const RuleKey& wanted) { return KeyOf(a) < wanted; });
  for (; rule != rules.end() && KeyOf(*rule) == key; ++rule) {
    if (rule->since <= opset && opset <= rule->until) return &*rule;
  }
  return nullptr;
}

}  // namespace wherry
