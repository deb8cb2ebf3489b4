#include "ir/svg.h"

#include <gtest/gtest.h>

#include "ir/fc_program_test_util.h"
#include "ir/text.h"

namespace wherry {
namespace {

TEST(Svg, DrawsOpsValuesAndBothBlocks) {
  const std::string svg = ToSvg(ParseProgram(R"(
block main(%x : f32[N], %c : bool[]) -> (%y) {
  (out: [%y]) = if(cond: %c, captures: [%x]) blocks(then, else) : f32[N]
}
block then(%p : f32[N]) -> (%p) {
}
block else(%q : f32[N]) -> (%r) {
  %r = exp(x: %q) : f32[N]
}
)"));
  for (const char* text : {">if<", ">exp<", ">main<", ">block2<", "f32[N]", "class=\"control\"", "</svg>"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
}

TEST(Svg, ALongProgramKeepsItsDigits) {
  std::string text = "block main(%v0 : f32[N]) -> (%v20000) {\n";
  for (int i = 0; i < 20000; ++i)
    text += "  %v" + std::to_string(i + 1) + " = exp(x: %v" + std::to_string(i) + ") : f32[N]\n";
  EXPECT_EQ(ToSvg(ParseProgram(text + "}\n")).find("e+0"), std::string::npos);
}

TEST(Text, LeftOutWeightsAreTakenFromThoseGiven) {
  WeightTable weights = ParseProgram(kFcProgram).weights;
  const std::string text = R"(
block main(%x : f32[N,2]) -> (%y) {
  %y = mul(x: %x, y: %w)
}
weight %w : f32[2,2] = {...}
)";
  EXPECT_EQ(ParseProgram(text, weights).weights.size(), 1U);
  EXPECT_THROW(ParseProgram(text), Error);
  weights["w"] = weights["b"];
  EXPECT_THROW(ParseProgram(text, weights), Error);
}

}  // namespace
}  // namespace wherry
