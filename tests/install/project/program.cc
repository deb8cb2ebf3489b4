// The operator, kernel and pass in the program's own objects or in its static library:
//   program MODEL OPTIMIZED [PLUGIN]
// PLUGIN holds the same again.
#include <string>

#include "checks.h"
#include "gain_ops.h"
#include "wherry/detail/importer/import_rule.h"
#include "wherry/extend.h"
#include "wherry/ops.h"

namespace {

void CheckFunction() {
  using wherry::Tensor;
  Tensor x = Tensor::From<float>({2}, {1, -2});
  const Tensor doubled = wherry::gain(x);
  Check(doubled.data<float>()[1] == -4, "the function, with the default factor");
  Check(wherry::relu(wherry::gain(x, -1)).data<float>()[1] == 2, "a chain with a built-in operator");
  wherry::gain_(x, 3);
  Check(x.data<float>()[0] == 3, "in place");
  CheckError(wherry::ErrorCode::kUnsupported, "a type without a kernel",
             [] { wherry::gain(Tensor::From<int64_t>({1}, {1})); });
  const wherry::ImportRule* rule = wherry::FindImportRule("onnx", "com.example", "Gain");
  Check(rule != nullptr && std::string(rule->op) == "gain", "models may use the operator");
}

// Every registry reports the names that are taken when it takes in what the plug-in registered, and goes on.
void CheckTakenNames(const std::string& plugin) {
  using wherry::ErrorCode;
  CheckError(ErrorCode::kAlreadyExists, "a plug-in with a taken operator", [&] { wherry::LoadPlugin(plugin); });
  CheckError(ErrorCode::kAlreadyExists, "its pass", [] { wherry::PassManager::Global(); });
  CheckError(ErrorCode::kAlreadyExists, "its import rule", [] { wherry::FindImportRule("pir", "", "gain"); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto check_all = [&] {
    CheckFunction();
    CheckKernel();
    CheckPass();
    CheckPredictor(argv[1], argv[2]);
  };
  check_all();
  if (argc > 3) {
    CheckTakenNames(argv[3]);
    check_all();
  }
  return Failures() == 0 ? 0 : 1;
}
