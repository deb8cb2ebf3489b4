#include "core/dim.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "wherry/error.h"

namespace wherry {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

class DimTest : public testing::Test {
 protected:
  // The same Dim from its text, and the same text in another table.
  void ExpectText(const Dim& dim, const std::string& text) {
    EXPECT_EQ(dim.DebugString(), text);
    EXPECT_EQ(table_.Parse(text), dim) << text;
    SymbolTable other;
    EXPECT_EQ(other.Parse(text).DebugString(), text);
  }

  SymbolTable table_;
  const Dim n_ = table_.Symbol("N");
  const Dim c_ = table_.Symbol("C");
  const Dim h_ = table_.Symbol("H");
  const Dim w_ = table_.Symbol("W");
};

TEST_F(DimTest, NumbersArePlain) {
  EXPECT_EQ(Dim(2) + Dim(3), Dim(5));
  EXPECT_EQ(Dim(2) - Dim(3), Dim(-1));
  EXPECT_EQ(Dim(2) * Dim(3), Dim(6));
  EXPECT_EQ(FloorDiv(-7, 2), Dim(-4));
  EXPECT_EQ(FloorDiv(7, -2), Dim(-4));
  EXPECT_EQ(FloorDiv(-7, -2), Dim(3));
  EXPECT_EQ(CeilDiv(7, 2), Dim(4));
  EXPECT_EQ(CeilDiv(-7, 2), Dim(-3));
  EXPECT_EQ(Mod(-7, 3), Dim(2));
  EXPECT_EQ(Mod(7, -3), Dim(-2));
  EXPECT_EQ(Mod(kMin, -1), Dim(0));
  EXPECT_EQ(Max(2, 3), Dim(3));
  EXPECT_EQ(Min(2, 3), Dim(2));
  EXPECT_EQ(Product({2, 3, 4}), Dim(24));
  EXPECT_EQ(Product({}), Dim(1));
  EXPECT_EQ(Product({kMax, kMax, 0}), Dim(0));
  EXPECT_EQ(Dim(), Dim(0));
}

TEST_F(DimTest, NumbersThatOverflowAreErrors) {
  EXPECT_THROW(Dim(kMax) + Dim(1), Error);
  EXPECT_THROW(Dim(kMin) - Dim(1), Error);
  EXPECT_THROW(Dim(kMax) * Dim(2), Error);
  EXPECT_THROW(FloorDiv(kMin, -1), Error);
  EXPECT_THROW(FloorDiv(1, 0), Error);
  EXPECT_THROW(FloorDiv(n_, 0), Error);
  EXPECT_THROW(Mod(1, 0), Error);
  EXPECT_THROW(n_.value(), Error);
  EXPECT_THROW(n_ * kMax * 2, Error);
  EXPECT_THROW(FloorDiv(n_, kMin), Error);
}

TEST_F(DimTest, EqualExpressionsAreEqual) {
  EXPECT_EQ(table_.Symbol("N"), n_);
  EXPECT_NE(n_, c_);
  EXPECT_EQ((h_ + 1) + 1, h_ + 2);
  EXPECT_EQ(h_ + w_, w_ + h_);
  EXPECT_EQ((h_ + w_) - w_, h_);
  EXPECT_EQ(h_ - h_, Dim(0));
  EXPECT_EQ(h_ * 0, Dim(0));
  EXPECT_EQ(h_ * 1, h_);
  EXPECT_EQ((h_ + 1) * (h_ - 1), h_ * h_ - 1);
  EXPECT_EQ((h_ + w_) * (h_ + w_), h_ * h_ + 2 * h_ * w_ + w_ * w_);
}

TEST_F(DimTest, Division) {
  EXPECT_EQ(FloorDiv(h_ * 2, 2), h_);
  EXPECT_EQ(FloorDiv(h_ * 2 + 1, 2), h_);
  EXPECT_EQ(FloorDiv(h_ * 3, 2), h_ + FloorDiv(h_, 2));
  EXPECT_EQ(FloorDiv(h_ - 1, 2) + 1, FloorDiv(h_ + 1, 2));
  EXPECT_EQ(FloorDiv(h_ - 1, 2) + 1, CeilDiv(h_, 2));
  EXPECT_EQ(FloorDiv(h_ * 6 + 4, 9), FloorDiv(h_ * 2 + 1, 3));
  EXPECT_EQ(FloorDiv(FloorDiv(h_, 2), 2), FloorDiv(h_, 4));
  EXPECT_EQ(FloorDiv(FloorDiv(h_ + 1, 2) + 1, 2), FloorDiv(h_ + 3, 4));
  EXPECT_EQ(FloorDiv(h_, 1), h_);
  EXPECT_EQ(FloorDiv(h_, -2), FloorDiv(Dim(0) - h_, 2));
  EXPECT_EQ(FloorDiv(h_, h_), Dim(1));
  EXPECT_EQ(FloorDiv(n_ * c_, c_), n_);
  EXPECT_EQ(FloorDiv(n_ * c_ * h_, c_ * w_), FloorDiv(n_ * h_, w_));
  EXPECT_EQ(FloorDiv(n_ * c_, c_ * 2), FloorDiv(n_, 2));
  EXPECT_EQ(FloorDiv(n_ * c_ + h_, c_), n_ + FloorDiv(h_, c_));
  EXPECT_EQ(FloorDiv(h_, Dim(0) - c_), FloorDiv(Dim(0) - h_, c_));
  EXPECT_EQ(Mod(h_ * 4, 2), Dim(0));
  EXPECT_EQ(Mod(h_ * 4 + 3, 2), Dim(1));
  EXPECT_EQ(Mod(h_, 2) + 2 * FloorDiv(h_, 2), h_);
}

TEST_F(DimTest, ExactDivision) {
  EXPECT_EQ(ExactDiv(2 * n_ * c_, c_), 2 * n_);
  EXPECT_EQ(ExactDiv(2 * n_ * c_, 2), n_ * c_);
  EXPECT_EQ(ExactDiv(n_ * c_ + n_ * h_, c_ + h_), n_);
  EXPECT_EQ(ExactDiv(h_ * h_ - 1, h_ + 1), h_ - 1);
  EXPECT_EQ(ExactDiv(n_ * FloorDiv(h_, 2), FloorDiv(h_, 2)), n_);
  EXPECT_EQ(ExactDiv(12, 4), Dim(3));
  EXPECT_EQ(ExactDiv(0, n_), Dim(0));
  EXPECT_EQ(ExactDiv(n_, n_), Dim(1));
  EXPECT_EQ(ExactDiv(13, 4), std::nullopt);
  EXPECT_EQ(ExactDiv(1, 0), std::nullopt);
  EXPECT_EQ(ExactDiv(n_, 0), std::nullopt);
  EXPECT_EQ(ExactDiv(n_, 2), std::nullopt);
  EXPECT_EQ(ExactDiv(n_, c_), std::nullopt);
  EXPECT_EQ(ExactDiv(6, n_), std::nullopt);
  EXPECT_EQ(ExactDiv(n_ * c_ + 1, c_), std::nullopt);
}

TEST_F(DimTest, MaxAndMin) {
  EXPECT_EQ(Max(h_, h_), h_);
  EXPECT_EQ(Max(h_, h_ + 1), h_ + 1);
  EXPECT_EQ(Min(h_, h_ + 1), h_);
  EXPECT_EQ(Max(h_, 0), h_);
  EXPECT_EQ(Min(h_, 0), Dim(0));
  EXPECT_EQ(Max(h_, h_ + w_), h_ + w_);
  EXPECT_EQ(Max(Max(h_, w_), c_), Max(c_, Max(w_, h_)));
  EXPECT_EQ(Max(Max(h_, w_), h_), Max(w_, h_));
  EXPECT_EQ(Max(Max(h_, w_), h_ + 3), Max(w_, h_ + 3));
  EXPECT_EQ(Max(Min(h_, w_), 0), Min(h_, w_));
  // A symbolic dimension may be 0, so these stay.
  EXPECT_EQ(Max(h_, 1).DebugString(), "max(1, H)");
  EXPECT_EQ(Max(h_ - 1, 0).DebugString(), "max(0, (H-1))");
  EXPECT_EQ(Max(n_ + kMin, 0).known(), false);
  // A symbol of any integer.
  const Dim any = table_.Symbol("~start");
  EXPECT_FALSE(Max(any, 0).known() || Max(any, 0) == any);
}

TEST_F(DimTest, Broadcasting) {
  EXPECT_EQ(BroadcastDim(3, 3), Dim(3));
  EXPECT_EQ(BroadcastDim(1, 3), Dim(3));
  EXPECT_EQ(BroadcastDim(3, 1), Dim(3));
  EXPECT_EQ(BroadcastDim(0, 1), Dim(0));
  EXPECT_EQ(BroadcastDim(2, 3), std::nullopt);
  EXPECT_EQ(BroadcastDim(0, 3), std::nullopt);
  EXPECT_EQ(BroadcastDim(n_, 1), n_);
  EXPECT_EQ(BroadcastDim(n_, n_), n_);
  EXPECT_EQ(BroadcastDim(n_, 3), Dim(3));
  const Dim both = *BroadcastDim(n_, c_);
  EXPECT_EQ(*BroadcastDim(c_, n_), both);
  EXPECT_EQ(*BroadcastDim(both, n_), both);
  EXPECT_EQ(*BroadcastDim(both, 1), both);
  ExpectText(both, "broadcast(C, N)");
  EXPECT_EQ(Evaluate(both, {{"N", 1}, {"C", 5}}), 5);
  EXPECT_EQ(Evaluate(both, {{"N", 5}, {"C", 5}}), 5);
  EXPECT_EQ(Evaluate(both, {{"N", 1}, {"C", 0}}), 0);
  EXPECT_THROW(Evaluate(both, {{"N", 2}, {"C", 5}}), Error);
}

TEST_F(DimTest, Text) {
  ExpectText(48, "48");
  ExpectText(kMin, "-9223372036854775808");
  ExpectText(n_, "N");
  ExpectText(2 * h_ + 1, "(2*H+1)");
  ExpectText(2 * h_, "2*H");
  ExpectText(Dim(0) - h_, "-H");
  ExpectText(n_ * kMin, "-9223372036854775808*N");
  ExpectText(w_ * h_ * h_ - 3 * w_ + h_ - 1, "(H*H*W+H-3*W-1)");
  ExpectText(FloorDiv(h_ + 1, 2), "floor((H+1)/2)");
  ExpectText(FloorDiv(2 * h_, 3), "floor(2*H/3)");
  ExpectText(FloorDiv(n_, h_ * w_), "floor(N/(H*W))");
  ExpectText(FloorDiv(n_, h_ + w_), "floor(N/(H+W))");
  ExpectText(FloorDiv(1, h_), "floor(1/H)");
  ExpectText(FloorDiv(FloorDiv(n_, c_), 2) * 2, "2*floor(floor(N/C)/2)");
  ExpectText(Max(h_, w_ + 1), "max((W+1), H)");
  ExpectText(Min(Max(h_, w_), 5), "min(5, max(H, W))");
  ExpectText(table_.Symbol("~x_1") + 1, "(~x_1+1)");
  ExpectText(table_.Symbol("max"), "max");
  for (const char* name : {"H+1", "", "a b", "2x", "\"", "\n", "\xff", "~", "~~x", "n\xc3\xa4"}) {
    const Dim dim = table_.Symbol(name);
    EXPECT_EQ(dim.DebugString()[0], '"') << name;
    ExpectText(dim, dim.DebugString());
    EXPECT_EQ(SymbolsOf(dim), std::vector<std::string>{name});
  }
  EXPECT_NE(table_.Symbol("H+1"), h_ + 1);
}

TEST_F(DimTest, TextDoesNotDependOnOrder) {
  SymbolTable other;
  const Dim w = other.Symbol("W");
  const Dim h = other.Symbol("H");
  EXPECT_EQ((w * 2 + h * h + FloorDiv(w + h, 2)).DebugString(),
            (h_ * h_ + FloorDiv(h_ + w_, 2) + 2 * w_).DebugString());
}

TEST_F(DimTest, ParseTakesAnyExpression) {
  EXPECT_EQ(table_.Parse(" ( H + 1 ) * 2 - 2 * H "), Dim(2));
  EXPECT_EQ(table_.Parse("mod(7, 4)"), Dim(3));
  EXPECT_EQ(table_.Parse("-2*0"), Dim(0));
}

TEST_F(DimTest, ParseRefusesWhatIsNoDimension) {
  for (const char* text :
       {"", "(", "H+", "H 1", "floor(H)", "floor(H/0)", "max(H", "foo(H)", "1/2", "99999999999999999999", "\"a",
        "broadcast(2, 3)", "--1", "H)", "~", "2H", "9223372036854775807+1"}) {
    EXPECT_THROW(table_.Parse(text), Error) << text;
  }
  EXPECT_THROW(table_.Parse(std::string(100000, '(')), Error);
  EXPECT_THROW(table_.Parse(std::string(100000, '-') + "1"), Error);
}

TEST_F(DimTest, EvaluateNeedsEverySymbol) {
  const Dim dim = FloorDiv(h_ + 1, 2) * w_;
  EXPECT_EQ(Evaluate(dim, {{"H", 5}, {"W", 3}}), 9);
  EXPECT_EQ(Evaluate(dim, {{"H", 5}}), std::nullopt);
  EXPECT_EQ(Evaluate(7, {}), 7);
  EXPECT_THROW(Evaluate(h_, {{"H", -1}}), Error);
  EXPECT_EQ(Evaluate(table_.Symbol("~i"), {{"~i", -1}}), -1);
  EXPECT_THROW(Evaluate(FloorDiv(h_, w_), {{"H", 1}, {"W", 0}}), Error);
  EXPECT_THROW(Evaluate(h_ * h_, {{"H", int64_t{1} << 32}}), Error);
  EXPECT_EQ(SymbolsOf(dim + Max(n_, c_)), (std::vector<std::string>{"C", "H", "N", "W"}));
  EXPECT_TRUE(SymbolsOf(3).empty());
}

TEST_F(DimTest, FreshSymbolsAreNew) {
  EXPECT_EQ(table_.FreshSymbol("d").DebugString(), "d");
  EXPECT_EQ(table_.FreshSymbol("d").DebugString(), "d_1");
  table_.Symbol("d_2");
  EXPECT_EQ(table_.FreshSymbol("d").DebugString(), "d_3");
  EXPECT_EQ(table_.FreshSymbol("N").DebugString(), "N_1");
}

TEST_F(DimTest, TwoTablesDoNotMix) {
  SymbolTable other;
  EXPECT_THROW(n_ + other.Symbol("N"), Error);
}

TEST_F(DimTest, GrowthIsBounded) {
  // Doubling: the exact expression would have 2^60 terms; what stays is small and the same on every way there.
  const auto build = [&] {
    Dim dim = n_;
    for (int i = 0; i < 60; ++i) dim = Max(dim * dim + h_, FloorDiv(dim * dim * dim, 3) + w_);
    return dim;
  };
  const Dim dim = build();
  EXPECT_LE(dim.DebugString().size(), 4096U);
  EXPECT_EQ(build(), dim);
  Dim sum = 0;
  for (int i = 0; i < 3000; ++i) sum = sum + table_.Symbol("s" + std::to_string(i)) * (i + 2);
  EXPECT_LE(sum.DebugString().size(), 4096U);
  // What was left out may be negative, so nothing is concluded from it.
  EXPECT_FALSE(Max(sum * -1, 0).known());
}

TEST_F(DimTest, ManyLargeExpressionsStayWithinABudget) {
  const std::string stem(4000, 'x');
  Dim last;
  for (int i = 0; i < 12000; ++i) last = table_.Symbol("N") * (i + 2) + table_.Symbol(stem) * (i + 1);  // 96 MB of text
  EXPECT_EQ(last.DebugString().substr(0, 15), "(12001*N+~expr_");
  EXPECT_EQ((n_ * 2 + 1).DebugString(), "(2*N+1)");
}

TEST_F(DimTest, ThreadsGetTheSameNodes) {
  constexpr int kThreads = 4;
  std::vector<std::vector<Dim>> results(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const Dim symbol = table_.Symbol("t" + std::to_string(i % 17));
        results[t].push_back(FloorDiv(symbol * (i % 5 + 1) + h_, i % 3 + 2) * Max(w_, symbol));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 1; t < kThreads; ++t) EXPECT_EQ(results[t], results[0]);
}

// A random expression as a Dim and as plain arithmetic on the values of its symbols.
struct Random {
  Dim dim;
  // nullopt: a division by 0, operands that do not broadcast, or numbers beyond 2^40.
  std::function<std::optional<int64_t>(const std::vector<int64_t>&)> plain;
};

class RandomExpressions {
 public:
  RandomExpressions(SymbolTable* table, unsigned seed) : table_(table), random_(seed) {}

