#include "wherry/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"
#include "core/dense_tensor.h"
#include "core/number_text.h"
#include "core/tensor_copy.h"
#include "wherry/error.h"

namespace wherry {

// Stands in for kernel/, which this binary does not link: a device "kCustom" whose memory is the host's; no other
// device is there.
DenseTensor CopyAcrossDevices(const DenseTensor& tensor, Target target) {
  WHERRY_ENFORCE(tensor.target() != Target::kCUDA && target != Target::kCUDA, kUnavailable, "no CUDA here");
  const TensorMeta meta{tensor.dtype(), tensor.shape(), DataLayout::kNCHW, 0};
  auto buffer = HostAllocator().Allocate(meta.nbytes());
  void* data = buffer->data();
  std::memcpy(data, static_cast<const char*>(tensor.buffer()->data()) + tensor.offset(), meta.nbytes());
  if (IsHostMemory(target)) return DenseTensor(meta, std::move(buffer));
  return DenseTensor(meta, std::make_shared<Buffer>(data, meta.nbytes(), target, [buffer](void* /*data*/) {}));
}

namespace {

Tensor Nhwc() {
  auto dense = std::make_shared<DenseTensor>(HostAllocator(),
                                             TensorMeta{DataType::kFloat, Shape{1, 2, 3}, DataLayout::kNHWC, 4});
  for (int i = 0; i < 12; ++i) dense->mutable_data<float>()[i] = static_cast<float>(i);
  return Tensor(dense);
}

TEST(Tensor, FromCopiesData) {
  const Tensor tensor = Tensor::From<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ(tensor.dtype(), DataType::kFloat);
  EXPECT_EQ(tensor.nbytes(), 24U);
  EXPECT_TRUE(IsHostMemory(tensor.target()));
  EXPECT_EQ(tensor.data<float>()[4], 5.0F);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.raw_data()) % 64, 0U);
  EXPECT_THROW(tensor.data<int32_t>(), Error);
  EXPECT_THROW(Tensor::From<float>({2, 2}, {1, 2, 3}), Error);
  EXPECT_EQ(Tensor::From<bool>({2}, {true, false}).DebugString(), "bool[2] = true, false");
  EXPECT_EQ(Tensor::From<std::string>({1}, {"a\nb"}).DebugString(), "string[1] = 'a\\nb'");
}

TEST(Tensor, UndefinedIsAnErrorToRead) {
  const Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_THROW(tensor.shape(), Error);
  EXPECT_THROW(tensor.data<float>(), Error);
  EXPECT_THROW(tensor.CopyTo(Target::kHost), Error);
  EXPECT_EQ(tensor.DebugString(), "undefined");
  Tensor scalar;
  *scalar.mutable_data<int64_t>() = 7;
  EXPECT_EQ(scalar.shape(), Shape());
  EXPECT_EQ(scalar.DebugString(), "i64[] = 7");
}

TEST(Tensor, ResizeKeepsDataThatFits) {
  Tensor tensor = Tensor::From<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const void* data = tensor.raw_data();
  tensor.Resize({3, 2});
  EXPECT_EQ(tensor.data<int32_t>()[5], 6);
  tensor.Resize({4});
  EXPECT_EQ(tensor.raw_data(), data);
  tensor.Resize({6});
  EXPECT_EQ(tensor.data<int32_t>()[5], 6);
  tensor.Resize({7});
  EXPECT_THROW(tensor.raw_data(), Error);
  tensor.mutable_data<int32_t>()[6] = 1;
  EXPECT_THROW(tensor.Resize(Shape{-1}), Error);
  EXPECT_THROW(tensor.Resize(Shape{int64_t{1} << 40, int64_t{1} << 40}), Error);
}

TEST(Tensor, HandlesShareData) {
  Tensor a = Tensor::From<float>({2}, {1, 2});
  const Tensor b = a;  // NOLINT(performance-unnecessary-copy-initialization)
  a.mutable_data<float>()[0] = 9;
  EXPECT_EQ(b.data<float>()[0], 9.0F);
}

TEST(Tensor, SharesExternalMemory) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  int released = 0;
  {
    Tensor tensor;
    tensor.ShareExternalMemory(data, sizeof(data), DataType::kFloat, [&] { ++released; });
    EXPECT_EQ(tensor.shape(), Shape{6});
    tensor.Resize({2, 3});
    EXPECT_EQ(tensor.raw_data(), data);
    EXPECT_EQ(tensor.mutable_data<float>(), data);
    const Tensor other = tensor;
    tensor = Tensor();
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Tensor, ExternalMemoryIsNeverReusedForAnotherType) {
  float data[2] = {1, 2};
  Tensor tensor;
  tensor.ShareExternalMemory(data, sizeof(data), DataType::kFloat);
  tensor.mutable_data<int32_t>()[0] = 5;
  EXPECT_EQ(data[0], 1.0F);
}

