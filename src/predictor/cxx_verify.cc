// wherry verify: with and without passes, on the same inputs; names the first pass and op that differ.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/check.h"
#include "kernel/invoke.h"
#include "predictor/cxx_explain_changes.h"
#include "predictor/cxx_load.h"
#include "predictor/random_inputs.h"
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

double Worst(const Values& expected, const Values& got) {
  double worst = 0;
  for (const auto& [name, value] : expected) worst = std::max(worst, Difference(value, got.at(name)));
  return worst;
}

// The first value, in the order of the program's ops, that both programs have and that differs.
std::string FirstDifferentOp(const Program& plain, const Program& changed, const std::map<std::string, Tensor>& inputs,
                             double tolerance) {
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
  const Values expected = RunOnce(plain.Clone(), inputs, common);
  const Values got = RunOnce(changed.Clone(), inputs, common);
  for (const std::string& name : common) {
    if (expected.count(name) == 0 || got.count(name) == 0) continue;
    if (Difference(expected.at(name), got.at(name)) > tolerance) return name;
  }
  return "";
}

// As much as floats that were computed in another order are off, relatively.
constexpr float kRounding = 0x1p-20F;

// What computing in f32 between operators on 16 bits (widen_half_pass) may move: some of the types' rounding, which
// then happens less often. 0 without any.
double RoundingOfHalves(const Program& program) {
  constexpr double kRoundings = 32;
  double unit = 0;
  for (const auto& [name, type] : program.main().values) {
    if (type.dtype == DataType::kFP16) unit = std::max(unit, 0x1p-11);
    if (type.dtype == DataType::kBF16) unit = std::max(unit, 0x1p-8);
  }
  return kRoundings * unit;
}

// The program with the scale of every quantize_linear off by that, and every element that dynamic_quantize reads by as
// much at most, up or down. Where a value falls to the other side of a step, that is what the rounding makes of it.
// Nothing without any.
class OtherSteps {
 public:
  static std::optional<Program> Of(const Program& program) {
    OtherSteps steps;
    Program changed = program.Clone();
    for (OpDesc& op : changed.main().ops) {
      if (op.Type() == "quantize_linear") op.SetInput("scale", {steps.Scaled(op.Input("scale")[0], 1 + kRounding, 0)});
      if (op.Type() == "dynamic_quantize") {
        const std::string x = op.Input("x")[0];
        const std::string angle = steps.Scaled(x, 1e4, 0);  // neighbours get different signs
        const std::string wave = steps.Scaled(steps.Emit("cos", {{"x", angle}}), kRounding, 1);
        op.SetInput("x", {steps.Emit("multiply", {{"x", x}, {"y", wave}})});
      }
      steps.ops_.push_back(std::move(op));
    }
    changed.main().ops = std::move(steps.ops_);
    return steps.count_ > 0 ? std::optional<Program>(std::move(changed)) : std::nullopt;
  }

 private:
  std::string Emit(const char* type, const std::map<std::string, std::string>& inputs, AttributeMap attrs = {}) {
    OpDesc op(type);
    std::string name = StrCat("verify.", count_++);
    for (const auto& [param, value] : inputs) op.SetInput(param, {value});
    for (auto& [param, value] : attrs) op.SetAttr(param, std::move(value));
    op.SetOutput("out", {name});
    ops_.push_back(std::move(op));
    return name;
  }
  std::string Scaled(const std::string& x, double scale, double bias) {
    return Emit("scale", {{"x", x}}, {{"scale", Scalar(scale)}, {"bias", Scalar(bias)}});
  }

  std::vector<OpDesc> ops_;
  int count_ = 0;
};

// Inputs of f32 off by as much, up or down: what a network makes of that it makes of any other order of summing.
std::map<std::string, Tensor> WithOtherRounding(const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, Tensor> changed = inputs;
  for (auto& [name, tensor] : changed) {
    if (tensor.dtype() != DataType::kFloat) continue;
    const float* const from = inputs.at(name).data<float>();
    Tensor other;
    other.Resize(tensor.shape());
    float* const to = other.mutable_data<float>();
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      const bool up = (static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15U) >> 63U != 0;
      to[i] = from[i] * (up ? 1 + kRounding : 1 - kRounding);
    }
    tensor = other;
  }
  return changed;
}

// Runs the program after every pass that changed it, until one gives other outputs.
class PassByPass {
 public:
  PassByPass(const VerifyOptions& options, VerifyResult* result) : options_(options), result_(result) {}

