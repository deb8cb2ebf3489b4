// Every kernel of every provider against `ref`, with the cases of ops/*.yaml. Prints what was skipped and why.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "conformance/case.h"
#include "conformance/known_failures.h"
#include "conformance/runner.h"
#include "kernel/kernel_registry.h"
#include "kernel/provider.h"
#include "op/schema_registry.h"

namespace wherry::conformance {
namespace {

// The kernels of one operator that share provider and variant: one for each type and layout.
struct Param {
  const OpCases* op;
  std::string id;  // "cpu:conv2d:winograd4"
  std::vector<const Kernel*> kernels;
};

std::ostream& operator<<(std::ostream& out, const Param& param) {
  return out << param.op->op->name << " by " << param.id;
}

std::vector<Param> AllParams() {
  std::vector<Param> params;
  for (const OpCases& op : AllCases()) {
    std::map<std::string, Param> by_id;
    for (const Kernel* kernel : KernelFactory::Instance().Kernels(op.op->kernel)) {
      Param& param = by_id[kernel->id()];
      param.op = &op;
      param.id = kernel->id();
      param.kernels.push_back(kernel);
    }
    for (auto& [id, param] : by_id) params.push_back(std::move(param));
  }
  return params;
}

std::string NameOf(const ::testing::TestParamInfo<Param>& info) {
  std::string name = std::string(info.param.op->op->name) + "_by_" + info.param.id;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !isalnum(c); }, '_');
  return name;
}

// Counts and reasons, printed at the end.
class Report : public ::testing::Environment {
 public:
  static Report& Get() {
    static auto* report = new Report();  // GoogleTest deletes it
    return *report;
  }
  void Passed() { ++passed_; }
  void Skipped(const std::string& kernel, const std::string& why) { ++skipped_[{kernel, why}]; }
  void Known() { ++known_; }

  void TearDown() override {
    std::cout << "conformance: " << passed_ << " runs passed, " << known_ << " failed as known";
    for (const auto& [what, count] : skipped_) {
      std::cout << "\n  skipped " << count << " of " << what.first << ": " << what.second;
    }
    std::cout << "\n";
  }

 private:
  size_t passed_ = 0;
  size_t known_ = 0;
  std::map<std::pair<std::string, std::string>, size_t> skipped_;
};

class ConformanceTest : public ::testing::TestWithParam<Param> {};

// A context for the kernel's target, made once; null for the processor itself. `why` says what is missing.
DeviceContext* DeviceFor(const Kernel& kernel, std::string* why) {
  if (IsHostMemory(kernel.key.target()) || kernel.key.target() == Target::kAny) return nullptr;
  static std::map<Target, std::unique_ptr<DeviceContext>> contexts;
  static std::map<Target, std::string> missing;
  const Target target = kernel.key.target();
  if (contexts.count(target) == 0 && missing.count(target) == 0) {
    try {
      contexts[target] = CreateDeviceContext(target);
    } catch (const Error& error) {
      contexts.erase(target);
      missing[target] = error.what();
    }
  }
  if (missing.count(target) != 0) {
    *why = missing[target];
    return nullptr;
  }
  return contexts[target].get();
}

TEST_P(ConformanceTest, AgreesWithReference) {
  const Param& param = GetParam();
  const std::string provider = param.id.substr(0, param.id.find(':'));
  KnownFailures known("tests/conformance/known_failures", provider);
  for (const Kernel* kernel : param.kernels) {
    std::string why;
    DeviceContext* device = DeviceFor(*kernel, &why);
    if (!why.empty()) {
      Report::Get().Skipped(param.id, why);
      continue;
    }
    for (const Variant& variant : VariantsOf(*param.op->op, *kernel)) {
      for (size_t i = 0; i < param.op->cases.size(); ++i) {
        const Result result = RunCase(*param.op, i, *kernel, variant, device);
        if (result.outcome == Outcome::kPassed) Report::Get().Passed();
        if (result.outcome == Outcome::kSkipped && !result.message.empty()) {
          Report::Get().Skipped(param.id, result.message);
        }
        if (result.outcome != Outcome::kFailed) continue;
        const std::string what =
            StrCat("{", param.op->cases[i].text, "} on ", kernel->key.DebugString(), ", ", variant.DebugString());
        if (known.Expects(param.id, what)) {
          Report::Get().Known();
        } else {
          ADD_FAILURE() << param.id << " " << what << ": " << result.message;
        }
      }
    }
  }
  for (const std::string& line : known.Unused(param.id))
    ADD_FAILURE() << "passes, though it is known to fail: " << line;
}

INSTANTIATE_TEST_SUITE_P(Kernels, ConformanceTest, ::testing::ValuesIn(AllParams()), NameOf);

// The kernels are there when they are asked for, and none is left out of the suite for want of cases.
TEST(ConformanceSuite, EveryKernelHasCases) {
  for (const Kernel* kernel : KernelFactory::Instance().List()) {
    bool found = false;
    for (const OpCases& op : AllCases()) found = found || kernel->op == op.op->kernel;
    // The suite has real numbers only: src/kernels/ref/complex_test.cc, and for strings tests/conformance/onnx.
    if (kernel->op == "as_real" || kernel->op == "as_complex" || kernel->key.dtype() == DataType::kString) continue;
    EXPECT_TRUE(found) << kernel->id() << " has no case in ops/*.yaml";
  }
}

// io_copy is executed by the device contexts.
TEST(ConformanceSuite, EveryOperatorHasAReferenceKernel) {
  for (const OpSchema* op : SchemaRegistry::Global().List()) {
    if (op->RunByRuntime() || std::string_view(op->name) == "io_copy") continue;
    if (std::string_view(op->name) == "regex_full_match") continue;  // what is a match is for RE2 to say
    bool found = false;
    for (const Kernel* kernel : KernelFactory::Instance().Kernels(op->kernel)) {
      found = found || kernel->provider == "ref";
    }
    EXPECT_TRUE(found) << op->name << " needs src/kernels/ref/" << op->kernel << ".cc";
  }
}

const auto* const kReport = ::testing::AddGlobalTestEnvironment(&Report::Get());

}  // namespace
}  // namespace wherry::conformance
