#include "predictor/cxx_explain_changes.h"

namespace wherry {

namespace {

constexpr size_t kMostText = 1500;

}  // namespace

OpTexts TextsOf(const Program& program) {
  OpTexts texts;
  for (size_t b = 0; b < program.blocks.size(); ++b) {
    const Block& block = program.blocks[b];
    for (size_t i = 0; i < block.ops.size(); ++i) {
      std::string text = block.ops[i].DebugString();
      if (text.size() > kMostText) text = text.substr(0, kMostText) + "...";
      if (i < block.picks.size() && block.picks[i].picked()) {
        const KernelPick& pick = block.picks[i];
        text += " #" + pick.provider + (pick.variant.empty() ? "" : ":" + pick.variant) + "/" + pick.key.DebugString();
      }
      texts[{static_cast<int>(b), block.ops[i].FirstResult()}] = std::move(text);
    }
  }
  return texts;
}

std::vector<OpChange> Differences(const OpTexts& before, const OpTexts& after) {
  std::vector<OpChange> changes;
  for (const auto& [key, text] : before) {
    const auto now = after.find(key);
    if (now == after.end()) {
      changes.push_back({key.first, key.second, text, ""});
    } else if (now->second != text) {
      changes.push_back({key.first, key.second, text, now->second});
    }
  }
  for (const auto& [key, text] : after) {
    if (before.count(key) == 0) changes.push_back({key.first, key.second, "", text});
  }
  return changes;
}

}  // namespace wherry
