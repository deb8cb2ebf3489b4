#include "kernel/invoke.h"

#include <gtest/gtest.h>

#include "kernel/apart_device_test_util.h"
#include "kernel/kernel_registry.h"
#include "kernel/test_ops_test_util.h"
#include "wherry/error.h"
#include "wherry/tensor.h"

namespace wherry {
namespace {

using Values = std::vector<float>;

CallArg TensorArg(const DenseTensor& tensor) { return {{&tensor}, {}}; }
CallArg AttributeArg(Attribute value) { return {{}, std::move(value)}; }

std::string MessageOf(const OpSchema& schema, const std::vector<CallArg>& args, DeviceContext* device) {
  try {
    InvokeOp(schema, args, device);
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(InvokeOp, RunsWithDefaultsAndConvertsAttributes) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{2}, {1, 2});
  EXPECT_EQ(HostValues(InvokeOp(TestOp("kt_scale"), {TensorArg(x), {}}, &device)[0][0]), (Values{2, 4}));
  EXPECT_EQ(HostValues(InvokeOp(TestOp("kt_scale"), {TensorArg(x), AttributeArg(int64_t{3})}, &device)[0][0]),
            (Values{3, 6}));
  EXPECT_EQ(HostValues(InvokeOp(TestOp("kt_scale"), {TensorArg(x), AttributeArg(0.5)}, nullptr)[0][0]),
            (Values{0.5, 1}));
}

TEST(InvokeOp, ABudgetIsSpentOrRefuses) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{2}, {1, 2});
  double left_us = 10;
  InvokeOptions options;
  options.budget_us = &left_us;
  InvokeOp(TestOp("kt_scale"), {TensorArg(x), {}}, &device, options);
  EXPECT_LT(left_us, 10);
  EXPECT_GT(left_us, 0);
  left_us = 0;
  try {
    InvokeOp(TestOp("kt_scale"), {TensorArg(x), {}}, &device, options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  }
}

TEST(InvokeOp, ErrorsNameOpAndArgument) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{2}, {1, 2});
  const DenseTensor empty;
  EXPECT_EQ(MessageOf(TestOp("kt_scale"), {TensorArg(x)}, &device),
            "expected 2 arguments, got 1 (while running op kt_scale)");
  EXPECT_EQ(MessageOf(TestOp("kt_scale"), {{}, {}}, &device),
            "argument 'x' is one tensor, got 0 (while running op kt_scale)");
  EXPECT_EQ(MessageOf(TestOp("kt_scale"), {TensorArg(empty), {}}, &device),
            "argument 'x' is a tensor without data (while running op kt_scale)");
  EXPECT_EQ(MessageOf(TestOp("kt_split"), {TensorArg(x), {}}, &device),
            "argument 'parts' must be given (while running op kt_split)");
  EXPECT_EQ(MessageOf(TestOp("kt_planned"), {TensorArg(x), TensorArg(x)}, &device),
            "argument 'step' of type int cannot be given as a tensor (while running op kt_planned)");
}

TEST(InvokeOp, AttributesMayComeFromTensors) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{2}, {1, 2});
  const DenseTensor factor = HostTensor(Shape{}, {10});
  EXPECT_EQ(HostValues(InvokeOp(TestOp("kt_scale"), {TensorArg(x), TensorArg(factor)}, &device)[0][0]),
            (Values{10, 20}));
  const Tensor shape = Tensor::From<int64_t>(Shape{2}, {1, 3});
  const auto out = InvokeOp(TestOp("kt_full"), {TensorArg(*shape.impl()), AttributeArg(Scalar(7)), {}, {}}, &device);
  EXPECT_EQ(out[0][0].shape(), (Shape{1, 3}));
  EXPECT_EQ(HostValues(out[0][0]), (Values{7, 7, 7}));
}

