#include "report.h"

#include <string_view>

namespace wherry::tools {

// tools/report/, put together by codegen/embed.py.
extern const char kReportPage[];

std::string ReportPage(const std::string& json) {
  const std::string_view page = kReportPage;
  constexpr std::string_view kData = R"(<script id="data" type="application/json">null)";
  const size_t at = page.find(kData) + kData.size() - 4;
  std::string out(page.substr(0, at));
  // Within a string of JSON a name could end the script or begin a comment; only '<' does either.
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out.append(page.substr(at + 4));
}

}  // namespace wherry::tools
