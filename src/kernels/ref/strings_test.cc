#include <gtest/gtest.h>

#include <string>

#include "kernels/ref/letter_case.h"
#include "kernels/ref/number_strings.h"
#include "kernels/ref/regex.h"
#include "wherry/error.h"

namespace wherry::ref {
namespace {

bool Matches(const char* pattern, const char* text) { return Regex(pattern).MatchesAll(text); }

TEST(Regex, Matches) {
  EXPECT_TRUE(Matches("", ""));
  EXPECT_FALSE(Matches("", "a"));
  EXPECT_TRUE(Matches("a|bc", "bc"));
  EXPECT_FALSE(Matches("a|bc", "ac"));
  EXPECT_TRUE(Matches("(a|b)*c", "ababc"));
  EXPECT_TRUE(Matches("a{2,3}", "aaa"));
  EXPECT_FALSE(Matches("a{2,3}", "aaaa"));
  EXPECT_TRUE(Matches("(ab){2}x{0}", "abab"));
  EXPECT_TRUE(Matches("a{,3}", "a{,3}"));
  EXPECT_TRUE(Matches("www\\.[\\w.-]+\\.\\bcom\\b", "www.google.com"));
  EXPECT_FALSE(Matches("www\\.[\\w.-]+\\.\\bcom\\b", "www.google.comx"));
  EXPECT_TRUE(Matches("[^\\d\\s]+", "a-\xC3\xA4"));
  EXPECT_TRUE(Matches("[[:upper:]][]a-]*", "X]-a"));
  EXPECT_TRUE(
      Matches("(?i)stra\xC3\x9F"
              "e(?-i:X)",
              "STRA\xC3\x9F"
              "EX"));
  EXPECT_FALSE(Matches("(?i)a(?-i:X)", "Ax"));
  EXPECT_TRUE(Matches("(?P<name>.)\\x41\\x{42}\\Q.*\\E", "zAB.*"));
  EXPECT_FALSE(Matches(".", "\n"));
  EXPECT_TRUE(Matches("(?s).", "\n"));
  EXPECT_TRUE(Matches("(?m)a$\n^b", "a\nb"));
  EXPECT_TRUE(Matches(".", "\xE2\x82\xAC"));  // one code point
  EXPECT_TRUE(Matches("(a*)*b", "aaaab"));
}

// What takes backtracking engines exponential time.
TEST(Regex, IsLinear) { EXPECT_FALSE(Matches("(a|aa)*(a*)*c", std::string(20000, 'a').c_str())); }

TEST(Regex, Refuses) {
  for (const char* pattern :
       {"(", ")", "[", "*", "a**", "\\", "a{2,1}", "a{1001}", "[b-a]", "\\y", "(?z)", "\\x{110000}"})
    EXPECT_THROW(Regex{pattern}, Error) << pattern;
  EXPECT_THROW(Regex{"\\pL"}, Error);
  EXPECT_THROW(Regex{"((((a{1000}){1000}){1000}))"}, Error);
  EXPECT_THROW(Regex{std::string(1000, '(')}, Error);
}

TEST(LetterCase, OfUtf8) {
  EXPECT_EQ(UpperCase("stra\xC3\xA4 \xD1\x91\xD0\xB1 \xC3\xBF"), "STRA\xC3\x84 \xD0\x81\xD0\x91 \xC5\xB8");
  EXPECT_EQ(LowerCase("X\xC3\x84\xCE\xA3\xC4\x80\xE2\x82\xAC\xFF"), "x\xC3\xA4\xCF\x83\xC4\x81\xE2\x82\xAC\xFF");
}

TEST(NumberStrings, ReadAndWrite) {
  EXPECT_EQ(NumberOf(" -1.5e3\n"), -1500.0);
  EXPECT_EQ(NumberOf("+INF"), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(NumberOf("NaN")));
  EXPECT_EQ(NumberOf("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(NumberOf("-1e-400"), 0.0);
  EXPECT_EQ(IntegerOf("9007199254740993"), 9007199254740993);
  EXPECT_EQ(IntegerOf("3.9"), 3);
  for (const char* text : {"", " ", "1x", "0x10", "--1", "e"}) EXPECT_THROW(NumberOf(text), Error) << text;
  EXPECT_EQ(NumberString(0.1F), "0.1");
  EXPECT_EQ(NumberString(int8_t{-3}), "-3");
  EXPECT_EQ(NumberString(true), "True");
}

}  // namespace
}  // namespace wherry::ref
