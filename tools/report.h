// The HTML page of `wherry opt --report`.
#pragma once

#include <string>

namespace wherry::tools {

// One page that needs nothing else, for a ModelExplanation as JSON (wherry/explain.h).
std::string ReportPage(const std::string& json);

}  // namespace wherry::tools