TEST(Tensor, ExternalMemoryMustSuffice) {
  float data[4] = {};
  Tensor tensor;
  tensor.Resize({5});
  bool released = false;
  EXPECT_THROW(tensor.ShareExternalMemory(data, sizeof(data), DataType::kFloat, [&] { released = true; }), Error);
  EXPECT_FALSE(released);
  EXPECT_THROW(tensor.ShareExternalMemory(nullptr, 20, DataType::kFloat), Error);
  EXPECT_THROW(tensor.ShareExternalMemory(data, sizeof(data), DataType::kString), Error);
}

TEST(Tensor, CopiesToAndFromHostPointers) {
  Tensor tensor;
  tensor.Resize({3});
  const double in[] = {1.5, 2.5, 3.5};
  tensor.CopyFromCpu(in);
  double out[3] = {};
  tensor.CopyToCpu(out);
  EXPECT_EQ(out[2], 3.5);
  float wrong[3] = {};
  EXPECT_THROW(tensor.CopyToCpu(wrong), Error);
  const std::string words[] = {"a", "b", "c"};
  tensor.CopyFromCpu(words);
  std::string read[3];
  tensor.CopyToCpu(read);
  EXPECT_EQ(read[1], "b");
}

TEST(Tensor, OtherLayoutsAreReadInPlainOrder) {
  Tensor tensor = Nhwc();
  EXPECT_THROW(tensor.data<float>(), Error);
  float out[6] = {};
  tensor.CopyToCpu(out);
  EXPECT_EQ(std::vector<float>(out, out + 6), (std::vector<float>{0, 4, 8, 1, 5, 9}));
  EXPECT_EQ(tensor.DebugString(3), "f32[1,2,3] nhwc pixel_stride=4 = 0.0, 4.0, 8.0, ...");
  const Tensor plain = tensor.CopyTo(Target::kHost);
  EXPECT_NE(plain.impl(), tensor.impl());
  EXPECT_EQ(plain.data<float>()[3], 1.0F);
  EXPECT_EQ(plain.CopyTo(Target::kX86).impl(), plain.impl());
  EXPECT_EQ(tensor.mutable_data<float>()[3], 1.0F);
  EXPECT_EQ(tensor.layout(), DataLayout::kNCHW);
  Tensor resized = Nhwc();
  resized.Resize({6});
  EXPECT_EQ(resized.data<float>()[3], 1.0F);
}

TEST(Tensor, MovesBetweenDevices) {
  const Tensor host = Tensor::From<int64_t>({2}, {3, 4});
  const Tensor device = host.CopyTo(Target::kCustom);
  EXPECT_EQ(device.target(), Target::kCustom);
  EXPECT_THROW(device.data<int64_t>(), Error);
  EXPECT_EQ(device.CopyTo(Target::kCustom).impl(), device.impl());
  EXPECT_EQ(device.CopyTo(Target::kHost).data<int64_t>()[1], 4);
  EXPECT_EQ(device.DebugString(), "i64[2] on custom = 3, 4");
  EXPECT_EQ(IntArray(device).values(), (std::vector<int64_t>{3, 4}));
  int64_t out[2] = {};
  device.CopyToCpu(out);
  EXPECT_EQ(out[0], 3);
  try {
    host.CopyTo(Target::kCUDA);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
  }
  EXPECT_THROW(host.CopyTo(Target::kAny), Error);
}

TEST(Tensor, DebugStringOfEveryNumberType) {
  EXPECT_EQ(Tensor::From<int8_t>({2}, {-1, 2}).DebugString(), "i8[2] = -1, 2");
  EXPECT_EQ(Tensor::From<uint64_t>({1}, {~uint64_t{0}}).DebugString(), "u64[1] = 18446744073709551615");
  EXPECT_EQ(Tensor::From<Float16>({1}, {Float16(0.5F)}).DebugString(), "f16[1] = 0.5");
  EXPECT_EQ(Tensor::From<double>({0}, {}).DebugString(), "f64[0] = ");
  EXPECT_EQ(Tensor::From<float>({2}, {1, 2}).DebugString(0), "f32[2] = ...");
  Tensor complex;
  complex.mutable_raw_data(DataType::kComplex64);
  const float parts[] = {1, -2};
  std::memcpy(complex.mutable_raw_data(DataType::kComplex64), parts, sizeof(parts));
  EXPECT_EQ(complex.DebugString(), "c64[] = (1.0, -2.0)");
}

