#include "network.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "wherry/error.h"

namespace ocr {

namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void Fill(const Image& image, int width, float* planes) {
  const size_t plane = static_cast<size_t>(image.height) * static_cast<size_t>(width);
  for (int y = 0; y < image.height; ++y) {
    const uint8_t* from = image.At(0, y);
    float* row = planes + static_cast<size_t>(y) * static_cast<size_t>(width);
    for (int x = 0; x < image.width; ++x, from += 3) {
      for (size_t c = 0; c < 3; ++c)
        row[c * plane + static_cast<size_t>(x)] = static_cast<float>(from[2 - c]) / 127.5F - 1;
    }
    for (size_t c = 0; c < 3; ++c) std::fill(row + c * plane + image.width, row + c * plane + width, 0.0F);
  }
}

}  // namespace

Network::Network(const std::string& path, int threads) : path_(path) {
  wherry::CxxConfig config;
  config.set_model_dir(path);
  config.set_threads(threads);
  const auto start = Clock::now();
  predictor_ = wherry::CreatePaddlePredictor(config);
  times_.load = MillisecondsSince(start);
  times_.optimize = predictor_->GetLoadTimes().optimize_ms;
  const std::vector<wherry::ValueInfo>& inputs = predictor_->Inputs();
  if (inputs.size() != 1 || inputs[0].dtype != wherry::DataType::kFloat ||
      (inputs[0].rank_known && inputs[0].dims.size() != 4) || predictor_->Outputs().empty()) {
    throw std::runtime_error("'" + path + "' is no network that looks at images: one f32 input of four dimensions");
  }
}

wherry::Tensor Network::Run(const std::vector<const Image*>& images, int height, int width) {
  const auto input = predictor_->GetInput(0);
  input->Resize({static_cast<int64_t>(images.size()), 3, height, width});
  float* planes = input->mutable_data<float>();
  for (size_t i = 0; i < images.size(); ++i)
    Fill(*images[i], width, planes + i * 3 * static_cast<size_t>(height) * static_cast<size_t>(width));
  const auto start = Clock::now();
  try {
    predictor_->Run();
  } catch (wherry::Error& error) {
    error.AddContext("running '" + path_ + "'");
    throw;
  }
  times_.run += MillisecondsSince(start);
  ++times_.runs;
  wherry::Tensor output = *predictor_->GetOutput(0);
  if (output.dtype() != wherry::DataType::kFloat) RefuseOutput("network with f32 results", output);
  return output;
}

void Network::RefuseOutput(const std::string& what, const wherry::Tensor& output) const {
  throw std::runtime_error("'" + path_ + "' is no " + what + ": its output is " + wherry::ToString(output.dtype()) +
                           output.shape().DebugString());
}

}  // namespace ocr
