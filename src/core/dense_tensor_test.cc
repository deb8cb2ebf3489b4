#include "core/dense_tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/device_context.h"
#include "wherry/error.h"

namespace wherry {
namespace {

TEST(Buffer, HostMemoryIsAligned) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{5000}}) {
    const auto buffer = HostAllocator().Allocate(size);
    ASSERT_NE(buffer->data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0U);
    EXPECT_EQ(buffer->size(), size);
    EXPECT_EQ(buffer->target(), Target::kHost);
  }
}

TEST(Buffer, TooMuchIsAnError) {
  for (size_t size : {std::numeric_limits<size_t>::max(), std::numeric_limits<size_t>::max() / 2}) {
    try {
      HostAllocator().Allocate(size);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
      EXPECT_NE(error.message().find(std::to_string(size)), std::string::npos);
    }
  }
  EXPECT_THROW(Buffer::OfStrings(std::numeric_limits<size_t>::max() / 8), Error);
}

TEST(Buffer, TheDeleterRunsWithTheLastOwner) {
  int data = 0;
  int calls = 0;
  auto buffer = std::make_shared<Buffer>(&data, sizeof(data), Target::kHost, [&](void* freed) {
    EXPECT_EQ(freed, &data);
    ++calls;
  });
  DenseTensor tensor({DataType::kInt32, Shape{1}, DataLayout::kNCHW, 0}, buffer);
  buffer.reset();
  EXPECT_EQ(calls, 0);
  tensor = DenseTensor();
  EXPECT_EQ(calls, 1);
}

TEST(TensorMeta, Sizes) {
  const TensorMeta plain{DataType::kFloat, Shape{2, 3, 4, 5}, DataLayout::kNCHW, 0};
  EXPECT_EQ(plain.storage_numel(), 120);
  EXPECT_EQ(plain.nbytes(), 480U);
  EXPECT_EQ(plain.DebugString(), "f32[2,3,4,5]");
  const TensorMeta padded{DataType::kFP16, Shape{2, 3, 4, 5}, DataLayout::kNHWC, 8};
  EXPECT_EQ(padded.effective_pixel_stride(), 8);
  EXPECT_EQ(padded.storage_numel(), 2 * 4 * 5 * 8);
  EXPECT_EQ(padded.nbytes(), 640U);
  EXPECT_EQ(padded.DebugString(), "f16[2,3,4,5] nhwc pixel_stride=8");
  EXPECT_EQ((TensorMeta{DataType::kInt4, Shape{3}, DataLayout::kNCHW, 0}).nbytes(), 2U);
  EXPECT_EQ((TensorMeta{DataType::kString, Shape{3}, DataLayout::kNCHW, 0}).nbytes(), 3 * sizeof(std::string));
  EXPECT_EQ((TensorMeta{DataType::kFloat, Shape{0, 0, 7}, DataLayout::kNHWC, 16}).nbytes(), 0U);
  EXPECT_EQ((TensorMeta{DataType::kFloat, Shape{}, DataLayout::kNHWC, 0}).effective_pixel_stride(), 1);
}

TEST(TensorMeta, HostileSizesAreErrors) {
  EXPECT_THROW(static_cast<void>((TensorMeta{DataType::kFP64, Shape{int64_t{1} << 61}, DataLayout::kNCHW, 0}).nbytes()),
               Error);
  EXPECT_THROW(static_cast<void>((TensorMeta{DataType::kFloat, Shape{1, 4, 2}, DataLayout::kNHWC, 3}).nbytes()), Error);
  EXPECT_THROW(static_cast<void>(
                   (TensorMeta{DataType::kInt8, Shape{4, 1}, DataLayout::kNHWC, int64_t{1} << 62}).storage_numel()),
               Error);
}

TEST(TensorMeta, PlainOrder) {
  EXPECT_TRUE((TensorMeta{DataType::kFloat, Shape{2, 3, 4}, DataLayout::kNCHW, 0}).is_plain());
  EXPECT_FALSE((TensorMeta{DataType::kFloat, Shape{2, 3, 4}, DataLayout::kNHWC, 0}).is_plain());
  EXPECT_TRUE((TensorMeta{DataType::kFloat, Shape{2, 1, 4}, DataLayout::kNHWC, 0}).is_plain());
  EXPECT_TRUE((TensorMeta{DataType::kFloat, Shape{2, 3, 1, 1}, DataLayout::kNHWC, 3}).is_plain());
  EXPECT_FALSE((TensorMeta{DataType::kFloat, Shape{2, 3, 1, 1}, DataLayout::kNHWC, 4}).is_plain());
  EXPECT_TRUE((TensorMeta{DataType::kFloat, Shape{5}, DataLayout::kNHWC, 0}).is_plain());
}

