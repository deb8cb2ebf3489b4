#include "ir/memory_sharing.h"

#include <algorithm>
#include <utility>

namespace wherry {

namespace {

// Each looks at all values once; a network has far fewer pieces that are in the way.
constexpr int kMostTrials = 256;

size_t Index(int value) { return static_cast<size_t>(value); }

bool UsedAt(const SharingValue& value, int step) {
  return value.first >= 0 && value.first <= step && step <= value.last;
}

// Lifetimes that are any.
std::vector<Lifetime> InArena(const std::vector<Lifetime>& lifetimes) {
  std::vector<Lifetime> used;
  std::copy_if(lifetimes.begin(), lifetimes.end(), std::back_inserter(used),
               [](const Lifetime& life) { return life.first >= 0; });
  return used;
}

// What is decided, and what that leads to.
struct Choice {
  std::vector<bool> shares;
  std::vector<int> roots;
  std::vector<Lifetime> lifetimes;
  ArenaPeak peak;
};

Choice Evaluate(const std::vector<SharingValue>& values, std::vector<bool> shares) {
  Choice choice;
  choice.shares = std::move(shares);
  choice.roots = SharingRoots(values, choice.shares);
  choice.lifetimes = SharingLifetimes(values, choice.roots);
  choice.peak = PeakOf(InArena(choice.lifetimes));
  return choice;
}

bool IsPiece(const std::vector<SharingValue>& values, const SharingValue& value) {
  return value.within >= 0 && value.bytes != values[Index(value.within)].bytes;
}

// Roots that are alive at the peak for the sake of pieces only, those that it would save most without first.
std::vector<int> KeptForPieces(const std::vector<SharingValue>& values, const Choice& choice) {
  std::vector<bool> needed(values.size());
  std::vector<size_t> pieces(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!UsedAt(values[i], choice.peak.step)) continue;
    const size_t root = Index(choice.roots[i]);
    if (values[i].bytes == values[root].bytes) needed[root] = true;
    pieces[root] += values[i].bytes;
  }
  std::vector<std::pair<int64_t, int>> saved;
  for (size_t i = 0; i < values.size(); ++i) {
    const Lifetime& life = choice.lifetimes[i];
    const bool alive = life.first >= 0 && life.first <= choice.peak.step && choice.peak.step <= life.last;
    if (!alive || needed[i]) continue;
    saved.emplace_back(static_cast<int64_t>(pieces[i]) - static_cast<int64_t>(life.bytes), static_cast<int>(i));
  }
  std::sort(saved.begin(), saved.end());
  std::vector<int> roots;
  for (const auto& [less, root] : saved) roots.push_back(root);
  return roots;
}

// Takes out of a root what keeps it alive at the peak.
std::vector<bool> WithoutPieces(const std::vector<SharingValue>& values, const Choice& choice, int root) {
  std::vector<bool> shares = choice.shares;
  for (size_t i = 0; i < values.size(); ++i) {
    if (choice.roots[i] != root || static_cast<int>(i) == root || !UsedAt(values[i], choice.peak.step)) continue;
    size_t piece = i;
    while (values[piece].within != root) piece = Index(values[piece].within);
    shares[piece] = false;
  }
  return shares;
}

}  // namespace

std::vector<int> SharingRoots(const std::vector<SharingValue>& values, const std::vector<bool>& shares) {
  std::vector<int> roots(values.size(), -1);
  std::vector<size_t> path;  // chains are long, so each is followed once
  for (size_t i = 0; i < values.size(); ++i) {
    size_t at = i;
    for (; roots[at] < 0 && shares[at]; at = Index(values[at].within)) path.push_back(at);
    if (roots[at] < 0) roots[at] = static_cast<int>(at);
    for (const size_t on_path : path) roots[on_path] = roots[at];
    path.clear();
  }
  return roots;
}

std::vector<Lifetime> SharingLifetimes(const std::vector<SharingValue>& values, const std::vector<int>& roots) {
  std::vector<Lifetime> lifetimes(values.size(), {0, -1, -1});
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t root = Index(roots[i]);
    if (values[i].first < 0 || !values[root].in_arena) continue;
    Lifetime& life = lifetimes[root];
    life.bytes = values[root].bytes;
    life.first = life.first < 0 ? values[i].first : std::min(life.first, values[i].first);
    life.last = std::max(life.last, values[i].last);
  }
  return lifetimes;
}

std::vector<bool> WeighSharing(const std::vector<SharingValue>& values) {
  std::vector<bool> all(values.size());
  std::vector<bool> none(values.size());  // no pieces
  for (size_t i = 0; i < values.size(); ++i) {
    all[i] = values[i].within >= 0;
    none[i] = all[i] && !IsPiece(values, values[i]);
  }
  if (all == none) return all;
  Choice best = Evaluate(values, all);
  int trials = 0;
  for (bool better = true; better;) {
    better = false;
    for (const int root : KeptForPieces(values, best)) {
      if (++trials > kMostTrials) break;
      Choice trial = Evaluate(values, WithoutPieces(values, best, root));
      better = std::pair(trial.peak.bytes, trial.peak.steps) < std::pair(best.peak.bytes, best.peak.steps);
      if (!better) continue;
      best = std::move(trial);
      break;
    }
  }
  const size_t size = PlanArena(InArena(best.lifetimes)).size;
  // Nothing needs less than what is alive at the peak for its own sake.
  if (size == best.peak.bytes && KeptForPieces(values, best).empty()) return best.shares;
  // One change may take another to pay, and offsets are found one by one, so that less alive may still take more.
  std::vector<bool> chosen = best.shares;
  size_t smallest = size;
  for (const std::vector<bool>* other : {&all, &none}) {
    const size_t with = PlanArena(InArena(Evaluate(values, *other).lifetimes)).size;
    if (with >= smallest) continue;
    smallest = with;
    chosen = *other;
  }
  return chosen;
}

}  // namespace wherry
