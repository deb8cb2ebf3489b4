// The network that the robustness tests of predictors run: convolutions, a residual, a matrix product, any batch and
// size.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "format/wry.h"
#include "ir/text.h"
#include "wherry/predictor.h"

namespace wherry {

inline constexpr char kStressProgram[] = R"(
weight %f : f32[4,3,3,3] = base64"{f}"
weight %g : f32[4,1,3,3] = base64"{g}"
weight %w : f32[4,5] = base64"{w}"
block main(%x : f32[N,3,H,W]) -> (%y, %k) {
  %a = conv2d(x: %x, filter: %f) {paddings = [1, 1]}
  %b = relu(x: %a)
  %c = conv2d(x: %b, filter: %g) {groups = 4, paddings = [1, 1]}
  %d = add(x: %c, y: %b)
  %k = mean(x: %d) {axis = [2, 3]}
  %m = matmul(x: %k, y: %w)
  %y = softmax(x: %m)
}
)";

inline std::string StressProgramText() {
  std::string text = kStressProgram;
  const std::pair<const char*, int> weights[] = {{"{f}", 108}, {"{g}", 36}, {"{w}", 20}};
  for (const auto& [name, count] : weights) {
    // Three floats are twelve bytes, sixteen digits: 0.5, -0.25, 1.
    std::string digits;
    for (int i = 0; i < count / 3; ++i) digits += "AAAAPwAAgL4AAIA/";
    if (count % 3 == 2) digits += "AAAAPwAAgL4=";
    text.replace(text.find(name), 3, digits);
  }
  return text;
}

// A program as the bytes of a .wry file, not optimised.
inline std::string WryBytes(const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() / ("wherry_stress_" + std::to_string(getpid()) + ".wry");
  SaveWry(ParseProgram(text), path.string());
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::filesystem::remove(path);
  return bytes;
}

// A predictor of the network above.
inline std::shared_ptr<PaddlePredictor> CreateStressPredictor(int threads, size_t memory_limit = 0) {
  static const std::string& bytes = *new std::string(WryBytes(StressProgramText()));
  CxxConfig config;
  config.set_model_buffer(bytes.data(), bytes.size());
  config.set_threads(threads);
  config.set_memory_limit(memory_limit);
  return CreatePaddlePredictor(config);
}

}  // namespace wherry
