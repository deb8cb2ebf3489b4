#include "wherry/error.h"

#include <gtest/gtest.h>

#include <string>

#include "base/check.h"

namespace wherry {
namespace {

TEST(ErrorTest, WhatIsTheMessageThenTheContexts) {
  Error error(ErrorCode::kCorrupt, "bad magic");
  EXPECT_STREQ(error.what(), "bad magic");
  EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
  error.AddContext("reading 'w'").AddContext("loading 'a.onnx'");
  EXPECT_STREQ(error.what(), "bad magic (while reading 'w'; while loading 'a.onnx')");
  EXPECT_EQ(error.message(), "bad magic");
  EXPECT_EQ(error.context().size(), 2u);
}

TEST(ErrorTest, ContextIsAddedByRethrowing) {
  try {
    try {
      Throw(ErrorCode::kNotFound, "op ", 7);
    } catch (Error& error) {
      error.AddContext("x");
      throw;
    }
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "op 7 (while x)");
  }
}

TEST(ErrorTest, EveryCodeHasItsOwnName) {
  EXPECT_STREQ(ToString(ErrorCode::kInvalidArgument), "invalid argument");
  EXPECT_STREQ(ToString(ErrorCode::kInternal), "internal");
  EXPECT_STREQ(ToString(static_cast<ErrorCode>(1000)), "unknown error code");
}

TEST(CheckTest, MessageIsBuiltOnlyOnFailure) {
  int built = 0;
  const auto message = [&built] { return ++built; };
  WHERRY_ENFORCE(1 < 2, kInvalidArgument, message());
  EXPECT_EQ(built, 0);
  EXPECT_THROW(WHERRY_ENFORCE(2 < 1, kInvalidArgument, message()), Error);
  EXPECT_EQ(built, 1);
}

TEST(CheckTest, AFailedInvariantSaysThatItIsABug) {
  try {
    WHERRY_CHECK(1 == 2, "got ", 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
    EXPECT_EQ(error.message().find("bug in Wherry: 1 == 2 failed at "), 0u) << error.what();
    EXPECT_NE(error.message().find("got 3"), std::string::npos);
  }
}

}  // namespace
}  // namespace wherry
