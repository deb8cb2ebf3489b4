// Small networks that Paddle wrote, in both its forms, against what Paddle Inference said of them (make_corpus.py).
// They are loaded from memory.
#include <gtest/gtest.h>
#include <zip.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "npz.h"
#include "wherry/predictor.h"

namespace wherry {
namespace {

// |got - want| over the largest |want| of an output.
constexpr double kTolerance = 1e-4;

struct Network {
  std::vector<char> model;
  std::vector<char> params;
  std::map<int, Tensor> outputs;
};
struct Case {
  std::map<std::string, Tensor> inputs;
  std::map<std::string, Network> forms;  // paddle, pir
};

// Calls take(name, bytes) for each file of an archive.
template <typename Take>
void ForEachEntry(const std::string& path, Take take) {
  int error = 0;
  const std::unique_ptr<zip_t, decltype(&zip_discard)> archive(zip_open(path.c_str(), ZIP_RDONLY, &error),
                                                               &zip_discard);
  ASSERT_NE(archive, nullptr) << path << ": error " << error;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    zip_stat_t stat;
    ASSERT_EQ(zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &stat), 0);
    std::vector<char> bytes(stat.size);
    zip_file_t* file = zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(i), 0);
    ASSERT_NE(file, nullptr) << stat.name;
    const zip_int64_t read = zip_fread(file, bytes.data(), bytes.size());
    zip_fclose(file);
    ASSERT_EQ(read, static_cast<zip_int64_t>(bytes.size())) << stat.name;
    take(std::string(stat.name), std::move(bytes));
  }
}

// The parts of CASE/inputs/NAME.npy, CASE/FORM/model, CASE/FORM/params, CASE/FORM/outputs/N.npy.
std::vector<std::string> Parts(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::map<std::string, Case> ReadCorpus() {
  std::map<std::string, Case> cases;
  ForEachEntry("tests/paddle/corpus.zip", [&](const std::string& name, std::vector<char> bytes) {
    const std::vector<std::string> parts = Parts(name);
    Case& one = cases[parts[0]];
    const std::string stem = parts.back().substr(0, parts.back().find(".npy"));
    if (parts[1] == "inputs") {
      one.inputs.emplace(stem, tools::ParseNpy(name, bytes));
    } else if (parts[2] == "outputs") {
      one.forms[parts[1]].outputs.emplace(std::stoi(stem), tools::ParseNpy(name, bytes));
    } else {
      (parts[2] == "model" ? one.forms[parts[1]].model : one.forms[parts[1]].params) = std::move(bytes);
    }
  });
  return cases;
}

template <typename T>
std::vector<double> Doubles(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}
std::vector<double> Values(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DataType::kFloat: return Doubles<float>(tensor);
    case DataType::kFP64: return Doubles<double>(tensor);
    case DataType::kInt64: return Doubles<int64_t>(tensor);
    case DataType::kInt32: return Doubles<int32_t>(tensor);
    case DataType::kInt16: return Doubles<int16_t>(tensor);
    case DataType::kInt8: return Doubles<int8_t>(tensor);
    case DataType::kUInt8: return Doubles<uint8_t>(tensor);
    case DataType::kBool: return Doubles<bool>(tensor);
    default: throw std::runtime_error("an output of type " + std::string(ToString(tensor.dtype())));
  }
}

// What is wrong with an output; empty if nothing is.
std::string Compare(const Tensor& got, const Tensor& want) {
  if (got.dtype() != want.dtype()) {
    return "type " + std::string(ToString(got.dtype())) + ", expected " + std::string(ToString(want.dtype()));
  }
  if (got.shape() != want.shape())
    return "shape " + got.shape().DebugString() + ", expected " + want.shape().DebugString();
  const bool exact = want.dtype() != DataType::kFloat && want.dtype() != DataType::kFP64;
  const std::vector<double> a = Values(got);
  const std::vector<double> b = Values(want);
  double largest = 0.0;
  for (const double value : b) largest = std::isfinite(value) ? std::max(largest, std::fabs(value)) : largest;
  for (size_t i = 0; i < b.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (same || (!exact && std::fabs(a[i] - b[i]) <= kTolerance * largest)) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(a[i]) + ", expected " + std::to_string(b[i]);
  }
  return "";
}

std::string RunNetwork(const Case& one, const Network& network) {
  CxxConfig config;
  config.set_model_buffer(network.model.data(), network.model.size(),
                          network.params.empty() ? nullptr : network.params.data(), network.params.size());
  const auto predictor = CreatePaddlePredictor(config);
  for (const std::string& name : predictor->GetInputNames()) {
    const Tensor& value = one.inputs.at(name);
    const auto input = predictor->GetInputByName(name);
    input->Resize(value.shape());
    std::memcpy(input->mutable_raw_data(value.dtype()), value.raw_data(), value.nbytes());
  }
  predictor->Run();
  const size_t outputs = predictor->GetOutputNames().size();
  if (outputs != network.outputs.size()) {
    return std::to_string(outputs) + " outputs, expected " + std::to_string(network.outputs.size());
  }
  for (const auto& [i, want] : network.outputs) {
    const std::string wrong = Compare(*predictor->GetOutput(i), want);
    if (!wrong.empty()) return "output " + std::to_string(i) + ": " + wrong;
  }
  return "";
}

TEST(PaddleCorpus, WhatPaddleSaid) {
  const std::map<std::string, Case> cases = ReadCorpus();
  std::map<std::string, int> passed;
  for (const auto& [name, one] : cases) {
    for (const auto& [form, network] : one.forms) {
      std::string wrong;
      try {
        wrong = RunNetwork(one, network);
      } catch (const std::exception& error) {
        wrong = error.what();
      }
      EXPECT_EQ(wrong, "") << name << ", " << form;
      if (wrong.empty()) ++passed[form];
    }
  }
  // Of each form, so that a corpus that is cut short is noticed.
  constexpr int kLeast = 650;
  EXPECT_GE(passed["paddle"], kLeast);
  EXPECT_GE(passed["pir"], kLeast);
}

}  // namespace
}  // namespace wherry