TEST(DenseTensor, AllocateReusesWhatItAloneOwns) {
  DenseTensor tensor(HostAllocator(), {DataType::kFloat, Shape{4, 4}, DataLayout::kNCHW, 0});
  const void* first = tensor.raw_data();
  tensor.Allocate(HostAllocator(), {DataType::kInt16, Shape{5}, DataLayout::kNCHW, 0});
  EXPECT_EQ(tensor.raw_data(), first);
  EXPECT_EQ(tensor.dtype(), DataType::kInt16);
  const DenseTensor other = tensor;
  tensor.Allocate(HostAllocator(), {DataType::kInt16, Shape{5}, DataLayout::kNCHW, 0});
  EXPECT_NE(tensor.raw_data(), first);
  EXPECT_EQ(other.raw_data(), first);
  tensor.Allocate(HostAllocator(), {DataType::kFloat, Shape{100}, DataLayout::kNCHW, 0});
  EXPECT_GE(tensor.buffer()->size(), 400U);
}

TEST(DenseTensor, DataIsChecked) {
  DenseTensor tensor({DataType::kFloat, Shape{2}, DataLayout::kNCHW, 0});
  EXPECT_THROW(tensor.data<float>(), Error);  // no data
  tensor.Allocate(HostAllocator(), tensor.meta());
  EXPECT_NO_THROW(tensor.data<float>());
  EXPECT_THROW(tensor.data<int32_t>(), Error);
  int device = 0;
  tensor.set_buffer(std::make_shared<Buffer>(&device, 8, Target::kOpenCL));
  EXPECT_THROW(tensor.data<float>(), Error);
}

TEST(DenseTensor, StringsLiveAsLongAsTheirBuffer) {
  const std::string text(100, 'x');  // not stored in place
  DenseTensor tensor(HostAllocator(), {DataType::kString, Shape{2, 2}, DataLayout::kNCHW, 0});
  for (int i = 0; i < 4; ++i) tensor.mutable_data<std::string>()[i] = text + std::to_string(i);
  DenseTensor alias = tensor;
  tensor = DenseTensor();
  EXPECT_EQ(alias.data<std::string>()[3], text + "3");
  // Bytes never pose as strings, nor strings as bytes.
  alias.set_meta({DataType::kInt64, Shape{4}, DataLayout::kNCHW, 0});
  EXPECT_THROW(alias.raw_data(), Error);
  DenseTensor bytes(HostAllocator(), {DataType::kInt64, Shape{100}, DataLayout::kNCHW, 0});
  bytes.set_meta({DataType::kString, Shape{1}, DataLayout::kNCHW, 0});
  EXPECT_THROW(bytes.data<std::string>(), Error);
  bytes.Allocate(HostAllocator(), bytes.meta());
  EXPECT_EQ(bytes.data<std::string>()[0], "");
}

// The storage index of the logical element (n, c, s).
int64_t StorageIndex(const TensorMeta& meta, int64_t n, int64_t c, int64_t s) {
  const int64_t channels = meta.shape[1];
  const int64_t pixels = meta.shape.numel(2, meta.shape.rank());
  if (meta.layout == DataLayout::kNCHW) return (n * channels + c) * pixels + s;
  return (n * pixels + s) * meta.effective_pixel_stride() + c;
}

template <typename T>
void ExpectCopies(const Shape& shape, DataLayout from_layout, int64_t from_stride, DataLayout to_layout,
                  int64_t to_stride) {
  DenseTensor from(HostAllocator(), {DataTypeOf<T>(), shape, from_layout, from_stride});
  DenseTensor to(HostAllocator(), {DataTypeOf<T>(), shape, to_layout, to_stride});
  T* in = from.mutable_data<T>();
  for (int64_t i = 0; i < from.meta().storage_numel(); ++i) in[i] = static_cast<T>(i % 251);
  CopyHostTensor(from, &to);
  const T* out = to.data<T>();
  const int64_t pixels = shape.numel(2, shape.rank());
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t c = 0; c < shape[1]; ++c) {
      for (int64_t s = 0; s < pixels; ++s) {
        ASSERT_EQ(out[StorageIndex(to.meta(), n, c, s)], in[StorageIndex(from.meta(), n, c, s)])
            << from.meta().DebugString() << " -> " << to.meta().DebugString() << " at " << n << ", " << c << ", " << s;
      }
    }
  }
}

TEST(CopyHostTensor, ConvertsEveryPairOfLayouts) {
  const std::pair<DataLayout, int64_t> layouts[] = {
      {DataLayout::kNCHW, 0}, {DataLayout::kNHWC, 0}, {DataLayout::kNHWC, 48}, {DataLayout::kNHWC, 64}};
  const Shape shapes[] = {{2, 3, 5, 7}, {1, 37, 4, 5}, {2, 33, 17},  {3, 5},
                          {2, 1, 3, 3}, {1, 16, 1, 1}, {0, 3, 2, 2}, {2, 0, 4}};
  for (const Shape& shape : shapes) {
    for (const auto& [from, from_stride] : layouts) {
      for (const auto& [to, to_stride] : layouts) {
        ExpectCopies<uint8_t>(shape, from, from_stride, to, to_stride);
        ExpectCopies<int16_t>(shape, from, from_stride, to, to_stride);
        ExpectCopies<float>(shape, from, from_stride, to, to_stride);
        ExpectCopies<double>(shape, from, from_stride, to, to_stride);
      }
    }
  }
}

