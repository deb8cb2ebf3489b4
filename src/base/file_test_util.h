// A folder that is gone after the test, and short ways to write and compare files in it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "wherry/error.h"

namespace wherry {

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "wherry_test_XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::string& folder() const { return folder_; }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  size_t FilesInFolder() const {
    using std::filesystem::directory_iterator;
    return static_cast<size_t>(std::distance(directory_iterator(folder_), directory_iterator()));
  }

 private:
  std::string folder_;
};

inline std::string Text(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

inline void WriteText(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.Write(text);
  file.Commit();
}

// The Error that function() throws; the test fails if there is none.
template <typename Function>
Error ErrorOf(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorCode::kInternal, "none");
}

}  // namespace wherry
