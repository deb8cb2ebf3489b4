#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "golden.h"
#include "ir/text.h"
#include "without_plugins.h"

namespace wherry::golden {
namespace {

// Weights that fusions compute are rounded once more than the unfused arithmetic.
constexpr double kTolerance = 1e-5;

class GoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(GoldenTest, Pass) {
  const std::vector<Case> cases = ReadCases(GetParam());
  ASSERT_FALSE(cases.empty());
  if (std::getenv("WHERRY_UPDATE_GOLDEN") != nullptr) {
    WriteCases(GetParam(), cases);
    return;
  }
  bool any_untouched = false;
  for (const Case& test : cases) {
    SCOPED_TRACE(test.file + ", case " + std::to_string(test.number));
    const Program once = Apply(test, 1);
    EXPECT_EQ(PrintProgram(once), test.expected) << "WHERRY_UPDATE_GOLDEN=1 rewrites the file; review the difference";
    if (test.idempotent) {
      EXPECT_EQ(PrintProgram(Apply(test, 2)), test.expected) << "a second run of the pass changes its result";
    }
    if (test.numeric) {
      EXPECT_LE(Compare(test, ParseProgram(test.input), once.Clone()), kTolerance);
    }
    any_untouched = any_untouched || PrintProgram(Apply(test, 0)) == test.expected;
  }
  EXPECT_TRUE(any_untouched) << "no case shows what the pass must leave alone";
}

INSTANTIATE_TEST_SUITE_P(Passes, GoldenTest, testing::ValuesIn(Files()),
                         [](const auto& test) { return std::filesystem::path(test.param).stem().string(); });

}  // namespace
}  // namespace wherry::golden