TEST(InvokeOp, KeyRulesPutAttributesBeforeTensors) {
  const std::vector<CallArg> args = {AttributeArg(IntArray{2}), AttributeArg(Scalar(1)), AttributeArg(DataType::kInt64),
                                     AttributeArg(Target::kOpenCL)};
  EXPECT_EQ(ResolveKernelKey(TestOp("kt_full"), args, {}),
            KernelKey(Target::kOpenCL, DataType::kInt64, DataLayout::kNCHW));
  EXPECT_EQ(
      ResolveKernelKey(TestOp("kt_full"), args, KernelKey(Target::kHost, DataType::kFP64, DataLayout::kUndefined)),
      KernelKey(Target::kHost, DataType::kFP64, DataLayout::kNCHW));
  const std::vector<CallArg> defaults = {AttributeArg(IntArray{2}), AttributeArg(Scalar(1)), {}, {}};
  EXPECT_EQ(ResolveKernelKey(TestOp("kt_full"), defaults, {}),
            KernelKey(Target::kNative, DataType::kFloat, DataLayout::kNCHW));
}

TEST(InvokeOp, MovesDataToTheDeviceAndLeavesItThere) {
  ApartContext device;
  const DenseTensor x = HostTensor(Shape{2}, {1, 2});
  const DenseTensor y = InvokeOp(TestOp("kt_scale"), {TensorArg(x), {}}, &device)[0][0];
  EXPECT_EQ(y.target(), Target::kCustom);
  EXPECT_EQ(device.copies(), 1);
  // From one device op to the next nothing moves, and without a device the data says where.
  const DenseTensor z = InvokeOp(TestOp("kt_scale"), {TensorArg(y), {}}, &device)[0][0];
  EXPECT_EQ(device.copies(), 1);
  EXPECT_EQ(InvokeOp(TestOp("kt_scale"), {TensorArg(z), {}}, nullptr)[0][0].target(), Target::kCustom);
  CpuContext cpu;
  EXPECT_EQ(HostValues(InvokeOp(TestOp("kt_scale"), {TensorArg(z), {}}, &cpu)[0][0]), (Values{8, 16}));
}

TEST(InvokeOp, AMissingKernelSaysWhichThereAre) {
  ApartContext device;
  const DenseTensor x = HostTensor(Shape{1}, {1});
  const std::string message = MessageOf(TestOp("kt_add"), {TensorArg(x), TensorArg(x)}, &device);
  EXPECT_NE(message.find("no kernel of 'kt_add' for custom/f32/nchw: none is for the target custom"), std::string::npos)
      << message;
  EXPECT_NE(message.find("registered: ref:kt_add for host/f32/nchw, ref:kt_add for host/f64/nchw"), std::string::npos)
      << message;
}

TEST(InvokeOp, AContextOfAnotherTargetThanTheKeyIsAnError) {
  ApartContext device;
  const DenseTensor x = HostTensor(Shape{1}, {1});
  InvokeOptions options;
  options.key = KernelKey(Target::kHost, DataType::kUndefined, DataLayout::kUndefined);
  EXPECT_THROW(InvokeOp(TestOp("kt_scale"), {TensorArg(x), {}}, &device, options), Error);
}

TEST(InvokeOp, TakesTheNativeKernelOfAnotherLayoutAndHidesIt) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{1, 2, 2, 1}, {1, 2, 3, 4});
  const DenseTensor filter = HostTensor(Shape{1, 1, 1, 1}, {10});
  const std::vector<CallArg> args = {TensorArg(x), TensorArg(filter), {}, {}};
  const DenseTensor out = InvokeOp(TestOp("kt_image"), args, &device)[0][0];
  EXPECT_EQ(out.layout(), DataLayout::kNCHW);
  EXPECT_EQ(HostValues(out), (Values{10, 20, 30, 40}));

  const DenseTensor nhwc = TransformTensor(x, DataType::kUndefined, DataLayout::kNHWC, &device);
  EXPECT_EQ(HostValues(nhwc), (Values{1, 3, 2, 4}));
  const DenseTensor same = InvokeOp(TestOp("kt_image"), {TensorArg(nhwc), TensorArg(filter), {}, {}}, &device)[0][0];
  EXPECT_EQ(same.layout(), DataLayout::kNHWC);
  EXPECT_EQ(HostValues(same), (Values{10, 30, 20, 40}));
}

