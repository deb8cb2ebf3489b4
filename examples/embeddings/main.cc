// example_embeddings: how much alike sentences are.
//
// Exit status: 0 done, 2 usage, 1 anything else with one message on standard error.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "encoder.h"
#include "word_pieces.h"

namespace {

// As sentence-transformers does with this network; what is beyond is not looked at.
constexpr size_t kMostTokens = 256;

struct Options {
  std::string sentences;
  std::string model;
  int threads = 0;
};

void Run(const Options& options) {
  const embeddings::WordPieces pieces(options.model + "/vocab.txt");
  embeddings::Encoder encoder(options.model + "/model.onnx", options.threads);
  std::ifstream file(options.sentences);
  if (!file) throw std::runtime_error("cannot open '" + options.sentences + "'");
  std::vector<std::string> lines;
  std::vector<std::vector<int64_t>> sentences;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    sentences.push_back(pieces.Tokenize(line, kMostTokens));
  }
  const std::vector<std::vector<float>> vectors = encoder.Encode(sentences);
  for (size_t i = 0; i < vectors.size(); ++i) {
    std::printf("%zu: %s\n", i + 1, lines[i].c_str());
    for (size_t j = 0; j < i; ++j) {
      // Both have the length 1: the product is the cosine of the angle between them.
      const double cosine = std::inner_product(vectors[i].begin(), vectors[i].end(), vectors[j].begin(), 0.0);
      std::printf("    like %zu: %.6f\n", j + 1, cosine);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Says how much alike sentences are.", "example_embeddings");
  Options options;
  app.add_option("SENTENCES", options.sentences, "a text file, a sentence a line")->required();
  app.add_option("--model", options.model, "a folder with model.onnx and vocab.txt")->required();
  app.add_option("--threads", options.threads, "0: as many as the machine allows")->check(CLI::Range(0, 1024));
  try {
    app.parse(argc, argv);
    Run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embeddings: %s\n", error.what());
    return 1;
  }
  return 0;
}