  void Start(const Program& program) {
    WHERRY_ENFORCE(
        !program.optimized, kInvalidArgument,
        "the model is optimised already, so no pass would be compared: verify the one that it was made from");
    plain_ = program.Clone();
    texts_ = TextsOf(plain_);
    inputs_ = RandomInputsFor(plain_, options_.shapes);
    for (const auto& [name, tensor] : options_.inputs) {
      WHERRY_ENFORCE(inputs_.count(name) != 0, kNotFound, "'", name, "' is given and is no input of the model");
      inputs_[name] = tensor;
    }
    try {
      expected_ = RunOnce(plain_.Clone(), inputs_, {});
    } catch (Error& error) {
      error.AddContext(options_.inputs.empty() ? "running the model without passes, on random inputs"
                                               : "running the model without passes");
      throw;
    }
  }

  // What is allowed: found out when something differs by more than the options' tolerance, as it takes two more runs.
  double Allowed() {
    if (allowed_) return *allowed_;
    allowed_ = std::max(options_.tolerance, RoundingOfHalves(plain_));
    Allow(RunOnce(plain_.Clone(), WithOtherRounding(inputs_), {}));
    if (std::optional<Program> changed = OtherSteps::Of(plain_)) Allow(RunOnce(*std::move(changed), inputs_, {}));
    return *allowed_;
  }

  void Check(const std::string& pass, const mir::SSAGraph& graph) {
    const mir::SSAGraph::Fingerprint fingerprint = graph.ComputeFingerprint();
    if (!result_->ok || fingerprint == fingerprint_) return;
    fingerprint_ = fingerprint;
    Program program = graph.Snapshot();
    const OpTexts before = std::exchange(texts_, TextsOf(program));
    VerifiedPass& verified = result_->passes.emplace_back();
    verified.name = pass;
    try {
      verified.max_difference = Worst(expected_, RunOnce(program.Clone(), inputs_, {}));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      verified.not_run = error.what();  // between two passes a program need not be able to run
      return;
    }
    result_->max_difference = std::max(result_->max_difference, verified.max_difference);
    if (verified.max_difference <= options_.tolerance || verified.max_difference <= Allowed()) return;
    result_->ok = false;
    result_->first_pass = pass;
    result_->first_op = FirstDifferentOp(plain_, program, inputs_, Allowed());
    if (!result_->first_op.empty()) return;
    // Watched values are not written over: what only goes wrong in shared memory is right then.
    const std::vector<OpChange> changes = Differences(before, texts_);
    if (!changes.empty()) result_->first_op = changes[0].name;
  }

 private:
  // What rounding alone makes of the outputs is no fault of a pass. Margin: it rounds in many places, or lets other
  // values fall to the other side of a step, and as many again.
  void Allow(const Values& rounded) {
    constexpr double kMargin = 4;
    const double moved = Worst(expected_, rounded);
    if (std::isfinite(moved)) allowed_ = std::max(*allowed_, kMargin * moved);
  }

  const VerifyOptions& options_;
  VerifyResult* result_;
  Program plain_;
  OpTexts texts_;  // after the pass before
  std::map<std::string, Tensor> inputs_;
  Values expected_;
  std::optional<double> allowed_;
  mir::SSAGraph::Fingerprint fingerprint_;
};

// What else than a wrong pass it may be.
const char* Advice(const VerifyOptions& options, const VerifyResult& result, double allowed) {
  if (result.first_pass == "weight_precision_pass")
    return "; a valid place asks for weights of fewer bits, which does that: give a tolerance that allows for it";
  if (options.inputs.empty() && allowed > options.tolerance)
    return "; the network makes much of the least rounding, of random inputs maybe more than of those it was made for";
  return "";
}

}  // namespace

VerifyResult VerifyModel(const CxxConfig& config, const VerifyOptions& options) {
  VerifyResult result;
  PassByPass checker(options, &result);
  LoadObserver observer;
  observer.imported = [&checker](const Program& program) { checker.Start(program); };
  observer.after_pass = [&checker](const std::string& pass, int, const mir::SSAGraph& graph) {
    checker.Check(pass, graph);
  };
  LoadModel(config, observer);
  if (result.ok) {
    result.report = StrCat(
        "the outputs with and without passes agree to ", result.max_difference,
        " of their largest magnitude, after each of the ", result.passes.size(), " passes that changed something",
        result.max_difference > options.tolerance
            ? StrCat("; that is more than ", options.tolerance, ", but no more than rounding makes of them")
            : "");
  } else {
    result.report = StrCat("the outputs differ by ", result.max_difference, " of their largest magnitude, more than ",
                           checker.Allowed(), "; the first pass after which they do is ", result.first_pass,
                           result.first_op.empty() ? "" : ", the first value that differs there is " + result.first_op,
                           Advice(options, result, checker.Allowed()));
  }
  return result;
}

}  // namespace wherry
