// ONNX's own tests through the real predictor, optimised and without passes:
//
//   onnx_conformance CORPUS EXPECTED [--filter TEXT] [--failures FILE]
//
// EXPECTED lists the tests that are known to fail or not run, under their reasons. Exit status 1 when a test fails that
// is not listed, or one passes that is: the list says what is true. --failures writes a line for each that fails.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "conformance/onnx/corpus.h"
#include "core/dense_tensor.h"
#include "wherry/error.h"
#include "wherry/predictor.h"

namespace wherry::onnx_tests {

namespace {

enum class Outcome { kPass, kWrong, kError, kSkip };
constexpr const char* kOutcomes[] = {"pass", "wrong", "error", "skip"};

struct Result {
  Outcome outcome = Outcome::kPass;
  std::string text;
};

Result RunModel(const OnnxTest& test, bool optimised) {
  CxxConfig config;
  config.set_model_buffer(test.model.data(), test.model.size());
  config.set_threads(1);
  if (!optimised) config.set_passes_internal({"none"});
  try {
    const std::vector<DataSet> sets = ReadDataSets(test);
    const auto predictor = CreatePaddlePredictor(config);
    const std::vector<std::string> names = predictor->GetInputNames();
    for (const DataSet& set : sets) {
      for (const NamedValue& input : set.inputs) {
        if (!input.value || std::find(names.begin(), names.end(), input.name) == names.end()) continue;
        *predictor->GetInputByName(input.name)->impl() = *input.value->impl();
      }
      predictor->Run();
      for (const NamedValue& output : set.outputs) {
        if (!output.value) continue;
        const auto got = predictor->GetOutputByName(output.name);
        const std::string difference = Difference(*got, *output.value, test.rtol, test.atol);
        if (!difference.empty()) return {Outcome::kWrong, "output " + output.name + ": " + difference};
      }
    }
    return {};
  } catch (const Error& error) {
    return {Outcome::kError, error.what()};
  }
}

// Both ways; what is wrong in one of them is wrong.
Result Run(const OnnxTest& test) {
  Result result = RunModel(test, true);
  if (result.outcome != Outcome::kPass) return result;
  result = RunModel(test, false);
  if (result.outcome != Outcome::kPass) result.text = "without passes: " + result.text;
  return result;
}

struct Expectation {
  Outcome outcome = Outcome::kError;
  std::string reason;
};

// "# error: reason", "# wrong: reason" or "# skip: reason", then names, one a line.
std::map<std::string, Expectation> ReadExpected(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::map<std::string, Expectation> expected;
  Expectation current;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with("//")) continue;
    if (line.starts_with("# skip: ")) {
      current = {Outcome::kSkip, line.substr(8)};
    } else if (line.starts_with("# wrong: ")) {
      current = {Outcome::kWrong, line.substr(9)};
    } else if (line.starts_with("# error: ")) {
      current = {Outcome::kError, line.substr(9)};
    } else if (!expected.emplace(line, current).second || line.starts_with("#")) {
      throw std::runtime_error(path + ": what does the line mean: " + line);
    }
  }
  return expected;
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int Main(const std::vector<std::string>& args) {
  if (args.size() < 2)
    throw std::runtime_error("usage: onnx_conformance CORPUS EXPECTED [--filter TEXT] [--failures FILE]");
  std::string filter;
  std::ofstream failures;
  for (size_t i = 2; i + 1 < args.size(); i += 2) {
    if (args[i] == "--filter") filter = args[i + 1];
    if (args[i] == "--failures") failures.open(args[i + 1]);
  }
  std::ifstream file(args[0], std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + args[0] + " (tests/conformance/onnx/dump_corpus.py makes it)");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::map<std::string, Expectation> expected = ReadExpected(args[1]);
  std::map<std::string, std::map<Outcome, int>> counts;
  int surprises = 0;
  for (const OnnxTest& test : ReadCorpus(bytes)) {
    if (test.name.find(filter) == std::string::npos) continue;
    const auto known = expected.find(test.name);
    const bool skipped = known != expected.end() && known->second.outcome == Outcome::kSkip;
    const Result result = skipped ? Result{Outcome::kSkip, known->second.reason} : Run(test);
    ++counts[test.kind][result.outcome];
    const Outcome wanted = known == expected.end() ? Outcome::kPass : known->second.outcome;
    if (known != expected.end()) expected.erase(known);
    const std::string line =
        test.name + ": " + kOutcomes[static_cast<int>(result.outcome)] + ": " + OneLine(result.text);
    if (result.outcome != Outcome::kPass && failures.is_open()) failures << line << "\n";
    if (result.outcome == wanted) continue;
    ++surprises;
    std::cout << line << " (expected: " << kOutcomes[static_cast<int>(wanted)] << ")\n";
  }
  std::map<Outcome, int> all;
  for (const auto& [kind, outcomes] : counts) {
    std::cout << kind << ":";
    for (const auto& [outcome, count] : outcomes) {
      std::cout << " " << count << " " << kOutcomes[static_cast<int>(outcome)];
      all[outcome] += count;
    }
    std::cout << "\n";
  }
  std::cout << "all:";
  for (const auto& [outcome, count] : all) std::cout << " " << count << " " << kOutcomes[static_cast<int>(outcome)];
  std::cout << "\n";
  if (filter.empty()) {
    for (const auto& [name, expectation] : expected) std::cout << name << " is expected, but there is no such test\n";
    surprises += static_cast<int>(expected.size());
  }
  if (surprises > 0) std::cout << surprises << " not as " << args[1] << " says\n";
  return surprises > 0 ? 1 : 0;
}

}  // namespace

}  // namespace wherry::onnx_tests

int main(int argc, char** argv) {
  try {
    return wherry::onnx_tests::Main({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
