// Whether a predictor's memory stays where it is: soak [MODEL [LOW HIGH]] [--runs N] [--shapes N]
//
// Runs the network (its own one without MODEL) N times (10,000) over N random shapes (500), whose dynamic dimensions
// are LOW to HIGH (1 to 128) and the first one at most 4. Exit status 1 when it ends with more than 1.05 of the memory
// that it had after every shape was run once, or when Trim gives back less than half of what the activations held.
// Memory that the C library keeps after it was freed is not the predictor's: it is printed, and given back before what
// counts is read.
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "robustness/stress_model.h"

namespace {

// Resident memory that no file is behind, in bytes.
size_t PrivateBytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind("RssAnon:", 0) == 0) return std::strtoull(line.c_str() + 8, nullptr, 10) << 10U;
  }
  return 0;
}

struct Options {
  std::string model;
  int64_t low = 1;
  int64_t high = 128;
  int runs = 10'000;
  int shapes = 500;
};

Options Parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (std::strcmp(argv[i], "--runs") == 0 && has_value) {
      options.runs = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "--shapes") == 0 && has_value) {
      options.shapes = std::atoi(argv[++i]);
    } else {
      words.emplace_back(argv[i]);
    }
  }
  if (!words.empty()) options.model = words[0];
  if (words.size() > 2) {
    options.low = std::atoll(words[1].c_str());
    options.high = std::atoll(words[2].c_str());
  }
  return options;
}

std::vector<wherry::Shape> RandomShapes(const wherry::PaddlePredictor& predictor, const Options& options,
                                        std::mt19937* random) {
  std::vector<wherry::Shape> shapes;  // of every input in turn
  for (const wherry::ValueInfo& input : predictor.Inputs()) {
    wherry::Shape& shape = shapes.emplace_back();
    for (size_t axis = 0; axis < input.dims.size(); ++axis) {
      const int64_t high = axis == 0 ? std::min<int64_t>(4, options.high) : options.high;
      const int64_t low = std::min(options.low, high);
      const int64_t dynamic = low + static_cast<int64_t>((*random)() % static_cast<uint64_t>(high - low + 1));
      shape.push_back(input.dims[axis].value >= 0 ? input.dims[axis].value : dynamic);
    }
  }
  return shapes;
}

void Run(wherry::PaddlePredictor* predictor, const std::vector<wherry::Shape>& shapes) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    const auto input = predictor->GetInput(static_cast<int>(i));
    input->Resize(shapes[i]);
    float* data = input->mutable_data<float>();
    for (int64_t e = 0; e < input->numel(); ++e) data[e] = static_cast<float>(e % 13) / 13;
  }
  predictor->Run();
}

int Soak(const Options& options) {
  std::shared_ptr<wherry::PaddlePredictor> predictor;
  if (options.model.empty()) {
    predictor = wherry::CreateStressPredictor(2);
  } else {
    wherry::CxxConfig config;
    config.set_model_dir(options.model);
    config.set_threads(2);
    predictor = wherry::CreatePaddlePredictor(config);
  }
  std::mt19937 random(11);
  std::vector<std::vector<wherry::Shape>> shapes;
  for (int i = 0; i < options.shapes; ++i) shapes.push_back(RandomShapes(*predictor, options, &random));
  for (const auto& each : shapes) Run(predictor.get(), each);
  malloc_trim(0);
  const size_t first = PrivateBytes();
  std::printf("after %d runs: %.1f MB, activations %.1f MB\n", options.shapes, static_cast<double>(first) / 1e6,
              static_cast<double>(predictor->ActivationBytes()) / 1e6);
  for (int i = options.shapes; i < options.runs; ++i) {
    Run(predictor.get(), shapes[random() % shapes.size()]);
    if (i % (options.runs / 8) == 0) std::printf("  %d: %.1f MB\n", i, static_cast<double>(PrivateBytes()) / 1e6);
  }
  const size_t with_freed = PrivateBytes();
  malloc_trim(0);
  const size_t last = PrivateBytes();
  const size_t held = predictor->ActivationBytes();
  predictor->Trim();
  const size_t trimmed = PrivateBytes();
  const double ratio = static_cast<double>(last) / static_cast<double>(first);
  std::printf("after %d runs: %.1f MB, %.3f of it; activations %.1f MB; after Trim %.1f MB, activations %.1f MB\n",
              options.runs, static_cast<double>(last) / 1e6, ratio, static_cast<double>(held) / 1e6,
              static_cast<double>(trimmed) / 1e6, static_cast<double>(predictor->ActivationBytes()) / 1e6);
  std::printf("freed and kept by the C library: %.1f MB\n", static_cast<double>(with_freed - last) / 1e6);
  const bool given_back = held < size_t{1} << 20U || last - trimmed > held / 2;
  if (ratio > 1.05) std::printf("FAILED: it grew\n");
  if (!given_back) std::printf("FAILED: Trim gave too little back\n");
  return ratio <= 1.05 && given_back ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  // The C library's own ways of keeping memory: what it may keep in an arena per thread differs from run to run by a
  // tenth of the little that is held here.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
  try {
    return Soak(Parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
