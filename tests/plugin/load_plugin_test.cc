#include <gtest/gtest.h>

#include "kernel/kernel_registry.h"
#include "kernel/plugin.h"
#include "kernel/provider.h"
#include "wherry/error.h"

namespace wherry {
namespace {

const Kernel* SampleKernel(const char* op) {
  return KernelFactory::Instance().FindKernel(op, "sample", "", {Target::kHost});
}

TEST(LoadPlugin, MergesWhatItRegistersAndReportsATakenName) {
  EXPECT_EQ(SampleKernel("cos"), nullptr);
  LoadPlugin(SAMPLE_PLUGIN);
  const Kernel* kernel = SampleKernel("cos");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->priority, -100);
  EXPECT_NE(ProviderRegistry::Global().Find("sample"), nullptr);

  LoadPlugin(SAMPLE_PLUGIN);  // no effect
  EXPECT_EQ(SampleKernel("cos"), kernel);

  try {
    LoadPlugin(CLASHING_PLUGIN);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kAlreadyExists);
    const std::string what = error.what();
    EXPECT_NE(what.find("kernel sample:cos for host/f32/nchw is registered already"), std::string::npos) << what;
    EXPECT_NE(what.find("while loading the plug-in"), std::string::npos) << what;
  }
  EXPECT_EQ(SampleKernel("cos"), kernel);
  EXPECT_NE(SampleKernel("sin"), nullptr);  // the rest of it is there
}

}  // namespace
}  // namespace wherry
