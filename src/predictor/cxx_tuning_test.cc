// Tuning with times that the test has written into the cache: picks must follow them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/file_test_util.h"
#include "base/mapped_file.h"
#include "format/wry.h"
#include "ir/text.h"
#include "wherry/predictor.h"

namespace wherry {
namespace {

constexpr char kTwoConvolutions[] = R"(
block main(%x : f32[N,16,12,12]) -> (%y) {
  %c = conv2d(x: %x, filter: %w) {paddings = [1, 1]}
  %s = sigmoid(x: %c)
  %y = conv2d(x: %s, filter: %w) {paddings = [1, 1]}
}
)";

std::vector<std::string> Lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class TuningTest : public FileTest {
 protected:
  void SetUp() override {
    FileTest::SetUp();
    DenseTensor filter(HostAllocator(), TensorMeta{DataType::kFloat, Shape{16, 16, 3, 3}, DataLayout::kNCHW, 0});
    for (int64_t i = 0; i < filter.numel(); ++i) filter.mutable_data<float>()[i] = std::sin(static_cast<float>(i)) / 9;
    WeightTable weights;
    weights.emplace("w", std::move(filter));
    SaveWry(ParseProgram(kTwoConvolutions, std::move(weights)), Path("model.wry"));
  }

  CxxConfig Config() const {
    CxxConfig config;
    config.set_model_dir(Path("model.wry"));
    config.set_threads(1);
    return config;
  }
  std::shared_ptr<PaddlePredictor> Tuned(int64_t batch = 2) const {
    CxxConfig config = Config();
    config.set_tuning({Path("times"), {{"x", Shape{batch, 16, 12, 12}}}});
    return CreatePaddlePredictor(config);
  }
  static std::vector<float> Run(PaddlePredictor* predictor) {
    auto x = predictor->GetInput(0);
    x->Resize({2, 16, 12, 12});
    for (int64_t i = 0; i < x->numel(); ++i) x->mutable_data<float>()[i] = std::cos(static_cast<float>(i));
    predictor->Run();
    const auto y = predictor->GetOutput(0);
    return {y->data<float>(), y->data<float>() + y->numel()};
  }
  // Says that all kernels whose line has `fast` take 1 us, and all others 1000.
  void SetTimes(const std::string& fast) const {
    std::string text = Text(ReadFile(Path("times")));
    std::string changed = text.substr(0, text.find('\n') + 1);
    for (const std::string& line : Lines(text.substr(changed.size()))) {
      if (line.empty()) continue;
      changed += (line.find(fast) != std::string::npos ? "1" : "1000") + line.substr(line.find('\t')) + "\n";
    }
    WriteText(Path("times"), changed);
  }
  // How many picks the measuring pass says it changed to this.
  static int64_t Count(const PaddlePredictor& predictor, const std::string& text) {
    const std::vector<std::string> lines = Lines(predictor.OptimizeReportText());
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }
};

void ExpectNear(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4) << i;
}

TEST_F(TuningTest, PicksFollowTheTimes) {
  const std::vector<float> expected = Run(CreatePaddlePredictor(Config()).get());
  ExpectNear(Run(Tuned().get()), expected);
  for (const std::string kernel : {"cpu:conv2d:winograd2", "cpu:conv2d:direct", "cpu:conv2d:winograd4"}) {
    SetTimes(kernel);
    const auto predictor = Tuned();
    EXPECT_EQ(Count(*predictor, kernel + " (nhwc) instead of"), 2) << predictor->OptimizeReportText();
    EXPECT_EQ(Count(*predictor, " 0 times measured"), 1) << predictor->OptimizeReportText();
    ExpectNear(Run(predictor.get()), expected);
  }
}

TEST_F(TuningTest, LayoutsFollowForAllTogether) {
  Tuned();
  SetTimes("cpu:conv2d:plain");
  const auto predictor = Tuned();
  // Plain kernels: what lies between need not be laid out anew.
  EXPECT_EQ(Count(*predictor, "conv2d s: cpu:conv2d:plain (nchw) instead of"), 1) << predictor->OptimizeReportText();
  EXPECT_EQ(Count(*predictor, "conv2d y: cpu:conv2d:plain (nchw) instead of"), 1) << predictor->OptimizeReportText();
  EXPECT_EQ(predictor->RequiredKernels().find("layout"), std::string::npos) << predictor->RequiredKernels();
  ExpectNear(Run(predictor.get()), Run(CreatePaddlePredictor(Config()).get()));
}

TEST_F(TuningTest, OtherShapesAreMeasuredAnew) {
  Tuned();
  EXPECT_EQ(Count(*Tuned(), " 0 times measured"), 1);
  const auto predictor = Tuned(3);
  EXPECT_EQ(Count(*predictor, " 0 times measured"), 0);
  const std::string summary = predictor->OptimizeSummaryText();
  EXPECT_NE(summary.find("with N = 3; kernels (2 measured, 0 estimated) and"), std::string::npos) << summary;
}

TEST_F(TuningTest, WhatCannotBeIsAnError) {
  CxxConfig config = Config();
  config.set_tuning({Path("times"), {{"z", Shape{1}}}});
  EXPECT_EQ(ErrorOf([&] { CreatePaddlePredictor(config); }).code(), ErrorCode::kNotFound);
  config.set_tuning({});
  config.set_stop_after("fold_constants_pass");
  EXPECT_EQ(ErrorOf([&] { CreatePaddlePredictor(config); }).code(), ErrorCode::kInvalidArgument);
  config.set_stop_after("");
  CreatePaddlePredictor(Config())->SaveOptimizedModel(Path("optimised.wry"));
  config.set_model_dir(Path("optimised.wry"));
  EXPECT_EQ(ErrorOf([&] { CreatePaddlePredictor(config); }).code(), ErrorCode::kInvalidArgument);
  config.set_model_dir(Path("model.wry"));
  config.set_passes_internal({"infer_shapes_pass"});
  EXPECT_EQ(ErrorOf([&] { CreatePaddlePredictor(config); }).code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace wherry
