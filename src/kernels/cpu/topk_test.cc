#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>

#include "core/device_context.h"
#include "kernel/invoke.h"
#include "kernel/kernel_registry.h"
#include "op/schema_registry.h"

namespace wherry {
namespace {

// With many equal elements, a NaN and a negative zero: as the reference has it.
void CheckLines(int64_t extent, std::initializer_list<int64_t> wanted) {
  const OpSchema& schema = SchemaRegistry::Global().Get("topk");
  constexpr int64_t kLines = 2;
  DenseTensor x(HostAllocator(), TensorMeta{DataType::kFloat, Shape{kLines, extent}, DataLayout::kNCHW, 0});
  for (const bool ascending : {false, true}) {
    for (int64_t i = 0; i < x.numel(); ++i) {
      const int64_t value = ascending ? i % extent / 3 : i * 7919 % 257 - 128;
      x.mutable_data<float>()[i] = static_cast<float>(value);
    }
    x.mutable_data<float>()[extent * 2 / 3] = std::numeric_limits<float>::quiet_NaN();
    x.mutable_data<float>()[extent * 5 / 6] = -0.0F;
    for (const bool largest : {true, false}) {
      for (const int64_t k : wanted) {
        SCOPED_TRACE(testing::Message() << extent << " ascending " << ascending << ", largest " << largest << ", k "
                                        << k);
        std::vector<CallArg> args(schema.args.size());
        args[0].tensors = {&x};
        args[static_cast<size_t>(schema.FindArg("k"))].attribute = Scalar(k);
        args[static_cast<size_t>(schema.FindArg("largest"))].attribute = largest;
        std::vector<std::vector<std::vector<DenseTensor>>> results;
        for (const auto& [provider, target] : {std::pair{"ref", Target::kHost}, std::pair{"cpu", Target::kNative}}) {
          CpuContext context;
          InvokeOptions options;
          options.kernel = KernelFactory::Instance().FindKernel("topk", provider, "",
                                                                KernelKey(target, DataType::kFloat, DataLayout::kNCHW));
          ASSERT_NE(options.kernel, nullptr) << provider;
          results.push_back(InvokeOp(schema, args, &context, options));
        }
        for (int64_t i = 0; i < kLines * k; ++i) {
          ASSERT_EQ(results[0][1][0].data<int64_t>()[i], results[1][1][0].data<int64_t>()[i]) << i;
        }
      }
    }
  }
}

TEST(TopkTest, ShortLines) {
  CheckLines(1, {1});
  CheckLines(8, {2, 8});
  CheckLines(60, {1, 7, 60});
  CheckLines(300, {12, 14, 300});
}

// What is held must be thinned out.
TEST(TopkTest, LongLines) { CheckLines(6000, {1, 70, 2500}); }

}  // namespace
}  // namespace wherry
