// ONNX's own tests through the real predictor, optimised and without passes. Either way the outputs must be as
// expected, and those of both ways near each other: within 1e-4 of the largest magnitude, and 1e-5 where the optimised
// network's kernels are not picked by cost either; whole numbers as near as the test wants them (equal, but for
// quantised results).
//
//   onnx_conformance CORPUS EXPECTED... [--filter TEXT] [--failures FILE]
//
// EXPECTED, one file or several, lists the tests that are known to fail or not run, under their reasons. Exit status 1
// when a test fails that is not listed, or one passes that is: the list says what is true. --failures writes a line for
// each that fails.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "conformance/onnx/corpus.h"
#include "core/dense_tensor.h"
#include "pass/optimizer.h"
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

// The outputs for each data set; empty `passes`: the default pipeline.
std::vector<std::vector<NamedValue>> RunModel(const OnnxTest& test, const std::vector<DataSet>& sets,
                                              const std::vector<std::string>& passes) {
  CxxConfig config;
  config.set_model_buffer(test.model.data(), test.model.size());
  config.set_threads(1);
  config.set_passes_internal(passes);
  const auto predictor = CreatePaddlePredictor(config);
  const std::vector<std::string> names = predictor->GetInputNames();
  std::vector<std::vector<NamedValue>> outputs;
  for (const DataSet& set : sets) {
    for (const NamedValue& input : set.inputs) {
      if (!input.value || std::find(names.begin(), names.end(), input.name) == names.end()) continue;
      *predictor->GetInputByName(input.name)->impl() = *input.value->impl();
    }
    predictor->Run();
    std::vector<NamedValue>& values = outputs.emplace_back();
    for (const NamedValue& output : set.outputs) {
      if (output.value) values.push_back({output.name, *predictor->GetOutputByName(output.name)});
    }
  }
  return outputs;
}

// The default pipeline up to the pick of kernels.
std::vector<std::string> PassesBeforePick() {
  std::vector<std::string> passes = DefaultPipeline();
  passes.erase(std::find(passes.begin(), passes.end(), "static_kernel_pick_pass"), passes.end());
  return passes;
}

// In each way; what is wrong in one of them is wrong.
Result Run(const OnnxTest& test) {
  static const std::vector<std::string> before_pick = PassesBeforePick();
  struct Way {
    const char* name;
    std::vector<std::string> passes;
    double tolerance;  // towards the outputs without passes
  };
  const Way ways[] = {{"without passes", {"none"}, 0}, {"optimised", {}, 1e-4}, {"without a pick", before_pick, 1e-5}};
  const char* way_name = "";
  try {
    const std::vector<DataSet> sets = ReadDataSets(test);
    std::vector<std::vector<NamedValue>> plain;
    for (const Way& way : ways) {
      way_name = way.name;
      const std::vector<std::vector<NamedValue>> outputs = RunModel(test, sets, way.passes);
      if (plain.empty()) plain = outputs;
      for (size_t s = 0; s < sets.size(); ++s) {
        auto expected = sets[s].outputs.begin();
        for (size_t i = 0; i < outputs[s].size(); ++i, ++expected) {
          while (!expected->value) ++expected;
          const Tensor& got = *outputs[s][i].value;
          std::string difference = Difference(got, *expected->value, test.rtol, test.atol);
          if (difference.empty()) {
            difference = Drift(got, *plain[s][i].value, way.tolerance, test.atol);
            if (!difference.empty()) difference += " without passes";
          }
          if (!difference.empty())
            return {Outcome::kWrong, std::string(way.name) + ": output " + expected->name + ": " + difference};
        }
      }
    }
    return {};
  } catch (const Error& error) {
    return {Outcome::kError, std::string(way_name) + ": " + error.what()};
  }
}

struct Expectation {
  Outcome outcome = Outcome::kError;
  std::string reason;
};

// Adds what a file says: "# error: reason", "# wrong: reason" or "# skip: reason", then names, one a line.
void ReadExpected(const std::string& path, std::map<std::string, Expectation>* expected) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Expectation current;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with("//")) continue;
    if (line.starts_with("# skip: ")) {
      current = {Outcome::kSkip, line.substr(8)};
    } else if (line.starts_with("# wrong: ")) {
      current = {Outcome::kWrong, line.substr(9)};
    } else if (line.starts_with("# error: ")) {
      current = {Outcome::kError, line.substr(9)};
    } else if (!expected->emplace(line, current).second || line.starts_with("#")) {
      throw std::runtime_error(path + ": what does the line mean: " + line);
    }
  }
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

int Main(const std::vector<std::string>& args) {
  std::map<std::string, Expectation> expected;
  size_t options = 1;
  for (; options < args.size() && !args[options].starts_with("--"); ++options) ReadExpected(args[options], &expected);
  if (options < 2)
    throw std::runtime_error("usage: onnx_conformance CORPUS EXPECTED... [--filter TEXT] [--failures FILE]");
  std::string filter;
  std::ofstream failures;
  for (size_t i = options; i + 1 < args.size(); i += 2) {
    if (args[i] == "--filter") filter = args[i + 1];
    if (args[i] == "--failures") failures.open(args[i + 1]);
  }
  std::ifstream file(args[0], std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + args[0] + " (tests/conformance/onnx/dump_corpus.py makes it)");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
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
  if (surprises > 0) std::cout << surprises << " not as expected\n";
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
