// Calls the program's own operator beside one of Wherry's. Exit status 0: every result is right.
#include <cstdio>
#include <string>
#include <vector>

#include "gain_ops.h"
#include "wherry/detail/importer/import_rule.h"
#include "wherry/error.h"
#include "wherry/ops.h"

namespace {

int failures = 0;

void Check(bool ok, const char* what) {
  if (!ok) ++failures;
  std::printf("%s: %s\n", ok ? "ok" : "FAILED", what);
}

}  // namespace

int main() {
  using wherry::Tensor;
  Tensor x = Tensor::From<float>({2}, {1, -2});
  const Tensor doubled = wherry::gain(x);
  Check(doubled.data<float>()[1] == -4, "the default factor");
  Check(wherry::relu(wherry::gain(x, -1)).data<float>()[1] == 2, "a chain with a built-in operator");
  wherry::gain_(x, 3);
  Check(x.data<float>()[0] == 3, "in place");
  try {
    wherry::gain(Tensor::From<int64_t>({1}, {1}));
    Check(false, "an Error for a type without a kernel");
  } catch (const wherry::Error& error) {
    Check(std::string(error.what()).find("gain") != std::string::npos, error.what());
  }
  const wherry::ImportRule* rule = wherry::FindImportRule("onnx", "com.example", "Gain");
  Check(rule != nullptr && std::string(rule->op) == "gain", "models may use the operator");
  return failures == 0 ? 0 : 1;
}