TEST(Scalar, ConvertsAsCppDoesButSaturates) {
  EXPECT_EQ(Scalar(2.9).to<int>(), 2);
  EXPECT_EQ(Scalar(1e20).to<int32_t>(), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(Scalar(-1e20).to<int8_t>(), -128);
  EXPECT_EQ(Scalar(-1.0).to<uint8_t>(), 0);
  EXPECT_EQ(Scalar(1e30F).to<int64_t>(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Scalar(0x1p63).to<uint64_t>(), uint64_t{1} << 63U);
  EXPECT_EQ(Scalar(std::nan("")).to<int>(), 0);
  EXPECT_TRUE(Scalar(0.5).to<bool>());
  EXPECT_EQ(Scalar(3).to<float>(), 3.0F);
  EXPECT_EQ(static_cast<float>(Scalar(0.1).to<Float16>()), static_cast<float>(Float16(0.1F)));
  EXPECT_EQ(Scalar::OfType(DataType::kUInt64, int64_t{-1}).to<double>(), 0x1p64);
  EXPECT_EQ(Scalar::OfType(DataType::kInt8, int64_t{300}).to<int>(), 44);
  EXPECT_THROW(Scalar::OfType(DataType::kFloat, int64_t{1}), Error);
  EXPECT_THROW(Scalar::OfType(DataType::kInt32, 1.0), Error);
}

TEST(Scalar, Text) {
  EXPECT_EQ(Scalar(int64_t{-3}).DebugString(), "-3");
  EXPECT_EQ(Scalar(true).DebugString(), "true");
  EXPECT_EQ(Scalar(1.0).DebugString(), "1.0");
  EXPECT_EQ(Scalar(0.1F).DebugString(), "f32(0.1)");
  EXPECT_EQ(Scalar(3).DebugString(), "i32(3)");
  EXPECT_EQ(Scalar::OfType(DataType::kUInt64, int64_t{-1}).DebugString(), "u64(18446744073709551615)");
}

TEST(Scalar, FromATensor) {
  EXPECT_EQ(Scalar(Tensor::From<float>({1, 1}, {2.5F})), Scalar(2.5F));
  EXPECT_EQ(Scalar(Tensor::From<bool>({}, {true})), Scalar(true));
  EXPECT_EQ(Scalar(Tensor::From<uint8_t>({}, {200})).to<int>(), 200);
  EXPECT_EQ(Scalar(Tensor::From<Float16>({}, {Float16(1.5F)})).dtype(), DataType::kFP16);
  EXPECT_EQ(Scalar(Tensor::From<int64_t>({1}, {4}).CopyTo(Target::kCustom)), Scalar(int64_t{4}));
  EXPECT_THROW(Scalar(Tensor::From<float>({2}, {1, 2})), Error);
  EXPECT_THROW(Scalar(Tensor::From<std::string>({}, {"a"})), Error);
  EXPECT_THROW(Scalar{Tensor()}, Error);
}

TEST(IntArray, FromATensor) {
  EXPECT_EQ(IntArray(Tensor::From<int32_t>({3}, {1, -2, 3})), (IntArray{1, -2, 3}));
  EXPECT_EQ(IntArray(Tensor::From<int64_t>({}, {5})), IntArray{5});
  EXPECT_TRUE(IntArray(Tensor::From<int64_t>({0}, {})).empty());
  EXPECT_THROW(IntArray(Tensor::From<int64_t>({1, 1}, {5})), Error);
  EXPECT_THROW(IntArray(Tensor::From<float>({1}, {5})), Error);
}

TEST(NumberText, IsTheShortestThatReadsBack) {
  EXPECT_EQ(NumberText(0.1), "0.1");
  EXPECT_EQ(NumberText(0.1F), "0.1");
  EXPECT_EQ(NumberText(static_cast<double>(0.1F)), "0.10000000149011612");
  EXPECT_EQ(NumberText(3.0), "3.0");
  EXPECT_EQ(NumberText(-0.0), "-0.0");
  EXPECT_EQ(NumberText(1e-5), "1e-05");
  EXPECT_EQ(NumberText(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(NumberText(-std::nan("")), "nan");
  for (double value : {1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.125, -0.0}) {
    EXPECT_EQ(ParseNumber<double>(NumberText(value)), value);
  }
  EXPECT_EQ(ParseNumber<int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(ParseNumber<int64_t>(" 1"), std::nullopt);
  EXPECT_EQ(ParseNumber<double>("1.5x"), std::nullopt);
  EXPECT_EQ(ParseNumber<double>(""), std::nullopt);
}

}  // namespace
}  // namespace wherry
