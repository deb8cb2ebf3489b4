// Included by a test, keeps plug-ins out of it: what one that lies beside the library would pick is none of the test's
// business, and seeds mean the same wherever it runs.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace wherry {

class WithoutPlugins : public testing::Environment {
  void SetUp() override { setenv("WHERRY_PLUGINS", "none", 1); }
};
inline const testing::Environment* const kWithoutPlugins = testing::AddGlobalTestEnvironment(new WithoutPlugins);

}  // namespace wherry
