#include "kernel/kernel_registry.h"

#include <gtest/gtest.h>

#include <deque>

#include "kernel/test_ops_test_util.h"
#include "wherry/error.h"

namespace wherry {
namespace {

void Nothing(KernelContext* /*context*/) {}

// A kernel of the op `op`, given to the factory for good.
const Kernel& AddKernel(const char* op, const char* provider, const char* variant, const KernelKey& key,
                        int priority = 0) {
  static std::deque<KernelDescriptor> descriptors;  // as long as the process, like every descriptor
  KernelDescriptor* descriptor = &descriptors.emplace_back();
  descriptor->op = op;
  descriptor->provider = provider;
  descriptor->variant = variant;
  descriptor->target = key.target();
  descriptor->layout = key.layout();
  descriptor->instances[0] = {key.dtype(), &Nothing};
  descriptor->instance_count = 1;
  descriptor->priority = priority;
  KernelFactory::Instance().Add(descriptor);
  return *KernelFactory::Instance().FindKernel(op, provider, variant, key);
}

std::string MessageOf(std::string_view op, const KernelKey& key, ErrorCode code) {
  try {
    KernelFactory::Instance().SelectKernelOrThrowError(op, key);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr DataType kFloat = DataType::kFloat;
constexpr DataLayout kNCHW = DataLayout::kNCHW;
constexpr DataLayout kNHWC = DataLayout::kNHWC;

TEST(KernelFactory, MergesWhatRegistersOutOfTheTree) {
  EXPECT_TRUE(KernelFactory::Instance().Has("kt_scale"));
  EXPECT_EQ(KernelFactory::Instance().Kernels("kt_scale").size(), 3U);
  const Kernel* kernel = KernelFactory::Instance().SelectKernel("kt_scale", {Target::kHost, DataType::kFP64, kNCHW});
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->id(), "ref:kt_scale");
  EXPECT_EQ(kernel->key, KernelKey(Target::kHost, DataType::kFP64, kNCHW));
}

TEST(KernelFactory, UnknownOpsHaveNoKernels) {
  EXPECT_FALSE(KernelFactory::Instance().Has("kt_none"));
  EXPECT_TRUE(KernelFactory::Instance().Kernels("kt_none").empty());
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_none", {}), nullptr);
  const std::string message = MessageOf("kt_scael", {Target::kHost}, ErrorCode::kNotFound);
  EXPECT_TRUE(Contains(message, "'kt_scael' has no kernels")) << message;
  EXPECT_TRUE(Contains(message, "'kt_scale'")) << message;
}

TEST(KernelFactory, NativeGoesBeforeHostAndBothFitTheOther) {
  const Kernel& host = AddKernel("kt_rank_target", "ref", "", {Target::kHost, kFloat, kNCHW}, 100);
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_target", {Target::kNative, kFloat, kNCHW}), &host);
  const Kernel& native = AddKernel("kt_rank_target", "cpu", "", {Target::kNative, kFloat, kNCHW});
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_target", {Target::kNative, kFloat, kNCHW}), &native);
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_target", {Target::kHost, kFloat, kNCHW}), &native);
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_target", {Target::kCustom, kFloat, kNCHW}), nullptr);
}

TEST(KernelFactory, OpenLayoutPrefersNchwAndAnyFitsBoth) {
  const Kernel& nhwc = AddKernel("kt_rank_layout", "cpu", "", {Target::kNative, kFloat, kNHWC}, 100);
  const KernelKey open(Target::kNative, kFloat, DataLayout::kAny);
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_layout", open), &nhwc);
  const Kernel& nchw = AddKernel("kt_rank_layout", "cpu", "plain", {Target::kNative, kFloat, kNCHW});
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_layout", open), &nchw);
  const Kernel& any = AddKernel("kt_rank_layout", "cpu", "any", {Target::kNative, kFloat, DataLayout::kAny}, 1);
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_layout", {Target::kNative, kFloat, kNCHW}), &any);
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_layout", {Target::kNative, kFloat, kNHWC}), &nhwc);
}

TEST(KernelFactory, PriorityThenExactnessThenNameDecide) {
  const KernelKey key(Target::kNative, kFloat, kNCHW);
  AddKernel("kt_rank_name", "b", "", key);
  AddKernel("kt_rank_name", "a", "", {Target::kNative, DataType::kAny, kNCHW});
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_name", key)->provider, "b");
  AddKernel("kt_rank_name", "a", "exact", key);
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_name", key)->id(), "a:kt_rank_name:exact");
  AddKernel("kt_rank_name", "z", "", key, 5);
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_rank_name", key)->provider, "z");
  const std::vector<const Kernel*> listed = KernelFactory::Instance().Kernels("kt_rank_name");
  EXPECT_EQ(listed.front()->provider, "z");
}

TEST(KernelFactory, ATakenNameIsAnError) {
  AddKernel("kt_twice", "ref", "", {Target::kHost, kFloat, kNCHW});
  try {
    AddKernel("kt_twice", "ref", "", {Target::kHost, kFloat, kNCHW});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kAlreadyExists);
    EXPECT_TRUE(Contains(error.what(), "ref:kt_twice for host/f32/nchw")) << error.what();
  }
  AddKernel("kt_twice", "ref", "other", {Target::kHost, kFloat, kNCHW});
  EXPECT_EQ(KernelFactory::Instance().Kernels("kt_twice").size(), 2U);
}

TEST(KernelFactory, AKernelWithoutRunIsAnError) {
  static KernelDescriptor descriptor;
  descriptor.op = "kt_without_run";
  descriptor.provider = "ref";
  descriptor.target = Target::kHost;
  descriptor.layout = kNCHW;
  descriptor.instances[0].dtype = kFloat;
  descriptor.instance_count = 1;
  EXPECT_THROW(KernelFactory::Instance().Add(&descriptor), Error);
  EXPECT_FALSE(KernelFactory::Instance().Has("kt_without_run"));
}

TEST(KernelFactory, SaysWhatDiffersAndNamesTheNearest) {
  std::string message = MessageOf("kt_scale", {Target::kOpenCL, kFloat, kNCHW}, ErrorCode::kUnsupported);
  EXPECT_TRUE(Contains(message, "no kernel of 'kt_scale' for opencl/f32/nchw")) << message;
  EXPECT_TRUE(Contains(message, "none is for the target opencl")) << message;
  EXPECT_TRUE(Contains(message,
                       "registered: apart:kt_scale for custom/f32/nchw, ref:kt_scale for host/f32/nchw, "
                       "ref:kt_scale for host/f64/nchw"))
      << message;
  message = MessageOf("kt_scale", {Target::kCustom, DataType::kFP64, kNCHW}, ErrorCode::kUnsupported);
  EXPECT_TRUE(Contains(message, "none for the target custom is for the type f64")) << message;
  EXPECT_TRUE(Contains(message, "the nearest is apart:kt_scale for custom/f32/nchw (type is f32, not f64)")) << message;
  message = MessageOf("kt_scale", {Target::kCustom, kFloat, kNHWC}, ErrorCode::kUnsupported);
  EXPECT_TRUE(Contains(message, "none for this target and type is for the layout nhwc")) << message;
  EXPECT_TRUE(Contains(message, "(layout is nchw, not nhwc)")) << message;
}

TEST(KernelFactory, PassesOverKernelsThatRefuseAndGivesTheirReasons) {
  const OpSchema& schema = TestOp("kt_planned");
  const MetaTensor x(kFloat, {Dim(2)});
  const Attribute step = int64_t{0};
  const std::vector<BoundArg> args = {{{&x}, nullptr}, {{}, &step}};
  const MetaTensor* outputs[] = {&x};
  const KernelProblem problem(schema, args, outputs, {}, 1);
  const KernelKey key(Target::kHost, kFloat, kNCHW);
  EXPECT_NE(KernelFactory::Instance().SelectKernel("kt_planned", key), nullptr);
  EXPECT_EQ(KernelFactory::Instance().SelectKernel("kt_planned", key, &problem), nullptr);
  try {
    KernelFactory::Instance().SelectKernelOrThrowError("kt_planned", key, &problem);
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(Contains(error.what(), "ref:kt_planned:counted: needs a step of 1 or more, got 0")) << error.what();
  }
  const std::vector<KernelCandidate> candidates =
      KernelFactory::Instance().Candidates("kt_planned", {Target::kHost, DataType::kFP64, kNCHW}, &problem);
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_EQ(candidates[0].support.reason, "type is f32, not f64");
}

}  // namespace
}  // namespace wherry