  static constexpr int kSymbols = 4;

  int Pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  Random Make(int depth) {
    if (depth == 0 || Pick(6) == 0) return Leaf();
    const Random a = Make(depth - 1);
    const Random b = Pick(3) == 0 ? Leaf() : Make(depth - 1);
    const int op = Pick(9);
    if (op >= 4 && op <= 6 && b.dim == Dim(0)) return a;
    if (op == 8 && !BroadcastDim(a.dim, b.dim)) return a;
    return {Apply(op, a.dim, b.dim), [op, a, b](const std::vector<int64_t>& values) -> std::optional<int64_t> {
              const auto x = a.plain(values);
              const auto y = b.plain(values);
              if (!x || !y) return std::nullopt;
              if (op >= 4 && op <= 6 && *y == 0) return std::nullopt;
              const auto broadcast = BroadcastDim(*x, *y);
              if (op == 8 && (!broadcast || *x < 0 || *y < 0)) return std::nullopt;
              const int64_t result = Apply(op, *x, *y).value();
              if (result > (int64_t{1} << 30) || result < -(int64_t{1} << 30)) return std::nullopt;
              return result;
            }};
  }

 private:
  static Dim Apply(int op, const Dim& a, const Dim& b) {
    switch (op) {
      case 0:
      case 1: return a + b;
      case 2: return a - b;
      case 3: return a * b;
      case 4: return FloorDiv(a, b);
      case 5: return CeilDiv(a, b);
      case 6: return Mod(a, b);
      case 7: return Max(a, b) - Min(b, a);
      default: {
        const auto both = BroadcastDim(a, b);
        return both ? *both : Dim(-1);
      }
    }
  }

