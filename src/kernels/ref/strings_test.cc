#include <gtest/gtest.h>

#include <string>

#include "kernels/ref/letter_case.h"
#include "kernels/ref/number_strings.h"
#include "wherry/error.h"

namespace wherry::ref {
namespace {

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
