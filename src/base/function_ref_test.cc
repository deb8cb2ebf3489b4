#include "base/function_ref.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace wherry {
namespace {

int Twice(int x) { return 2 * x; }
int Call(FunctionRef<int(int)> f, int x) { return f(x); }

struct Counter {
  int count = 0;
  int operator()(int x) { return count += x; }
};

TEST(FunctionRefTest, CallsLambdasFunctionsAndObjects) {
  EXPECT_EQ(Call([](int x) { return x + 1; }, 4), 5);
  EXPECT_EQ(Call(Twice, 4), 8);
  EXPECT_EQ(Call(&Twice, 4), 8);
  Counter counter;
  EXPECT_EQ(Call(counter, 3), 3);
  EXPECT_EQ(Call(counter, 3), 6);
  EXPECT_EQ(counter.count, 6);
  const auto constant = [](int x) { return -x; };
  EXPECT_EQ(Call(constant, 4), -4);
}

TEST(FunctionRefTest, ACopyRefersToTheSameCallable) {
  Counter counter;
  FunctionRef<int(int)> first = counter;
  FunctionRef<int(int)> second = first;
  second(2);
  first(3);
  EXPECT_EQ(counter.count, 5);
}

TEST(FunctionRefTest, ArgumentsAreForwarded) {
  const auto take = [](std::unique_ptr<int> p, int& out) { out = *p; };
  FunctionRef<void(std::unique_ptr<int>, int&)> f = take;
  int out = 0;
  f(std::make_unique<int>(9), out);
  EXPECT_EQ(out, 9);
}

TEST(FunctionRefTest, DiscardsAResultThatIsNotWanted) {
  int calls = 0;
  const auto f = [&calls](int) { return ++calls; };
  FunctionRef<void(int)> ref = f;
  ref(1);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace wherry