TEST(InvokeOp, RunsExactlyTheKernelItIsGiven) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{1, 2, 2, 1}, {1, 2, 3, 4});
  const DenseTensor filter = HostTensor(Shape{1}, {2});
  const std::vector<CallArg> args = {TensorArg(x), TensorArg(filter), {}, {}};
  InvokeOptions options;
  options.kernel = KernelFactory::Instance().FindKernel("kt_image", "ref", "", {Target::kHost});
  ASSERT_NE(options.kernel, nullptr);
  EXPECT_EQ(HostValues(InvokeOp(TestOp("kt_image"), args, &device, options)[0][0]), (Values{2, 4, 6, 8}));
  options.kernel = KernelFactory::Instance().FindKernel("kt_scale", "apart", "", {Target::kCustom});
  EXPECT_THROW(InvokeOp(TestOp("kt_scale"), {TensorArg(x), {}}, &device, options), Error);
}

TEST(InvokeOp, AnotherKernelRunsWhatTheGivenOneRefusesIfItMay) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{2, 1, 1, 1}, {1, 2});
  const DenseTensor filter = HostTensor(Shape{1}, {2});
  const std::vector<CallArg> args = {TensorArg(x), TensorArg(filter), {}, {}};
  InvokeOptions options;
  options.kernel = KernelFactory::Instance().FindKernel("kt_image", "ref", "single", {Target::kHost});
  ASSERT_NE(options.kernel, nullptr);
  EXPECT_THROW(InvokeOp(TestOp("kt_image"), args, &device, options), Error);
  options.or_another = true;
  EXPECT_EQ(HostValues(InvokeOp(TestOp("kt_image"), args, &device, options)[0][0]), (Values{2, 4}));
}

TEST(InvokeOp, AKernelOfAnotherTypeThanTheCallIsAnError) {
  CpuContext device;
  const Tensor x = Tensor::From<double>(Shape{1}, {1});
  InvokeOptions options;
  options.kernel = KernelFactory::Instance().FindKernel("kt_scale", "ref", "", {Target::kHost});
  try {
    InvokeOp(TestOp("kt_scale"), {TensorArg(*x.impl()), {}}, &device, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "kernel ref:kt_scale is for f32, the call is of f64");
  }
}

TEST(InvokeOp, DynamicOutputsAreTheKernels) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{4}, {-1, 2, 0, 3});
  const auto out = InvokeOp(TestOp("kt_positive"), {TensorArg(x)}, &device);
  EXPECT_EQ(out[0][0].shape(), (Shape{2}));
  EXPECT_EQ(HostValues(out[0][0]), (Values{2, 3}));
}

TEST(InvokeOp, ListOutputsHaveAsManyValuesAsInferMetaSays) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{1}, {5});
  const auto out = InvokeOp(TestOp("kt_split"), {TensorArg(x), AttributeArg(int64_t{3})}, &device);
  ASSERT_EQ(out[0].size(), 3U);
  EXPECT_EQ(HostValues(out[0][2]), (Values{5}));
}

TEST(InvokeOp, PlansAreKeptByShapeAndAttributes) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{2, 1, 1, 3, 1}, {1, 2, 3, 4, 5, 6});  // a shape that no other test uses
  const int before = TestPlanCount();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(HostValues(InvokeOp(TestOp("kt_planned"), {TensorArg(x), {}}, &device)[0][0]),
              (Values{2, 3, 4, 5, 6, 7}));
  }
  EXPECT_EQ(TestPlanCount(), before + 1);
  EXPECT_EQ(HostValues(InvokeOp(TestOp("kt_planned"), {TensorArg(x), AttributeArg(int64_t{4})}, &device)[0][0]),
            (Values{5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(TestPlanCount(), before + 2);
  const std::string message = MessageOf(TestOp("kt_planned"), {TensorArg(x), AttributeArg(int64_t{-1})}, &device);
  EXPECT_NE(message.find("needs a step of 1 or more, got -1"), std::string::npos) << message;
}

TEST(TransformTensor, GivesTheSameTensorWhenNothingDiffers) {
  CpuContext device;
  const DenseTensor x = HostTensor(Shape{2}, {1, 2});
  EXPECT_EQ(TransformTensor(x, DataType::kFloat, DataLayout::kUndefined, &device).buffer(), x.buffer());
  EXPECT_THROW(TransformTensor(DenseTensor(), DataType::kFloat, DataLayout::kUndefined, &device), Error);
}

}  // namespace
}  // namespace wherry
