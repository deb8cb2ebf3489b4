// wherry verify: with and without passes, on the same inputs; names the first pass and op that differ.
#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "kernel/invoke.h"
#include "predictor/cxx_load.h"
#include "runtime/session.h"
#include "wherry/program.h"

namespace wherry {

namespace {

using Values = std::map<std::string, std::vector<double>>;

std::vector<double> AsDoubles(const DenseTensor& tensor) {
  CpuContext context;
  const DenseTensor converted = TransformTensor(tensor, DataType::kFP64, DataLayout::kNCHW, &context);
  const auto* data = converted.data<double>();
  return std::vector<double>(data, data + converted.numel());
}

// Runs a program; the values are its outputs by the names users know, and `watched` by their own.
Values RunOnce(Program program, const std::map<std::string, Tensor>& inputs, const std::vector<std::string>& watched) {
  std::vector<DenseTensor> tensors;
  for (const std::string& name : program.main().inputs) tensors.push_back(*inputs.at(name).impl());
  std::vector<const DenseTensor*> pointers;
  for (const DenseTensor& tensor : tensors) pointers.push_back(&tensor);
  Session session(Executable::Build(std::move(program), watched), nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  session.Run(pointers, &outputs);
  Values values;
  const auto keep = [&values](const std::string& name, const DenseTensor& tensor) {
    if (IsFloating(tensor.dtype()) || IsInteger(tensor.dtype()) || tensor.dtype() == DataType::kBool)
      values[name] = AsDoubles(tensor);
  };
  for (size_t i = 0; i < outputs.size(); ++i) keep(session.executable().main().output_names[i], *outputs[i]);
  for (const std::string& name : watched) {
    if (const auto value = session.Value(name)) keep(name, *value);
  }
  return values;
}

// The largest difference relative to the largest magnitude; infinite when the sizes differ. NaN equals NaN.
double Difference(const std::vector<double>& expected, const std::vector<double>& got) {
  if (expected.size() != got.size()) return INFINITY;
  double largest = 1e-30;
  double worst = 0;
  for (double value : expected) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == got[i] || (std::isnan(expected[i]) && std::isnan(got[i]))) continue;
    const double difference = std::abs(expected[i] - got[i]);
    worst = std::max(worst, std::isnan(difference) ? static_cast<double>(INFINITY) : difference);
  }
  return worst / largest;
}

double Worst(const Values& expected, const Values& got, const std::vector<std::string>& names) {
  double worst = 0;
  for (const std::string& name : names) worst = std::max(worst, Difference(expected.at(name), got.at(name)));
  return worst;
}

// The first value, in the order of the program's ops, that both programs have and that differs.
std::string FirstDifferentOp(const CxxConfig& config, const std::vector<std::string>& passes,
                             const std::map<std::string, Tensor>& inputs, double tolerance) {
  CxxConfig optimised = config;
  optimised.set_passes_internal(passes);
  Program plain = ImportFromConfig(config);
  Program changed = LoadModel(optimised).program;
  std::set<std::string> there;
  for (const OpDesc& op : changed.main().ops) {
    for (const auto& [param, names] : op.outputs()) there.insert(names.begin(), names.end());
  }
  std::vector<std::string> common;
  for (const OpDesc& op : plain.main().ops) {
    for (const auto& [param, names] : op.outputs()) {
      for (const std::string& name : names) {
        if (there.count(name) != 0) common.push_back(name);
      }
    }
  }
  const Values expected = RunOnce(std::move(plain), inputs, common);
  const Values got = RunOnce(std::move(changed), inputs, common);
  for (const std::string& name : common) {
    if (expected.count(name) == 0 || got.count(name) == 0) continue;
    if (Difference(expected.at(name), got.at(name)) > tolerance) return name;
  }
  return "";
}

}  // namespace

VerifyResult VerifyModel(const CxxConfig& config, const VerifyOptions& options) {
  std::map<std::string, Tensor> inputs = RandomInputs(config, options.shapes);
  for (const auto& [name, tensor] : options.inputs) {
    WHERRY_ENFORCE(inputs.count(name) != 0, kNotFound, "'", name, "' is given and is no input of the model");
    inputs[name] = tensor;
  }
  const std::vector<std::string> passes = PassesOf(config);
  VerifyResult result;
  const Values expected = RunOnce(ImportFromConfig(config), inputs, {});
  std::vector<std::string> names;
  for (const auto& [name, value] : expected) names.push_back(name);
  result.max_difference = Worst(expected, RunOnce(LoadModel(config).program, inputs, {}), names);
  result.ok = result.max_difference <= options.tolerance;
  if (result.ok) {
    result.report =
        StrCat("the outputs with and without passes agree to ", result.max_difference, " of their largest magnitude");
    return result;
  }
  // Prefixes of the pipeline, by bisection: once a pass has broken the outputs, later ones do not mend them.
  size_t good = 0;
  size_t bad = passes.size();
  while (bad - good > 1) {
    const size_t middle = (good + bad) / 2;
    CxxConfig prefix = config;
    prefix.set_passes_internal({passes.begin(), passes.begin() + static_cast<int64_t>(middle)});
    const double worst = Worst(expected, RunOnce(LoadModel(prefix).program, inputs, {}), names);
    (worst <= options.tolerance ? good : bad) = middle;
  }
  result.first_pass = passes[bad - 1];
  result.first_op =
      FirstDifferentOp(config, {passes.begin(), passes.begin() + static_cast<int64_t>(bad)}, inputs, options.tolerance);
  result.report =
      StrCat("the outputs differ by ", result.max_difference, " of their largest magnitude, more than ",
             options.tolerance, "; the first pass after which they do is ", result.first_pass,
             result.first_op.empty() ? "" : StrCat(", the first value that differs there is ", result.first_op));
  return result;
}

}  // namespace wherry
