// What is read from files: images, dictionaries, folders of models.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ctc.h"
#include "detector.h"
#include "image_file.h"
#include "model_files.h"

namespace ocr {
namespace {

namespace fs = std::filesystem;

template <typename Action>
std::string ErrorOf(const Action& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

class FilesTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("wherry_ocr_test_" + std::to_string(::getpid()));
};

TEST_F(FilesTest, ImagesComeBack) {
  Image image(7, 5);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(i * 3);
  WritePng(image, Path("a.png"));
  const Image back = ReadImage(Path("a.png"));
  EXPECT_EQ(back.width, 7);
  EXPECT_EQ(back.rgb, image.rgb);
  const Image gray = ReadImage(Write("a.pgm", std::string("P5 2 1 255\n\x10\xf0", 13)));
  EXPECT_EQ(gray.rgb, (std::vector<uint8_t>{0x10, 0x10, 0x10, 0xf0, 0xf0, 0xf0}));
}

TEST_F(FilesTest, WhatIsNoImageIsAnErrorThatNamesIt) {
  const auto error = [](const std::string& path) { return ErrorOf([&] { ReadImage(path); }); };
  EXPECT_EQ(error(Path("none.png")), "'" + Path("none.png") + "': cannot open the image: No such file or directory");
  EXPECT_NE(error(Path(".")).find("cannot read the image"), std::string::npos);
  EXPECT_NE(error(Write("empty.png", "")).find("'"), std::string::npos);
  EXPECT_NE(error(Write("text.png", "hello")).find("this is no JPEG"), std::string::npos);
  EXPECT_NE(error(Write("deep.pgm", "P5 2 1 65535\nabcd")).find("16 bits"), std::string::npos);
  EXPECT_NE(error(Write("huge.pgm", "P5 16000 16000 255\n")).find("more than 100 million"), std::string::npos);
  WritePng(Image(50, 50), Path("whole.png"));
  std::ifstream file(Path("whole.png"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_NE(error(Write("cut.png", bytes.substr(0, bytes.size() / 2))).find("damaged (it ends too early)"),
            std::string::npos);
  EXPECT_NE(ErrorOf([&] { WritePng(Image(1, 1), "/dev/full"); }).find("No space left"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { WritePng(Image(1, 1), Path("no/such/folder.png")); }).find("cannot write"),
            std::string::npos);
}

TEST_F(FilesTest, FindsModelsByTheirNames) {
  EXPECT_NE(ErrorOf([&] { FindModels(Path("none")); }).find("cannot read the models' folder"), std::string::npos);
  Write("my_det.onnx", "");
  Write("cls.wry", "");
  Write("notes_rec.md", "");
  EXPECT_NE(ErrorOf([&] { FindModels(Path("")); }).find("'rec' in its name"), std::string::npos);
  fs::create_directory(Path("rec_infer"));
  Write("keys.txt", "a\n");
  const ModelPaths found = FindModels(Path(""), {"", "mine.onnx", "", ""});
  EXPECT_EQ(fs::path(found.detector).filename(), "my_det.onnx");
  EXPECT_EQ(found.orienter, "mine.onnx");
  EXPECT_EQ(fs::path(found.recognizer).filename(), "rec_infer");
  EXPECT_EQ(fs::path(found.dictionary).filename(), "keys.txt");
  Write("other_det.onnx", "");
  EXPECT_NE(ErrorOf([&] { FindModels(Path("")); }).find("which is the text detector?"), std::string::npos);
}

TEST(Dictionary, HasTheBlankFirstAndPerhapsTheSpaceLast) {
  Dictionary dictionary = Dictionary::Parse("a\r\n\xe4\xb8\x80\n\nb");
  ASSERT_EQ(dictionary.classes(), 5U);
  EXPECT_EQ(dictionary[1], "a");
  EXPECT_EQ(dictionary[2], "\xe4\xb8\x80");
  EXPECT_EQ(dictionary[3], "");
  dictionary.FitTo(5);
  dictionary.FitTo(6);
  EXPECT_EQ(dictionary[5], " ");
  EXPECT_NE(ErrorOf([&] { dictionary.FitTo(9); }).find("has 5 characters"), std::string::npos);
  EXPECT_EQ(Dictionary::Parse("").classes(), 1U);
}

TEST(DecodeCtc, DropsRepetitionsAndBlanks) {
  const Dictionary dictionary = Dictionary::Parse("a\nb");
  const auto decode = [&](const std::vector<std::pair<size_t, float>>& steps) {
    std::vector<float> rows;
    for (const auto& [k, probability] : steps) {
      std::vector<float> row(3, 0.01F);
      row[k] = probability;
      rows.insert(rows.end(), row.begin(), row.end());
    }
    return DecodeCtc(rows.data(), steps.size(), dictionary);
  };
  const Reading reading = decode({{0, 0.9F}, {1, 0.8F}, {1, 0.1F}, {0, 0.9F}, {1, 0.6F}, {2, 0.7F}, {2, 0.9F}});
  EXPECT_EQ(reading.text, "aab");
  EXPECT_NEAR(reading.score, (0.8 + 0.6 + 0.7) / 3, 1e-6);
  EXPECT_EQ(decode({{0, 0.9F}}).text, "");
  EXPECT_EQ(decode({}).score, 0);
}

TEST(DetectionSize, KeepsToItsBounds) {
  const auto expect = [](int width, int height, int to_width, int to_height) {
    const Size size = DetectionSize(width, height);
    EXPECT_EQ(size.width, to_width) << width << " x " << height;
    EXPECT_EQ(size.height, to_height) << width << " x " << height;
  };
  expect(384, 191, 1472, 736);
  expect(1000, 800, 992, 800);
  expect(6000, 4000, 2016, 1344);
  expect(1000, 10, 2016, 32);
  expect(1, 1, 736, 736);
}

}  // namespace
}  // namespace ocr
