// The C++ signature of every built-in kernel function against its operator's schema.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernel/kernel_registry.h"
#include "op/schema_registry.h"

namespace wherry {
namespace {

// The parameters of a kernel function by kind: tensors and outputs in order, attributes only counted (their types are
// checked when the kernel is called).
struct Parameters {
  std::vector<ParamKind> inputs;
  std::vector<ParamKind> outputs;
  size_t attributes = 0;
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

Parameters Of(const KernelSignature& signature) {
  Parameters found;
  for (size_t i = 0; i < signature.size; ++i) {
    const ParamKind kind = signature.params[i];
    if (kind == ParamKind::kAttribute) {
      ++found.attributes;
    } else if (kind == ParamKind::kOutput || kind == ParamKind::kOutputList) {
      found.outputs.push_back(kind);
    } else {
      found.inputs.push_back(kind);
    }
  }
  return found;
}

Parameters Of(const OpSchema& schema) {
  Parameters found;
  for (int8_t param : schema.kernel_params) {
    switch (schema.args[static_cast<size_t>(param)].kind) {
      case ArgKind::kTensor: found.inputs.push_back(ParamKind::kInput); break;
      case ArgKind::kOptionalTensor: found.inputs.push_back(ParamKind::kOptionalInput); break;
      case ArgKind::kTensorList: found.inputs.push_back(ParamKind::kInputList); break;
      case ArgKind::kAttribute: ++found.attributes; break;
    }
  }
  for (const OutputDef& output : schema.outputs) {
    found.outputs.push_back(output.is_list ? ParamKind::kOutputList : ParamKind::kOutput);
  }
  return found;
}

TEST(KernelSignatures, EveryKernelTakesWhatItsSchemaPasses) {
  for (const KernelDescriptor* kernel : BuiltinKernels()) {
    bool found = false;
    for (const OpSchema* schema : SchemaRegistry::Global().List()) {
      if (std::string(schema->kernel) != kernel->op) continue;
      found = true;
      if (kernel->signature.size == 0) continue;  // takes the KernelContext as it is
      EXPECT_TRUE(Of(kernel->signature) == Of(*schema))
          << kernel->provider << ":" << kernel->op << " takes other parameters than the schema of " << schema->name
          << " passes";
    }
    EXPECT_TRUE(found) << kernel->provider << ":" << kernel->op << " belongs to no operator";
  }
}

}  // namespace
}  // namespace wherry
