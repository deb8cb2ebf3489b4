#include "base/strings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "wherry/text.h"

namespace wherry {
namespace {

TEST(Printable, EscapesWhatATerminalObeys) {
  EXPECT_EQ(Printable("it's a\\b"), "it's a\\b");
  EXPECT_EQ(Printable("y\x1b[31m\n\xff"), "y\\x1b[31m\\n\\xff");
  EXPECT_EQ(Printable("abcd", 2), "ab... (4 bytes)");
}

TEST(JoinTest, PutsTheSeparatorBetween) {
  EXPECT_EQ(Join(std::vector<int>{}, ", "), "");
  EXPECT_EQ(Join(std::vector<int>{1}, ", "), "1");
  EXPECT_EQ(Join(std::vector<std::string>{"a", "b", "c"}, "x"), "axbxc");
}

TEST(QuoteTest, PlainTextIsOnlyQuoted) {
  EXPECT_EQ(Quote(""), "''");
  EXPECT_EQ(Quote("conv2d_0.w_0"), "'conv2d_0.w_0'");
  EXPECT_EQ(Quote("模型/权重 é 😀"), "'模型/权重 é 😀'");
}

TEST(QuoteTest, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Quote("a\nb\t\r\\'"), "'a\\nb\\t\\r\\\\\\''");
  EXPECT_EQ(Quote(std::string_view("\0\x1b[2J\x7f", 6)), "'\\x00\\x1b[2J\\x7f'");
  EXPECT_EQ(Quote("\xc2\x9b"), "'\\xc2\\x9b'");           // C1 control
  EXPECT_EQ(Quote("\xe2\x80\xae"), "'\\xe2\\x80\\xae'");  // right-to-left override
}

TEST(QuoteTest, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(Quote("\xff"), "'\\xff'");
  EXPECT_EQ(Quote("\xc3"), "'\\xc3'");                             // cut short
  EXPECT_EQ(Quote("\xc0\xaf"), "'\\xc0\\xaf'");                    // overlong
  EXPECT_EQ(Quote("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");           // surrogate
  EXPECT_EQ(Quote("\xf4\x90\x80\x80"), "'\\xf4\\x90\\x80\\x80'");  // beyond Unicode
  EXPECT_EQ(Quote("\xe2\x28\xa1"), "'\\xe2(\\xa1'");
}

TEST(QuoteTest, CutsLongTextBetweenCharacters) {
  EXPECT_EQ(Quote("abcdef", 6), "'abcdef'");
  EXPECT_EQ(Quote("abcdef", 3), "'abc'... (6 bytes)");
  EXPECT_EQ(Quote("模型", 4), "'模'... (6 bytes)");
  EXPECT_LT(Quote(std::string(1 << 20, '\x01')).size(), 1000u);
}

// The textbook table, to compare with.
size_t FullEditDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
      } else {
        d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0)});
      }
    }
  }
  return d[a.size()][b.size()];
}

TEST(EditDistanceTest, KnownPairs) {
  EXPECT_EQ(EditDistance("kitten", "sitting", 9), 3u);
  EXPECT_EQ(EditDistance("", "abc", 9), 3u);
  EXPECT_EQ(EditDistance("", "", 0), 0u);
  EXPECT_EQ(EditDistance("abc", "abc", 0), 0u);
  EXPECT_EQ(EditDistance("abc", "abd", 0), 1u);
  EXPECT_EQ(EditDistance(std::string(1000000, 'a'), "a", 3), 4u);
}

TEST(EditDistanceTest, EqualsTheFullTableUpToTheLimit) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string a(random() % 9, ' '), b(random() % 9, ' ');
    for (char& c : a) c = static_cast<char>('a' + random() % 3);
    for (char& c : b) c = static_cast<char>('a' + random() % 3);
    for (size_t limit : {0, 1, 2, 3, 5, 20}) {
      ASSERT_EQ(EditDistance(a, b, limit), std::min(FullEditDistance(a, b), limit + 1))
          << a << " " << b << " " << limit;
    }
  }
}

TEST(NearestNamesTest, NearestFirstThenByName) {
  const std::vector<std::string> ops = {"softmax", "prelu", "relu6", "relu", "conv2d", "conv3d", "relu"};
  EXPECT_EQ(NearestNames("rellu", ops), (std::vector<std::string>{"relu", "prelu", "relu6"}));
  EXPECT_EQ(NearestNames("Relu", ops, 1), (std::vector<std::string>{"relu"}));
  EXPECT_EQ(NearestNames("conv", ops), (std::vector<std::string>{"conv2d", "conv3d"}));
  EXPECT_TRUE(NearestNames("matmul", ops).empty());
  EXPECT_TRUE(NearestNames("xy", {"ab"}).empty());
  EXPECT_TRUE(NearestNames(std::string(100000, 'r'), ops).empty());
}

TEST(DidYouMeanTest, ReadsAsASentence) {
  EXPECT_EQ(DidYouMean("sofmax", {"softmax"}), "; did you mean 'softmax'?");
  EXPECT_EQ(DidYouMean("conv", {"conv2d", "conv3d"}), "; did you mean 'conv2d' or 'conv3d'?");
  EXPECT_EQ(DidYouMean("rellu", {"prelu", "relu", "relu6"}), "; did you mean 'relu', 'prelu' or 'relu6'?");
  EXPECT_EQ(DidYouMean("unheard_of", {"softmax"}), "");
}

}  // namespace
}  // namespace wherry
