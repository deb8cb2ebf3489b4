#include "kernel/kernel_key.h"

#include <gtest/gtest.h>

#include "kernel/apart_device_test_util.h"
#include "kernel/test_ops_test_util.h"

namespace wherry {
namespace {

TEST(KernelKeySet, NoTensorsAreTheMachinesOwnFloat) {
  EXPECT_EQ(ParseKernelKeyByInputArgs().GetHighestPriorityKernelKey(),
            KernelKey(Target::kNative, DataType::kFloat, DataLayout::kNCHW));
}

TEST(KernelKeySet, HostMemoryIsTheMachinesOwnTarget) {
  const Tensor x = Tensor::From<int64_t>(Shape{2}, {1, 2});
  EXPECT_EQ(ParseKernelKeyByInputArgs(x).GetHighestPriorityKernelKey(),
            KernelKey(Target::kNative, DataType::kInt64, DataLayout::kNCHW));
}

TEST(KernelKeySet, ADeviceGoesBeforeTheHost) {
  ApartContext device;
  DenseTensor host = HostTensor(Shape{2}, {1, 2});
  DenseTensor apart(device.allocator(), host.meta());
  EXPECT_EQ(ParseKernelKeyByInputArgs(host, apart).GetHighestPriorityKernelKey().backend(), Target::kCustom);
  EXPECT_EQ(ParseKernelKeyByInputArgs(apart, host).GetHighestPriorityKernelKey().backend(), Target::kCustom);
}

TEST(KernelKeySet, TypeIsTheFirstOnesOrThePromotion) {
  const Tensor x = Tensor::From<int32_t>(Shape{1}, {1});
  const Tensor y = Tensor::From<double>(Shape{1}, {1.0});
  const KernelKeySet set = ParseKernelKeyByInputArgs(x, std::vector<Tensor>{y, Tensor()});
  EXPECT_EQ(set.GetHighestPriorityKernelKey().dtype(), DataType::kInt32);
  EXPECT_EQ(set.GetHighestPriorityKernelKey(true).dtype(), DataType::kFP64);
}

TEST(KernelKeySet, LayoutIsNhwcOnlyWhenAllAgree) {
  TensorMeta meta;
  meta.dtype = DataType::kFloat;
  meta.shape = Shape{1, 2, 2, 2};
  const DenseTensor plain(HostAllocator(), meta);
  meta.layout = DataLayout::kNHWC;
  const DenseTensor nhwc(HostAllocator(), meta);
  EXPECT_EQ(ParseKernelKeyByInputArgs(nhwc, nhwc).GetHighestPriorityKernelKey().layout(), DataLayout::kNHWC);
  EXPECT_EQ(ParseKernelKeyByInputArgs(nhwc, plain).GetHighestPriorityKernelKey().layout(), DataLayout::kNCHW);
}

}  // namespace
}  // namespace wherry
