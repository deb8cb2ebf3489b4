// The generated API: what users call.
#include "wherry/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "core/dense_tensor.h"
#include "kernel/invoke.h"
#include "kernel/kernel_registry.h"
#include "kernel/provider.h"
#include "wherry/error.h"

namespace wherry {
namespace {

template <typename T>
std::vector<T> Values(const Tensor& tensor) {
  std::vector<T> values(static_cast<size_t>(tensor.numel()));
  tensor.CopyToCpu(values.data());
  return values;
}

Tensor Floats(const Shape& shape, const std::vector<float>& values) { return Tensor::From<float>(shape, values); }

// The message of the Error that `call` throws; "" when it throws none.
template <typename Call>
std::string ErrorOf(Call call, ErrorCode code) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

void ExpectContains(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in: " << text;
}

// -- Attributes and their defaults.

TEST(Ops, MatmulTransposes) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = Floats({3, 2}, {1, 0, 0, 1, 1, 1});
  const Tensor xt = Floats({3, 2}, {1, 4, 2, 5, 3, 6});
  const Tensor yt = Floats({2, 3}, {1, 0, 1, 0, 1, 1});
  const std::vector<float> expected = {4, 5, 10, 11};
  EXPECT_EQ(Values<float>(matmul(x, y)), expected);
  EXPECT_EQ(Values<float>(matmul(xt, y, true)), expected);
  EXPECT_EQ(Values<float>(matmul(x, yt, false, true)), expected);
  EXPECT_EQ(Values<float>(matmul(xt, yt, true, true)), expected);
}

TEST(Ops, CallsChain) {
  const Tensor x = Floats({1, 2}, {1, -1});
  const Tensor y = Floats({2, 2}, {1, 0, 0, 1});
  const Tensor out = relu(matmul(x, y));
  EXPECT_EQ(out.shape(), Shape({1, 2}));
  EXPECT_EQ(Values<float>(out), (std::vector<float>{1, 0}));
  EXPECT_EQ(Values<float>(x), (std::vector<float>{1, -1}));  // arguments are not written
}

TEST(Ops, FullLikeTakesFromItsArgumentWhatIsNotGiven) {
  const Tensor x = Floats({2, 2}, {1, 2, 3, 4});
  const Tensor like = full_like(x, 7);
  EXPECT_EQ(like.dtype(), DataType::kFloat);
  EXPECT_EQ(like.shape(), x.shape());
  EXPECT_TRUE(IsHostMemory(like.target()));
  EXPECT_EQ(Values<float>(like), (std::vector<float>{7, 7, 7, 7}));
}

TEST(Ops, FullLikeTakesTypePlaceAndLayoutWhereGiven) {
  const Tensor x = Floats({1, 2, 1, 2}, {1, 2, 3, 4});
  const Tensor integers = full_like(x, 7.9, DataType::kInt64);
  EXPECT_EQ(integers.dtype(), DataType::kInt64);
  EXPECT_EQ(Values<int64_t>(integers), (std::vector<int64_t>{7, 7, 7, 7}));

  const Tensor placed = full_like(x, 1, DataType::kFloat, Target::kNative, DataLayout::kNHWC);
  EXPECT_EQ(placed.layout(), DataLayout::kNHWC);
  EXPECT_EQ(placed.shape(), x.shape());
}

TEST(Ops, ScalarsAndIntArraysMayComeFromTensors) {
  const Tensor shape = Tensor::From<int64_t>({2}, {2, 3});
  const Tensor value = Tensor::From<float>({}, {1.5F});
  const Tensor out = full(IntArray(shape), Scalar(value), DataType::kFloat);
  EXPECT_EQ(out.shape(), Shape({2, 3}));
  EXPECT_EQ(Values<float>(out), std::vector<float>(6, 1.5F));
}

TEST(Ops, AbsentTensorsAreUndefinedOnes) {
  const Tensor x = Floats({1, 2}, {1, 3});
  const Tensor scale = Floats({2}, {10, 10});
  const std::vector<float> plain = Values<float>(layer_norm(x));
  const std::vector<float> scaled = Values<float>(layer_norm(x, scale));
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_NEAR(plain[1], 1, 1e-3);
  EXPECT_NEAR(scaled[1], 10, 1e-2);
}

// -- Lists.

TEST(Ops, ConcatTakesAndSplitGivesAList) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const std::vector<Tensor> parts = split(x, {1, 2}, 1);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(Values<float>(parts[0]), (std::vector<float>{1, 4}));
  EXPECT_EQ(parts[1].shape(), Shape({2, 2}));
  const Tensor joined = concat(parts, 1);
  EXPECT_EQ(Values<float>(joined), Values<float>(x));
}

// -- Types.

TEST(Ops, InputsArePromotedWhereTheEntrySaysSo) {
  const Tensor x = Tensor::From<int64_t>({2}, {1, 2});
  const Tensor y = Tensor::From<double>({2}, {0.5, 0.5});
  const Tensor sum = add(x, y);
  EXPECT_EQ(sum.dtype(), DataType::kFP64);
  EXPECT_EQ(Values<double>(sum), (std::vector<double>{1.5, 2.5}));
}

TEST(Ops, ATypeWithoutAKernelNamesThoseThatHaveOne) {
  const Tensor x = Tensor::From<bool>({2}, {true, false});
  const std::string message = ErrorOf([&] { erf(x); }, ErrorCode::kUnsupported);
  ExpectContains(message, {"erf", "bool", "f32"});
}

// -- Wrong arguments.

