#include "report.h"

#include <gtest/gtest.h>

namespace wherry::tools {
namespace {

TEST(ReportTest, DataCannotEndItsElement) {
  const std::string empty = ReportPage("{}");
  const std::string page = ReportPage(R"({"name":"</script><script>alert(1)</script><!--"})");
  EXPECT_NE(page.find(R"("\u003c/script>\u003cscript>alert(1)\u003c/script>\u003c!--")"), std::string::npos);
  const auto count = [](const std::string& text, const std::string& what) {
    size_t found = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(page, "<script"), count(empty, "<script"));
  EXPECT_EQ(count(page, "</script"), count(empty, "</script"));
}

TEST(ReportTest, NeedsNothingElse) {
  const std::string page = ReportPage("{}");
  for (const char* outside : {"src=\"", "href=\"", "url(", "import(", "fetch(", "innerHTML", "eval("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
}

}  // namespace
}  // namespace wherry::tools
