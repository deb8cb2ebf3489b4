#include "importer/foreign_op.h"

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"

namespace wherry {

std::vector<std::string> ForeignOp::Slot::Present() const {
  const auto absent = std::find(values.begin(), values.end(), "");
  if (absent == values.end()) return values;
  WHERRY_ENFORCE(values.size() == 1, kCorrupt, "element ", absent - values.begin(), " of the ", values.size(),
                 " in input ", name.empty() ? "" : Quote(name) + " ", "is missing");
  return {};
}

std::string Describe(const ForeignOp& op) {
  const std::string type = op.domain.empty() ? op.type : op.domain + "." + op.type;
  return StrCat("operator ", Quote(type), op.label.empty() ? "" : " named " + Quote(op.label), " (block ", op.block,
                ", number ", op.index, ")");
}

}  // namespace wherry
