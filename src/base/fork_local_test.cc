#include "base/fork_local.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace wherry {
namespace {

TEST(ForkLocalTest, ChildStartsFromZero) {
  const ForkLocal value;
  EXPECT_EQ(value->load(), 0);
  *value = 5;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(value->load());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), value.wiped_on_fork() ? 0 : 5);
  EXPECT_EQ(value->load(), 5);
}

}  // namespace
}  // namespace wherry
