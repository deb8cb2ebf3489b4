#include "pass/rearrange.h"

#include <algorithm>
#include <numeric>

namespace wherry::mir {

std::vector<int64_t> Permutation(const Node::Stmt& transpose) {
  std::vector<int64_t> perm = transpose.GetAttr<std::vector<int64_t>>("perm");
  if (perm.empty()) {  // reverses the axes
    perm.resize(static_cast<size_t>(transpose.input("x")->AsArg().type.rank()));
    std::iota(perm.rbegin(), perm.rend(), int64_t{0});
  }
  const auto rank = static_cast<int64_t>(perm.size());
  for (int64_t& axis : perm) axis += axis < 0 ? rank : 0;
  return perm;
}

std::optional<std::vector<int64_t>> ReshapeEntries(const std::vector<Dim>& source, const std::vector<Dim>& wanted) {
  std::vector<int64_t> entries;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool copied = i < source.size() && source[i] == wanted[i];
    entries.push_back(wanted[i].known() ? wanted[i].value() : copied ? 0 : -1);
  }
  if (std::count(entries.begin(), entries.end(), -1) > 1) return std::nullopt;
  return entries;
}

}  // namespace wherry::mir
