#include "base/system_error.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "wherry/error.h"

namespace wherry {
namespace {

ErrorCode CodeFor(int error) {
  try {
    ThrowSystemError(error, "x");
  } catch (const Error& thrown) {
    return thrown.code();
  }
}

TEST(SystemErrorTest, CodesFitTheReason) {
  EXPECT_EQ(CodeFor(ENOENT), ErrorCode::kNotFound);
  EXPECT_EQ(CodeFor(ENOSPC), ErrorCode::kResourceExhausted);
  EXPECT_EQ(CodeFor(EISDIR), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeFor(EACCES), ErrorCode::kUnavailable);
}

TEST(SystemErrorTest, TheMessageHasTheSystemsText) {
  try {
    ThrowSystemError(EACCES, "cannot open 'a'");
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "cannot open 'a': Permission denied (errno 13)");
  }
}

}  // namespace
}  // namespace wherry
