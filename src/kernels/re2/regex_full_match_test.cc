#include <gtest/gtest.h>

#include <string>

#include "kernel/invoke.h"
#include "op/schema_registry.h"
#include "wherry/error.h"

namespace wherry {
namespace {

bool Matches(const std::string& pattern, const std::string& text) {
  DenseTensor x(HostAllocator(), TensorMeta{DataType::kString, Shape(), DataLayout::kNCHW, 0});
  x.mutable_data<std::string>()[0] = text;
  const OpSchema& schema = SchemaRegistry::Global().Get("regex_full_match");
  return InvokeOp(schema, {{{&x}, {}}, {{}, pattern}}, nullptr)[0][0].data<bool>()[0];
}

TEST(RegexFullMatch, MatchesTheWholeOfIt) {
  EXPECT_TRUE(Matches("", ""));
  EXPECT_FALSE(Matches("", "a"));
  EXPECT_FALSE(Matches("a|bc", "ac"));
  EXPECT_TRUE(Matches("www\\.[\\w.-]+\\.\\bcom\\b", "www.google.com"));
  EXPECT_FALSE(Matches("www\\.[\\w.-]+\\.\\bcom\\b", "www.google.comx"));
  EXPECT_TRUE(Matches(".", "\xE2\x82\xAC"));  // one code point
  EXPECT_TRUE(Matches("\\pL+",
                      "stra\xC3\x9F"
                      "e"));
}

// What takes backtracking engines exponential time.
TEST(RegexFullMatch, IsLinear) { EXPECT_FALSE(Matches("(a|aa)*(a*)*c", std::string(20000, 'a'))); }

TEST(RegexFullMatch, NamesABadPattern) {
  for (const char* pattern : {"(", "a**", "a{1001}", "[b-a]", "((((a{1000}){1000}){1000}))"}) {
    try {
      Matches(pattern, "a");
      ADD_FAILURE() << pattern;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("'a**'") != std::string::npos, std::string(pattern) != "a**");
    }
  }
}

}  // namespace
}  // namespace wherry
