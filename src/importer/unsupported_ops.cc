#include "importer/unsupported_ops.h"

#include "base/check.h"
#include "base/strings.h"

namespace wherry {

void UnsupportedOps::Add(const ForeignOp& op, const std::string& reason) {
  const std::string type = op.domain.empty() ? op.type : op.domain + "." + op.type;
  Places& places = found_[{type, reason}];
  if (places.count++ == 0) {
    places.first = StrCat("block ", op.block, ", number ", op.index, op.label.empty() ? "" : ", " + Quote(op.label));
  }
}

void UnsupportedOps::Report(const std::string& model, std::vector<std::string>* list) const {
  if (found_.empty()) return;
  constexpr size_t kMostLines = 100;
  std::vector<std::string> lines;
  for (const auto& [key, places] : found_) {
    if (lines.size() == kMostLines) {
      lines.push_back(StrCat("and ", found_.size() - kMostLines, " more"));
      break;
    }
    const auto& [type, reason] = key;
    lines.push_back(StrCat(Quote(type), reason.empty() ? "" : ": " + reason, " (", places.count,
                           places.count == 1 ? " place: " : " places, first: ", places.first, ")"));
  }
  if (list != nullptr) {
    for (const std::string& line : lines) list->push_back("operator " + line);
    return;
  }
  Throw(ErrorCode::kUnsupported, model, " has operators that Wherry does not support: ", Join(lines, "; "));
}

}  // namespace wherry