TEST(CopyHostTensor, Strings) {
  DenseTensor from(HostAllocator(), {DataType::kString, Shape{1, 2, 2}, DataLayout::kNCHW, 0});
  for (int i = 0; i < 4; ++i) from.mutable_data<std::string>()[i] = std::to_string(i);
  DenseTensor to(HostAllocator(), {DataType::kString, Shape{1, 2, 2}, DataLayout::kNHWC, 0});
  CopyHostTensor(from, &to);
  const std::string* out = to.data<std::string>();
  EXPECT_EQ(out[0] + out[1] + out[2] + out[3], "0213");
  const DenseTensor plain = PlainHostCopy(to);
  EXPECT_EQ(plain.data<std::string>()[1], "1");
}

TEST(CopyHostTensor, UnalignedMemory) {
  std::vector<char> memory(6 * sizeof(float) + 1);
  for (int i = 0; i < 6; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(memory.data() + 1 + i * 4, &value, 4);
  }
  const DenseTensor from({DataType::kFloat, Shape{1, 2, 3}, DataLayout::kNCHW, 0},
                         std::make_shared<Buffer>(memory.data(), memory.size(), Target::kHost), 1);
  DenseTensor to(HostAllocator(), {DataType::kFloat, Shape{1, 2, 3}, DataLayout::kNHWC, 0});
  CopyHostTensor(from, &to);
  EXPECT_EQ(to.data<float>()[1], 3.0F);
  EXPECT_EQ(to.data<float>()[4], 2.0F);
}

TEST(CopyHostTensor, RefusesWhatDiffers) {
  const DenseTensor from(HostAllocator(), {DataType::kFloat, Shape{2, 3}, DataLayout::kNCHW, 0});
  DenseTensor to(HostAllocator(), {DataType::kFloat, Shape{3, 2}, DataLayout::kNCHW, 0});
  EXPECT_THROW(CopyHostTensor(from, &to), Error);
  to.Allocate(HostAllocator(), {DataType::kInt32, Shape{2, 3}, DataLayout::kNCHW, 0});
  EXPECT_THROW(CopyHostTensor(from, &to), Error);
  to = DenseTensor(from.meta());
  EXPECT_THROW(CopyHostTensor(from, &to), Error);  // no memory
  to.set_buffer(HostAllocator().Allocate(8));
  EXPECT_THROW(CopyHostTensor(from, &to), Error);  // too little memory
  const DenseTensor nibbles(HostAllocator(), {DataType::kInt4, Shape{1, 2, 3}, DataLayout::kNCHW, 0});
  DenseTensor nhwc(HostAllocator(), {DataType::kInt4, Shape{1, 2, 3}, DataLayout::kNHWC, 0});
  EXPECT_THROW(CopyHostTensor(nibbles, &nhwc), Error);
}

TEST(PaddedPixelStride, PadsMultiplesOf2048Bytes) {
  EXPECT_EQ(PaddedPixelStride(DataType::kFloat, 512), 528);
  EXPECT_EQ(PaddedPixelStride(DataType::kFloat, 1024), 1040);
  EXPECT_EQ(PaddedPixelStride(DataType::kFloat, 256), 0);
  EXPECT_EQ(PaddedPixelStride(DataType::kFloat, 513), 0);
  EXPECT_EQ(PaddedPixelStride(DataType::kFloat, 0), 0);
  EXPECT_EQ(PaddedPixelStride(DataType::kFP16, 1024), 1056);
  EXPECT_EQ(PaddedPixelStride(DataType::kInt8, 2048), 2112);
  EXPECT_EQ(PaddedPixelStride(DataType::kString, 2048), 0);
}

TEST(CpuContext, ScratchGrowsAndIsGivenBack) {
  const CpuContext context;
  EXPECT_EQ(context.threads(), 1);
  EXPECT_EQ(context.target(), Target::kNative);
  void* first = context.Scratch(1000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0U);
  EXPECT_EQ(context.Scratch(10), first);
  EXPECT_EQ(context.scratch_size(), 1000U);
  std::memset(context.Scratch(5000), 1, 5000);
  EXPECT_EQ(context.scratch_size(), 5000U);
  context.ReleaseScratch();
  EXPECT_EQ(context.scratch_size(), 0U);
  EXPECT_NE(context.Scratch(0), nullptr);
}

TEST(CpuContext, CopyConvertsLayout) {
  CpuContext context;
  DenseTensor from(context.allocator(), {DataType::kInt8, Shape{1, 2, 2}, DataLayout::kNCHW, 0});
  for (int i = 0; i < 4; ++i) from.mutable_data<int8_t>()[i] = static_cast<int8_t>(i);
  DenseTensor to(context.allocator(), {DataType::kInt8, Shape{1, 2, 2}, DataLayout::kNHWC, 0});
  context.Copy(from, &to);
  EXPECT_EQ(to.data<int8_t>()[1], 2);
}

}  // namespace
}  // namespace wherry
