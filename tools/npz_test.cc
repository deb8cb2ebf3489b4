#include "npz.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error_test_util.h"

namespace wherry::tools {
namespace {

class NpzTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("wherry_npz_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return (directory_ / name).string(); }
  static std::string Read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  static void Write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path directory_;
};

std::vector<char> Npy(const std::string& dictionary, const std::string& data) {
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(dictionary.size());
  bytes += '\0';
  bytes += dictionary + data;
  return std::vector<char>(bytes.begin(), bytes.end());
}

TEST_F(NpzTest, WhatIsWrittenIsRead) {
  const Tensor floats = Tensor::From<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor scalar = Tensor::From<int64_t>({}, {7});
  const Tensor empty = Tensor::From<float>({0, 3}, {});
  WriteNpz(Path("a.npz"), {{"x/y", floats}, {"s", scalar}, {"e", empty}});
  const auto arrays = ReadNpz(Path("a.npz"));
  ASSERT_EQ(arrays.size(), 3U);
  EXPECT_EQ(arrays.at("x/y").shape(), (Shape{2, 3}));
  EXPECT_EQ(arrays.at("x/y").data<float>()[5], 6);
  EXPECT_EQ(arrays.at("s").shape(), Shape());
  EXPECT_EQ(arrays.at("s").data<int64_t>()[0], 7);
  EXPECT_EQ(arrays.at("e").shape(), (Shape{0, 3}));
}

TEST_F(NpzTest, Bfloat16IsWrittenAsF32) {
  Tensor halves;
  halves.Resize({2});
  halves.mutable_data<BFloat16>()[0] = BFloat16(1.5F);
  halves.mutable_data<BFloat16>()[1] = BFloat16(-0x1p100F);
  WriteNpz(Path("a.npz"), {{"h", halves}, {"i", Tensor::From<int64_t>({1}, {7})}});
  const auto arrays = ReadNpz(Path("a.npz"));
  ASSERT_EQ(arrays.at("h").dtype(), DataType::kFloat);
  EXPECT_EQ(arrays.at("h").data<float>()[0], 1.5F);
  EXPECT_EQ(arrays.at("h").data<float>()[1], -0x1p100F);
  EXPECT_EQ(arrays.at("i").data<int64_t>()[0], 7);
}

TEST_F(NpzTest, FortranOrderIsTurned) {
  const std::string data("\x01\x04\x02\x05\x03\x06", 6);
  const Tensor tensor = ParseNpy("a", Npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", data));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(tensor.data<uint8_t>()[i], i + 1);
}

TEST_F(NpzTest, WhatCannotBeReadIsSaid) {
  const auto error = [](const std::string& dictionary, const std::string& data) {
    return ErrorText([&] { ParseNpy("a", Npy(dictionary, data)); });
  };
  EXPECT_NE(error("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "abcd").find("'>f4'"),
            std::string::npos);
  EXPECT_NE(error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "abcd").find("needs 2 elements"),
            std::string::npos);
  EXPECT_NE(error("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "").find("bad dimension"),
            std::string::npos);
  EXPECT_NE(error("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "abcd"), "no error");
  EXPECT_NE(error("{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9), }", "").find("array a"),
            std::string::npos);
  EXPECT_NE(ErrorText([&] { ReadNpz(Path("none.npz")); }).find("none.npz"), std::string::npos);
}

TEST_F(NpzTest, NamesThatAnArchiveCannotHoldAreRefused) {
  const Tensor one = Tensor::From<float>({1}, {1});
  for (const std::string& name : {std::string(65532, 'y'), std::string("a\0b", 3), std::string("/etc/a"),
                                  std::string("../a"), std::string("a/../../b"), std::string("a\x1b")}) {
    EXPECT_NE(ErrorText([&] { WriteNpz(Path("a.npz"), {{name, one}}); }), "no error");
    EXPECT_FALSE(std::filesystem::exists(Path("a.npz")));
  }
  EXPECT_NE(ErrorText([&] {
              WriteNpz(Path("a.npz"), {{"x", one}, {"x", one}});
            }).find("there twice"),
            std::string::npos);
  WriteNpz(Path("a.npz"), {{std::string(65531, 'y'), one}, {"a..b/c", one}});
  EXPECT_EQ(ReadNpz(Path("a.npz")).size(), 2U);
}

// A damaged archive is an Error or, where the damage does not matter, still read; never a crash.
TEST_F(NpzTest, DamagedArchives) {
  WriteNpz(Path("a.npz"), {{"x", Tensor::From<float>({2}, {1, 2})}, {"y", Tensor::From<int32_t>({3}, {1, 2, 3})}});
  const std::string bytes = Read(Path("a.npz"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    Write(Path("b.npz"), bytes.substr(0, size));
    EXPECT_NE(ErrorText([&] { ReadNpz(Path("b.npz")); }), "no error") << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    Write(Path("b.npz"), damaged);
    ErrorText([&] { ReadNpz(Path("b.npz")); });
  }
}

}  // namespace
}  // namespace wherry::tools