TEST(Ops, ErrorsNameFunctionAndArgument) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectContains(ErrorOf([&] { matmul(x, Tensor()); }, ErrorCode::kInvalidArgument), {"matmul", "'y'", "undefined"});
  ExpectContains(ErrorOf([&] { matmul(x, x); }, ErrorCode::kInvalidArgument), {"matmul", "[2,3]"});
  ExpectContains(ErrorOf(
                     [&] {
                       concat({x, Tensor()}, 0);
                     },
                     ErrorCode::kInvalidArgument),
                 {"concat", "'x'", "tensor 1 of 2"});
  ExpectContains(ErrorOf([&] { softmax(x, 2); }, ErrorCode::kInvalidArgument), {"softmax", "axis"});
  Tensor shaped;
  shaped.Resize(Shape({2, 3}));
  ExpectContains(ErrorOf([&] { relu(shaped); }, ErrorCode::kInvalidArgument), {"relu", "'x'"});
}

// -- In place.

TEST(Ops, InplaceVariantsWriteIntoTheirArgument) {
  Tensor x = Floats({3}, {-1, 0, 2});
  const Tensor other_handle = x;
  const void* memory = x.raw_data();
  Tensor& result = relu_(x);
  EXPECT_EQ(&result, &x);
  EXPECT_EQ(x.raw_data(), memory);
  EXPECT_EQ(Values<float>(other_handle), (std::vector<float>{0, 0, 2}));
}

TEST(Ops, InplaceVariantsWriteIntoTheUsersMemory) {
  std::vector<float> memory = {0, -1, -2, 3};  // from element 1 on: not aligned
  Tensor x;
  x.Resize(Shape({3}));
  x.ShareExternalMemory(memory.data() + 1, 3 * sizeof(float), DataType::kFloat);
  relu_(x);
  EXPECT_EQ(memory, (std::vector<float>{0, 0, 0, 3}));
}

TEST(Ops, InplaceVariantsBroadcastTheirOtherArgumentOnly) {
  Tensor x = Floats({2, 2}, {1, 2, 3, 4});
  const Tensor row = Floats({2}, {10, 20});
  add_(x, row);
  EXPECT_EQ(Values<float>(x), (std::vector<float>{11, 22, 13, 24}));

  Tensor small = Floats({2}, {1, 2});
  const std::string message = ErrorOf([&] { add_(small, x); }, ErrorCode::kInvalidArgument);
  ExpectContains(message, {"add", "'x'", "[2]", "[2,2]"});
  EXPECT_EQ(Values<float>(small), (std::vector<float>{1, 2}));
}

TEST(Ops, InplaceVariantsReadTheirArgumentAsItWas) {
  Tensor x = Floats({3, 1}, {1, 2, 3});
  const Tensor index = Tensor::From<int64_t>({3, 1}, {1, 2, 0});
  const void* memory = x.raw_data();
  put_along_axis_(x, index, x, 0, "add");
  EXPECT_EQ(x.raw_data(), memory);
  EXPECT_EQ(Values<float>(x), (std::vector<float>{4, 3, 5}));
  scatter_nd_(x, index, x);
  EXPECT_EQ(x.raw_data(), memory);
  EXPECT_EQ(Values<float>(x), (std::vector<float>{5, 4, 3}));
  add_(x, x);
  EXPECT_EQ(Values<float>(x), (std::vector<float>{10, 8, 6}));
}

// -- Layouts and devices.

TEST(Ops, LayoutsAreKeptOrConverted) {
  const Tensor x = Floats({1, 2, 1, 2}, {1, -2, 3, -4});
  const Tensor nhwc = layout(x, DataLayout::kNHWC);
  EXPECT_EQ(nhwc.layout(), DataLayout::kNHWC);
  EXPECT_EQ(nhwc.shape(), x.shape());
  const Tensor out = relu(nhwc);
  EXPECT_EQ(out.layout(), DataLayout::kNHWC);
  EXPECT_EQ(Values<float>(layout(out, DataLayout::kNCHW)), (std::vector<float>{1, 0, 3, 0}));
  // Mixed layouts meet in the plain one.
  EXPECT_EQ(Values<float>(layout(add(nhwc, x), DataLayout::kNCHW)), (std::vector<float>{2, -4, 6, -8}));
}

TEST(Ops, TensorsOnADeviceAreComputedThere) {
  const ProviderDescriptor* provider = ProviderRegistry::Global().Find("opencl");
  std::string why;
  if (provider == nullptr || (provider->available != nullptr && !provider->available(&why))) {
    GTEST_SKIP() << "no OpenCL: " << why;
  }
  if (KernelFactory::Instance().SelectKernel("add", {Target::kOpenCL, DataType::kFloat, DataLayout::kNCHW}) ==
      nullptr) {
    GTEST_SKIP() << "no OpenCL kernel for add";
  }
  const Tensor x = Floats({2}, {1, 2});
  const Tensor on_device = x.CopyTo(Target::kOpenCL);
  const Tensor sum = add(on_device, x);  // the host's tensor is moved to where the other is
  EXPECT_EQ(sum.target(), Target::kOpenCL);
  EXPECT_EQ(Values<float>(sum), (std::vector<float>{2, 4}));
}

// -- Threads.

TEST(Ops, FunctionsMayBeCalledInParallel) {
  const Tensor x = Floats({2, 2}, {1, 2, 3, 4});
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        if (Values<float>(relu(matmul(x, x))) != std::vector<float>{7, 10, 15, 22}) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace wherry
