#include "format/wry.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/file_test_util.h"
#include "base/mapped_file.h"
#include "ir/text.h"

namespace wherry {
namespace {

constexpr char kProgram[] = R"(
weight %b : f32[2] = [10, 20]
weight %w : f32[2,2] = [1, 2, 3, 4]
block main(%x : f32[N,2]) -> (%y) {
  %m = mul(x: %x, y: %w)
  %y = add(x: %m, y: %b)
}
)";

class WryTest : public FileTest {
 protected:
  static Program Sample(bool packed) {
    Program program = ParseProgram(kProgram);
    if (packed) {
      auto buffer = HostAllocator().Allocate(256);
      std::memset(buffer->data(), 7, buffer->size());
      program.packed["w"].push_back({"form", std::move(buffer)});
    }
    return program;
  }
  std::string Saved(bool packed) {
    SaveWry(Sample(packed), Path("a.wry"));
    return Text(ReadFile(Path("a.wry")));
  }
  // Loads these bytes and reads all that they have.
  static void Read(const std::string& bytes) {
    const Program program = LoadWry(FileBytes("b.wry", std::as_bytes(std::span<const char>(bytes)), nullptr));
    for (const auto& [name, weight] : program.weights) weight.raw_data();
    for (const auto& [name, forms] : program.packed) {
      for (const PackedWeight& packed : forms) packed.buffer->data();
    }
  }
};

TEST_F(WryTest, GivesBackWhatWasSaved) {
  for (const bool packed : {false, true}) {
    const std::string bytes = Saved(packed);
    const Program program = LoadWry(FileBytes(Path("a.wry"), MappedFile::Open(Path("a.wry"))));
    EXPECT_EQ(PrintProgram(program), PrintProgram(Sample(packed)));
    ASSERT_EQ(program.packed.size(), packed ? 1U : 0U);
    if (packed) {
      const PackedWeight& form = program.packed.at("w").at(0);
      EXPECT_EQ(form.format, "form");
      ASSERT_EQ(form.buffer->size(), 256U);
      EXPECT_EQ(std::memcmp(form.buffer->data(), std::string(256, 7).data(), 256), 0);
    }
    SaveWry(program, Path("c.wry"));
    EXPECT_EQ(Text(ReadFile(Path("c.wry"))), bytes);
  }
}

TEST_F(WryTest, MemoryMayLieAnywhere) {
  const std::string bytes = Saved(true);
  for (size_t shift = 0; shift < 3; ++shift) {
    const std::string moved = std::string(shift, ' ') + bytes;
    const auto part = std::as_bytes(std::span<const char>(moved)).subspan(shift);
    const Program program = LoadWry(FileBytes("in memory", part, nullptr));
    EXPECT_EQ(program.weights.at("w").data<float>()[3], 4);
    const void* packed = program.packed.at("w").at(0).buffer->data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(packed) % 64, 0U);
  }
}

TEST_F(WryTest, WeightsAreCheckedWhenTheyAreRead) {
  std::string bytes = Saved(true);
  bytes.back() ^= 1;  // of the packed form, which is last
  WriteText(Path("b.wry"), bytes);
  const Program program = LoadWry(FileBytes(Path("b.wry"), MappedFile::Open(Path("b.wry"))));
  EXPECT_EQ(program.weights.at("w").data<float>()[3], 4);
  const Error error = ErrorOf([&] { program.packed.at("w").at(0).buffer->data(); });
  EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
  EXPECT_NE(error.message().find("weight 'w' packed as form"), std::string::npos) << error.message();
}

TEST_F(WryTest, EveryFlippedBitIsFound) {
  for (const bool packed : {false, true}) {
    const std::string whole = Saved(packed);
    for (size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] ^= static_cast<char>(1 << (at % 8));
      try {
        Read(damaged);
      } catch (const Error& error) {
        EXPECT_NE(error.code(), ErrorCode::kInternal) << error.message();
        continue;
      }
      EXPECT_EQ(whole[at], '\0') << "byte " << at;  // between the sections
    }
  }
}

TEST_F(WryTest, EveryCutIsFound) {
  const std::string whole = Saved(true);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(ErrorOf([&] { Read(whole.substr(0, size)); }).code(), ErrorCode::kInternal);
  }
  EXPECT_EQ(ErrorOf([&] { Read(whole + '\0'); }).code(), ErrorCode::kCorrupt);
}

TEST_F(WryTest, SaysWhyItCannotReadAFile) {
  const std::string whole = Saved(false);
  const auto says = [&](size_t at, const std::string& bytes) {
    std::string other = whole;
    other.replace(at, bytes.size(), bytes);
    const Error error = ErrorOf([&] { Read(other); });
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    return error.message();
  };
  EXPECT_NE(says(8, {'\2', '\0', '\0', '\0'}).find("version 2; this library reads version 1"), std::string::npos);
  EXPECT_NE(says(8, {'\0', '\0', '\0', '\1'}).find("big-endian"), std::string::npos);
  EXPECT_NE(says(12, "\x80").find("features 128"), std::string::npos);
}

// A process that ends in the middle of saving: the limit on the size of files kills it.
TEST_F(WryTest, ACrashWhileSavingLeavesTheOldFile) {
  const std::string before = Saved(false);
  Program large = Sample(false);
  large.weights.at("w") = DenseTensor(HostAllocator(), TensorMeta{DataType::kFloat, Shape{1024, 1024}});
  std::memset(large.weights.at("w").mutable_raw_data(), 0, 4 << 20);
  for (const bool killed : {true, false}) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const rlimit limit{1 << 20, 1 << 20};
      setrlimit(RLIMIT_FSIZE, &limit);
      const rlimit none{0, 0};
      setrlimit(RLIMIT_CORE, &none);
      if (!killed) signal(SIGXFSZ, SIG_IGN);  // then writing fails
      try {
        SaveWry(large, Path("a.wry"));
      } catch (const Error&) {
        _exit(3);
      }
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 3) << status;
    EXPECT_EQ(Text(ReadFile(Path("a.wry"))), before);
    Read(before);
  }
  EXPECT_EQ(FilesInFolder(), 2U);  // a.wry, and what the killed process left
}

// One of every version and feature, written when it was new; they must load for ever.
TEST_F(WryTest, SamplesOfEveryVersionLoad) {
  for (const bool packed : {false, true}) {
    const std::string path = std::string("src/format/samples/version1") + (packed ? "_packed" : "") + ".wry";
    if (std::getenv("WHERRY_WRITE_SAMPLES") != nullptr) SaveWry(Sample(packed), path);
    const Program program = LoadWry(FileBytes(path, MappedFile::Open(path)));
    EXPECT_EQ(PrintProgram(program), PrintProgram(Sample(packed)));
    EXPECT_EQ(program.packed.count("w"), packed ? 1U : 0U);
  }
}

}  // namespace
}  // namespace wherry