  Random Leaf() {
    if (Pick(3) == 0) {
      const int64_t value = Pick(11) - 3;
      return {value, [value](const std::vector<int64_t>&) { return value; }};
    }
    const int symbol = Pick(kSymbols);
    return {table_->Symbol(std::string(1, static_cast<char>('a' + symbol))),
            [symbol](const std::vector<int64_t>& values) { return values[static_cast<size_t>(symbol)]; }};
  }

  SymbolTable* table_;
  std::mt19937 random_;
};

TEST(DimRandom, EvaluateEqualsPlainArithmetic) {
  SymbolTable table;
  int compared = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomExpressions expressions(&table, seed);
    const Random expression = expressions.Make(1 + static_cast<int>(seed % 5));
    EXPECT_EQ(table.Parse(expression.dim.DebugString()), expression.dim);
    for (int i = 0; i < 8; ++i) {
      std::vector<int64_t> values;
      SymbolValues by_name;
      for (int s = 0; s < RandomExpressions::kSymbols; ++s) {
        values.push_back(expressions.Pick(i % 2 == 0 ? 3 : 50));
        by_name[std::string(1, static_cast<char>('a' + s))] = values.back();
      }
      const auto plain = expression.plain(values);
      if (!plain || expression.dim.DebugString().find("~expr") != std::string::npos) continue;
      ++compared;
      ASSERT_EQ(Evaluate(expression.dim, by_name), plain)
          << expression.dim.DebugString() << " for " << values[0] << ", " << values[1] << ", " << values[2] << ", "
          << values[3];
    }
  }
  EXPECT_GT(compared, 10000);
}

TEST(DimRandom, DifferencesOfEqualsAreZero) {
  SymbolTable table;
  for (unsigned seed = 0; seed < 500; ++seed) {
    RandomExpressions expressions(&table, seed);
    const Dim a = expressions.Make(3).dim;
    const Dim b = expressions.Make(3).dim;
    if (a.DebugString().size() + b.DebugString().size() > 1000) continue;  // may be collapsed
    EXPECT_EQ(a - a, Dim(0));
    EXPECT_EQ((a + b) - b, a);
    EXPECT_EQ(a + b, b + a);
    EXPECT_EQ(a * b, b * a);
    EXPECT_EQ(Max(a, b), Max(b, a));
    if (b != Dim(0)) {
      EXPECT_EQ(ExactDiv(a * b, b), a) << a.DebugString() << " and " << b.DebugString();
    }
  }
}

}  // namespace
}  // namespace wherry
