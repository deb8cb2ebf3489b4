#include "kernel/plugin.h"

#include <gtest/gtest.h>

#include <string>

#include "wherry/error.h"

namespace wherry {
namespace {

// What loading a plug-in that is one does is tested by tests/plugin, with processes of its own.

Error ErrorOf(const std::string& path) {
  try {
    LoadPlugin(path);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorCode::kInternal, "");
}

TEST(LoadPlugin, AMissingFileIsNotFound) {
  const Error error = ErrorOf("/nowhere/libwherry_none.so");
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.message(), "plug-in '/nowhere/libwherry_none.so' does not exist");
}

TEST(LoadPlugin, AFileThatIsNoLibraryIsUnavailableAndSaysWhy) {
  const Error error = ErrorOf("./LAYERS");
  EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
  EXPECT_NE(error.message().find("cannot be loaded: "), std::string::npos) << error.what();
}

}  // namespace
}  // namespace wherry
