#include "ir/text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error_test_util.h"

namespace wherry {
namespace {

std::string ParseError(const std::string& text) {
  return ErrorText([&] { ParseProgram(text); });
}

TEST(TextTest, PrintsWhatItParses) {
  const std::string text = R"(meta "producer" = "a \"b\"\n"
weight %"a b" : f32[2] = [0.1, nan]
weight %w : i64[3] = [1, -2, 9223372036854775807]
block main(%x : f32[N,(2*N+1)], %c : bool[]) -> (%y as "out", %x as "x") {
  %s = shape(x: %x) : i64[2] = [N, (2*N+1)]
  %a = relu(x: %x) @"first" #cpu:fast/x86/f32/any : f32[N,(2*N+1)]
  %b = exp(x: %a) alias(%b = %a) : f32[N,(2*N+1)]
  (out: [%y]) = if(cond: %c, captures: [%b]) blocks(block1, block2) : f32[N,(2*N+1)]
}
block block1(%p : f32[N,(2*N+1)]) -> (%p) {
}
block block2(%p : f32[N,(2*N+1)]) -> (%q) {
  %q = leaky_relu(x: %p) {negative_slope = 0.125} : f32[N,(2*N+1)]
}
)";
  std::string printed = PrintProgram(ParseProgram(text));
  // A NaN's payload is kept by base64; the list is for people who write tests.
  EXPECT_NE(printed.find("weight %\"a b\" : f32[2] = base64\""), std::string::npos) << printed;
  EXPECT_EQ(PrintProgram(ParseProgram(printed)), printed);
  printed.replace(printed.find("base64"), printed.find('\n', printed.find("base64")) - printed.find("base64"),
                  "[0.1, nan]");
  EXPECT_EQ(printed, text);
}

TEST(TextTest, ErrorsSayWhere) {
  EXPECT_NE(ParseError("block main() -> () {\n  %y = rleu()\n}").find("line 2, column 8: unknown operator 'rleu'"),
            std::string::npos)
      << ParseError("block main() -> () {\n  %y = rleu()\n}");
  EXPECT_NE(ParseError("block main(%x : f32[2]) -> (%z) {\n}").find("uses value 'z'"), std::string::npos);
  EXPECT_NE(ParseError("block main(%x : f32[2]) -> (%x) {\n  %x = relu(x: %x)\n}").find("already defined"),
            std::string::npos);
  EXPECT_NE(ParseError("weight %w : f32[1000000000] = [1]").find("larger than the text"), std::string::npos);
  EXPECT_NE(ParseError("block main(%x : f32[").find("line 1"), std::string::npos);
}

// Sharing memory in a circle, or writing over an input, is no program.
TEST(TextTest, AliasesComeFromEarlierResults) {
  const std::string circle = R"(
block main(%x : f32[2]) -> (%b) {
  %a = relu(x: %x) alias(%a = %b)
  %b = exp(x: %a) alias(%b = %a)
}
)";
  EXPECT_NE(ParseError(circle).find("not the result of an earlier op"), std::string::npos) << ParseError(circle);
  const std::string input = "block main(%x : f32[2]) -> (%a) {\n  %a = relu(x: %x) alias(%a = %x)\n}";
  EXPECT_NE(ParseError(input).find("not the result of an earlier op"), std::string::npos) << ParseError(input);
}

}  // namespace
}  // namespace wherry
