#include "kernel/provider.h"

#include <gtest/gtest.h>

#include <thread>

#include "kernel/apart_device_test_util.h"
#include "kernel/test_ops_test_util.h"
#include "wherry/error.h"
#include "wherry/tensor.h"

namespace wherry {
namespace {

TEST(ProviderRegistry, MergesWhatRegistersOutOfTheTree) {
  const ProviderDescriptor* provider = ProviderRegistry::Global().Find("apart");
  ASSERT_NE(provider, nullptr);
  EXPECT_EQ(provider->target, Target::kCustom);
  EXPECT_EQ(ProviderRegistry::Global().Find("none"), nullptr);
  EXPECT_THROW(ProviderRegistry::Global().Add(provider), Error);
}

TEST(CreateDeviceContext, HostTargetsAreOneCpuContext) {
  for (Target target : {Target::kHost, Target::kNative, Target::kUndefined}) {
    EXPECT_NE(dynamic_cast<CpuContext*>(CreateDeviceContext(target).get()), nullptr);
  }
}

TEST(CreateDeviceContext, AProviderMakesIt) {
  const std::unique_ptr<DeviceContext> context = CreateDeviceContext(Target::kCustom);
  EXPECT_NE(dynamic_cast<ApartContext*>(context.get()), nullptr);
}

bool NeverAvailable(std::string* why) {
  *why = "there is no such device in this machine";
  return false;
}
std::unique_ptr<DeviceContext> MakeNothing() { return nullptr; }

TEST(CreateDeviceContext, SaysWhatIsMissing) {
  if (ProviderRegistry::Global().Find("cuda") != nullptr) GTEST_SKIP() << "a CUDA provider is there";
  try {
    CreateDeviceContext(Target::kCUDA);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    EXPECT_STREQ(error.what(), "no context for the target cuda: no provider for it is built in or loaded");
  }
  static constexpr ProviderDescriptor kProvider{"never", "", Target::kCUDA, &NeverAvailable, &MakeNothing};
  ProviderRegistry::Global().Add(&kProvider);
  try {
    CreateDeviceContext(Target::kCUDA);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
    EXPECT_STREQ(error.what(),
                 "no context for the target cuda: provider never: there is no such device in this machine");
  }
}

TEST(GetDeviceContextByBackend, IsOnePerThreadAndMemory) {
  DeviceContext* context = GetDeviceContextByBackend(Target::kHost);
  EXPECT_EQ(GetDeviceContextByBackend(Target::kNative), context);
  DeviceContext* custom = GetDeviceContextByBackend(Target::kCustom);
  EXPECT_NE(custom, context);
  EXPECT_EQ(GetDeviceContextByBackend(Target::kCustom), custom);
  std::thread([context] { EXPECT_NE(GetDeviceContextByBackend(Target::kHost), context); }).join();
}

TEST(TensorCopyTo, MovesBetweenMemories) {
  const Tensor host = Tensor::From<float>(Shape{3}, {1, 2, 3});
  const Tensor apart = host.CopyTo(Target::kCustom);
  EXPECT_EQ(apart.target(), Target::kCustom);
  EXPECT_THROW(static_cast<void>(apart.data<float>()), Error);
  EXPECT_EQ(apart.CopyTo(Target::kCustom).impl(), apart.impl());
  const Tensor back = apart.CopyTo(Target::kHost);
  EXPECT_EQ(HostValues(*back.impl()), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(host.CopyTo(Target::kNative).impl(), host.impl());
}

}  // namespace
}  // namespace wherry
