#include "golden.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/check.h"
#include "ir/text.h"
#include "pass/optimizer.h"
#include "runtime/session.h"

namespace wherry::golden {

namespace {

constexpr char kArrow[] = "// ==>";
constexpr char kEnd[] = "// ----";
constexpr int64_t kSymbolValue = 3;

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream stream(text);
  std::string item;
  while (std::getline(stream, item, ',')) {
    item.erase(0, item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
    if (!item.empty()) items.push_back(item);
  }
  return items;
}

void Directive(const std::string& line, Case* test) {
  const auto value = [&line](const std::string& name) -> std::string {
    const std::string prefix = "// " + name + ":";
    return line.rfind(prefix, 0) == 0 ? line.substr(prefix.size()) : "";
  };
  for (const std::string& place : SplitList(value("places"))) test->places.push_back(ParsePlace(place));
  for (const std::string& pass : SplitList(value("before"))) test->before.push_back(pass);
  for (const std::string& item : SplitList(value("symbols"))) {
    test->symbols[item.substr(0, item.find('='))] = std::stoll(item.substr(item.find('=') + 1));
  }
  if (!value("not idempotent").empty()) test->idempotent = false;
  if (!value("not numeric").empty()) test->numeric = false;
}

DenseTensor RandomTensor(const MetaTensor& type, const SymbolValues& symbols, std::mt19937* random) {
  TensorMeta meta;
  meta.dtype = type.dtype;
  for (const Dim& dim : type.dims) {
    SymbolValues values = symbols;
    for (const std::string& symbol : SymbolsOf(dim)) values.emplace(symbol, kSymbolValue);
    meta.shape.push_back(*Evaluate(dim, values));
  }
  DenseTensor tensor(HostAllocator(), meta);
  std::uniform_real_distribution<float> real(-2, 2);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    switch (meta.dtype) {
      case DataType::kFloat: tensor.mutable_data<float>()[i] = real(*random); break;
      case DataType::kInt64: tensor.mutable_data<int64_t>()[i] = static_cast<int64_t>((*random)() % 3); break;
      case DataType::kInt32: tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>((*random)() % 3); break;
      case DataType::kInt8: tensor.mutable_data<int8_t>()[i] = static_cast<int8_t>((*random)()); break;
      case DataType::kUInt8: tensor.mutable_data<uint8_t>()[i] = static_cast<uint8_t>((*random)()); break;
      case DataType::kBool: tensor.mutable_data<bool>()[i] = (*random)() % 2 == 0; break;
      default: Throw(ErrorCode::kUnsupported, "golden tests have no random data of type ", ToString(meta.dtype));
    }
  }
  return tensor;
}

std::vector<std::shared_ptr<DenseTensor>> RunProgram(Program program, const std::vector<DenseTensor>& inputs) {
  std::vector<const DenseTensor*> pointers;
  for (const DenseTensor& input : inputs) pointers.push_back(&input);
  Session session(Executable::Build(std::move(program)), nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  session.Run(pointers, &outputs);
  return outputs;
}

std::vector<double> AsDoubles(const DenseTensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    switch (tensor.dtype()) {
      case DataType::kFloat: values.push_back(tensor.data<float>()[i]); break;
      case DataType::kFP64: values.push_back(tensor.data<double>()[i]); break;
      case DataType::kInt64: values.push_back(static_cast<double>(tensor.data<int64_t>()[i])); break;
      case DataType::kInt32: values.push_back(tensor.data<int32_t>()[i]); break;
      case DataType::kInt8: values.push_back(tensor.data<int8_t>()[i]); break;
      case DataType::kUInt8: values.push_back(tensor.data<uint8_t>()[i]); break;
      case DataType::kBool: values.push_back(tensor.data<bool>()[i] ? 1 : 0); break;
      default: Throw(ErrorCode::kUnsupported, "golden tests do not compare type ", ToString(tensor.dtype()));
    }
  }
  return values;
}

}  // namespace

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("src/passes")) {
    if (entry.path().extension() == ".wir") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Case> ReadCases(const std::string& file) {
  std::ifstream stream(file);
  std::vector<Case> cases;
  Case test;
  bool after_arrow = false;
  bool any = false;
  const auto finish = [&] {
    if (!any) return;
    test.file = file;
    test.pass = std::filesystem::path(file).stem().string();
    test.number = static_cast<int>(cases.size()) + 1;
    cases.push_back(std::move(test));
    test = Case();
    after_arrow = any = false;
  };
  std::string line;
  while (std::getline(stream, line)) {
    if (line == kEnd) {
      finish();
    } else if (line == kArrow) {
      after_arrow = true;
    } else if (!after_arrow && line.rfind("//", 0) == 0) {
      Directive(line, &test);
      test.directives += line + "\n";
    } else if (!line.empty() || any) {
      any = true;
      (after_arrow ? test.expected : test.input) += line + "\n";
    }
  }
  finish();
  return cases;
}

void WriteCases(const std::string& file, const std::vector<Case>& cases) {
  std::string text;  // whole before the file is opened: a pass may throw
  for (const Case& test : cases) {
    if (test.number > 1) text += StrCat(kEnd, "\n");
    text += StrCat(test.directives, test.input, kArrow, "\n", PrintProgram(Apply(test, 1)));
  }
  std::ofstream(file) << text;
}

Program Apply(const Case& test, int times) {
  std::vector<std::string> passes = test.before;
  if (times == 0 && passes.empty()) passes.emplace_back("none");
  for (int i = 0; i < times; ++i) passes.push_back(test.pass);
  OptimizerOptions options;
  options.verify = true;
  Program program = Optimizer(options).Run(ParseProgram(test.input), test.places, {}, passes);
  program.optimized = false;  // no part of what a case says
  return program;
}

double Compare(const Case& test, Program a, Program b) {
  std::mt19937 random(7);
  std::vector<DenseTensor> inputs;
  for (const std::string& name : a.main().inputs)
    inputs.push_back(RandomTensor(a.main().values.at(name), test.symbols, &random));
  const auto expected = RunProgram(std::move(a), inputs);
  const auto got = RunProgram(std::move(b), inputs);
  WHERRY_ENFORCE(expected.size() == got.size(), kInternal, "the programs have ", expected.size(), " and ", got.size(),
                 " outputs");
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    WHERRY_ENFORCE(expected[i]->meta() == got[i]->meta(), kInternal, "output ", i, " is ", got[i]->meta().DebugString(),
                   ", expected ", expected[i]->meta().DebugString());
    const std::vector<double> x = AsDoubles(*expected[i]);
    const std::vector<double> y = AsDoubles(*got[i]);
    double largest = 1e-30;
    for (double value : x) largest = std::max(largest, std::abs(value));
    for (size_t j = 0; j < x.size(); ++j) worst = std::max(worst, std::abs(x[j] - y[j]) / largest);
  }
  return worst;
}

}  // namespace wherry::golden
