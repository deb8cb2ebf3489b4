#include "importer/importer.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/file_test_util.h"
#include "importer/describe_bytes.h"
#include "importer/importer_registry.h"

namespace wherry {
namespace {

using ImportModelTest = FileTest;

FileBytes Bytes(std::string_view text) {
  auto owner = std::make_shared<const std::string>(text);
  return FileBytes{"model in memory", std::as_bytes(std::span(*owner)), owner};
}

TEST(DescribeBytes, NamesWhatItSees) {
  const auto describe = [](std::string_view text) { return DescribeBytes(std::as_bytes(std::span(text))); };
  EXPECT_EQ(describe(""), "empty");
  EXPECT_EQ(describe(" {\"program\": {}}"), "a Paddle 3 program (PIR JSON)");
  EXPECT_EQ(describe(std::string_view("\x0a\x05\x08\x00\x10\x00", 6)), "a Paddle program (ProgramDesc)");
  EXPECT_EQ(describe("\x02\x01" + std::string("v2.10-gabcdef") + std::string(20, '\0')).substr(0, 6), "binary");
  EXPECT_EQ(describe(std::string("\x02\x00", 2) + "v2.10-gabcdef" + std::string(20, '\0')),
            "an optimised model of Paddle-Lite (.nb)");
  EXPECT_EQ(describe(std::string(16, '\0') + std::string("\x06\0\0\0", 4)), "a Paddle parameter file");
  EXPECT_EQ(describe("PK\x03\x04"), "a zip archive (unpack it first)");
  EXPECT_EQ(describe("version https://git-lfs.github.com/spec/v1"),
            "a Git LFS pointer, not the file itself (run `git lfs pull`)");
  EXPECT_EQ(describe("hello\n"), "text");
  EXPECT_EQ(describe("# Wherry\n\n[\xe4\xb8\xad\xe6\x96\x87](README.zh.md)\n"), "text");
  EXPECT_EQ(describe("\x8f\x01"), "binary data of no known kind (it begins with 8f 01)");
}

TEST(ImporterRegistry, HasTheBuiltInOnes) {
  EXPECT_EQ(ImporterRegistry::Global().Importers().size(), BuiltinImporters().size());
  for (const ConverterDescriptor* converter : BuiltinConverters()) {
    EXPECT_EQ(ImporterRegistry::Global().FindConverter(converter->importer, converter->type), converter);
  }
  EXPECT_EQ(ImporterRegistry::Global().FindConverter("paddle", "no_such_operator"), nullptr);
}

TEST_F(ImportModelTest, AFileOfAnotherKindIsNamed) {
  const auto error_of = [&](std::string_view content) {
    WriteText(Path("model"), content);
    return ErrorOf([&] { ImportModel(Path("model")); });
  };
  const Error zip = error_of("PK\x03\x04 and so on");
  EXPECT_EQ(zip.code(), ErrorCode::kCorrupt);
  EXPECT_NE(zip.message().find("zip archive"), std::string::npos) << zip.message();
  EXPECT_NE(zip.message().find(Path("model")), std::string::npos) << zip.message();
  EXPECT_EQ(error_of("").code(), ErrorCode::kCorrupt);
  EXPECT_EQ(error_of(std::string("\x02\x00", 2) + "v2.10-gabcdef" + std::string(20, '\0')).code(),
            ErrorCode::kUnsupported);
  const Error params = error_of(std::string(16, '\0') + std::string("\x06\0\0\0", 4));
  EXPECT_EQ(params.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(params.message().find("parameter"), std::string::npos) << params.message();
}

TEST_F(ImportModelTest, AbsentFilesAreNotFound) {
  EXPECT_EQ(ErrorOf([&] { ImportModel(Path("absent.onnx")); }).code(), ErrorCode::kNotFound);
  EXPECT_EQ(ErrorOf([&] { ImportModel(folder()); }).code(), ErrorCode::kNotFound);
}

TEST_F(ImportModelTest, FromMemoryAndThroughAReader) {
  EXPECT_EQ(ErrorOf([&] { ImportModel(Bytes("hello")); }).code(), ErrorCode::kCorrupt);
  std::vector<std::string> asked;
  const Error error = ErrorOf([&] {
    ImportModel("dir/inference.pdmodel", [&](const std::string& name) {
      asked.push_back(name);
      if (asked.size() > 1) throw Error(ErrorCode::kNotFound, "no " + name);
      return Bytes("hello");
    });
  });
  EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
  EXPECT_EQ(asked, (std::vector<std::string>{"dir/inference.pdmodel", "dir/inference.pdiparams"}));
}

}  // namespace
}  // namespace wherry
