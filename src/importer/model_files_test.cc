#include "importer/model_files.h"

#include <gtest/gtest.h>

#include "base/file_test_util.h"

namespace wherry {
namespace {

using ModelFiles = FileTest;

TEST_F(ModelFiles, NamesThatLeaveTheFolderAreRefused) {
  for (const char* name : {"", "/etc/passwd", "..", "../x", "a/../x", "./x", "a//x", "a/", "a\\x", "a/.."}) {
    EXPECT_EQ(ErrorOf([&] { CheckFileName(name); }).code(), ErrorCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(ErrorOf([] { CheckFileName(std::string("a\0b", 3)); }).code(), ErrorCode::kInvalidArgument);
  for (const char* name : {"x", "a/x", "conv2d_0.w_0", "a@b", "..x", "x..", "linear/w:0"})
    EXPECT_NO_THROW(CheckFileName(name));
}

TEST_F(ModelFiles, OpensInsideTheFolderOnly) {
  std::filesystem::create_directories(Path("model/sub"));
  WriteText(Path("secret"), "secret");
  WriteText(Path("model/sub/w"), "weight");
  std::filesystem::create_symlink("../secret", Path("model/out"));
  std::filesystem::create_symlink("sub/w", Path("model/in"));
  EXPECT_EQ(Text(OpenInFolder(Path("model"), "sub/w").data), "weight");
  EXPECT_EQ(Text(OpenInFolder(Path("model"), "in").data), "weight");
  const Error leaving = ErrorOf([&] { OpenInFolder(Path("model"), "out"); });
  EXPECT_EQ(leaving.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(leaving.message().find("outside of the model's folder"), std::string::npos);
  EXPECT_EQ(ErrorOf([&] { OpenInFolder(Path("model"), "absent"); }).code(), ErrorCode::kNotFound);
  EXPECT_EQ(ErrorOf([&] { OpenInFolder(Path("model"), "sub"); }).code(), ErrorCode::kInvalidArgument);
}

TEST_F(ModelFiles, FindsTheMainFile) {
  const Error none = ErrorOf([&] { FindMainFile(folder()); });
  EXPECT_EQ(none.code(), ErrorCode::kNotFound);
  EXPECT_NE(none.message().find("__model__"), std::string::npos) << none.message();
  WriteText(Path("a.pdmodel"), "x");
  WriteText(Path("notes.txt"), "x");
  WriteText(Path("config.json"), "x");
  EXPECT_EQ(FindMainFile(folder()), "a.pdmodel");
  WriteText(Path("b.onnx"), "x");
  EXPECT_EQ(ErrorOf([&] { FindMainFile(folder()); }).code(), ErrorCode::kInvalidArgument);
  WriteText(Path("__model__"), "x");
  EXPECT_EQ(FindMainFile(folder()), "__model__");
  WriteText(Path("inference.pdmodel"), "x");
  EXPECT_EQ(FindMainFile(folder()), "inference.pdmodel");
}

TEST_F(ModelFiles, OfSeveralJsonFilesTheModelHasParameters) {
  WriteText(Path("config.json"), "x");
  EXPECT_EQ(FindMainFile(folder()), "config.json");
  WriteText(Path("net.json"), "x");
  EXPECT_EQ(ErrorOf([&] { FindMainFile(folder()); }).code(), ErrorCode::kInvalidArgument);
  WriteText(Path("net.pdiparams"), "x");
  EXPECT_EQ(FindMainFile(folder()), "net.json");
}

TEST_F(ModelFiles, GuessesWhereParametersAre) {
  EXPECT_EQ(GuessParams("inference.pdmodel").files, std::vector<std::string>{"inference.pdiparams"});
  EXPECT_EQ(GuessParams("dir/a.b.json").files, std::vector<std::string>{"dir/a.b.pdiparams"});
  EXPECT_FALSE(GuessParams("inference.pdmodel").may_be_separate);
  EXPECT_TRUE(GuessParams("__model__").may_be_separate);
  EXPECT_TRUE(GuessParams("a.onnx").files.empty());
}

}  // namespace
}  // namespace wherry
