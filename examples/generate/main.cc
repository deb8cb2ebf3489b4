// example_generate: goes on with a text, token by token.
//
// Exit status: 0 done, 2 usage, 1 anything else with one message on standard error.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "decoder.h"

namespace {

struct Options {
  std::string model;
  std::vector<int64_t> tokens;
  int count = 64;
  int threads = 0;
};

void Run(const Options& options) {
  generate::Decoder decoder(options.model, options.threads);
  std::vector<int64_t> tokens = options.tokens;
  for (int i = 0; i < options.count; ++i) {
    tokens = {decoder.Next(tokens)};
    std::printf("%lld%c", static_cast<long long>(tokens[0]), i % 16 == 15 || i + 1 == options.count ? '\n' : ' ');
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Goes on with a text, always with the most likely token.", "example_generate");
  Options options;
  app.add_option("MODEL", options.model, "a decoder with a cache: input_ids, past -> logits, present")->required();
  app.add_option("TOKENS", options.tokens, "the text so far")->required();
  app.add_option("--count", options.count, "tokens to add")->check(CLI::Range(1, 1 << 20))->capture_default_str();
  app.add_option("--threads", options.threads, "0: as many as the machine allows")->check(CLI::Range(0, 1024));
  try {
    app.parse(argc, argv);
    Run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "generate: %s\n", error.what());
    return 1;
  }
  return 0;
}
