#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device_context.h"
#include "kernel/invoke.h"
#include "kernel/kernel_registry.h"
#include "op/schema_registry.h"

namespace wherry {
namespace {

DenseTensor Filled(const Shape& shape, float value) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kFloat, shape, DataLayout::kNCHW, 0});
  std::fill_n(tensor.mutable_data<float>(), tensor.numel(), value);
  return tensor;
}

// relu and clip in the epilogue keep a NaN, as the operators do on their own.
TEST(Conv2dTest, ActivationsKeepNaN) {
  const OpSchema& schema = SchemaRegistry::Global().Get("conv2d");
  const KernelKey key(Target::kNative, DataType::kFloat, DataLayout::kNHWC);
  struct Problem {
    const char* variant;
    int64_t channels;
    int64_t groups;
  };
  for (const Problem& problem :
       {Problem{"auto", 8, 1}, Problem{"direct", 8, 1}, Problem{"winograd4", 8, 1}, Problem{"depthwise", 8, 8}}) {
    const Kernel* kernel = KernelFactory::Instance().FindKernel("conv2d", "cpu", problem.variant, key);
    ASSERT_NE(kernel, nullptr) << problem.variant;
    for (const char* epilogue : {"relu", "clip(0, 6)"}) {
      SCOPED_TRACE(std::string(problem.variant) + " " + epilogue);
      const DenseTensor x = Filled({1, problem.channels, 6, 6}, std::numeric_limits<float>::quiet_NaN());
      const DenseTensor filter = Filled({problem.channels, problem.channels / problem.groups, 3, 3}, 1);
      std::vector<CallArg> args(schema.args.size());
      args[0].tensors = {&x};
      args[1].tensors = {&filter};
      const auto set = [&](const char* name, Attribute value) {
        args[static_cast<size_t>(schema.FindArg(name))].attribute = std::move(value);
      };
      set("groups", problem.groups);
      set("epilogue", ParseEpilogue(epilogue));
      CpuContext context;
      InvokeOptions options;
      options.kernel = kernel;
      const auto results = InvokeOp(schema, args, &context, options);
      const DenseTensor out = TransformTensor(results[0][0], DataType::kUndefined, DataLayout::kNCHW, &context);
      for (int64_t i = 0; i < out.numel(); ++i)
        ASSERT_TRUE(std::isnan(out.data<float>()[i])) << i << ": " << out.data<float>()[i];
    }
  }
}

}  // namespace
}  // namespace wherry
