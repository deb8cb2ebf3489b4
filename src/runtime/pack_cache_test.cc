#include "runtime/pack_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "base/error_test_util.h"

namespace wherry {
namespace {

// "Packs" bytes by adding one; the format says how often.
Kernel AddingKernel() {
  Kernel kernel;
  kernel.op = "adds";
  kernel.packed_bytes = [](const TensorMeta& weight, std::string_view) { return weight.nbytes(); };
  kernel.pack = [](const DenseTensor& weight, std::string_view format, void* packed) {
    if (format == "bad") Throw(ErrorCode::kInvalidArgument, "cannot");
    const auto* from = weight.data<uint8_t>();
    std::transform(from, from + weight.numel(), static_cast<uint8_t*>(packed),
                   [&](uint8_t v) { return static_cast<uint8_t>(v + format.size()); });
  };
  return kernel;
}

TensorMeta Meta(int64_t count) { return {DataType::kUInt8, Shape{count}}; }

DenseTensor Weight(int64_t count, uint8_t value) {
  DenseTensor weight(HostAllocator(), Meta(count));
  std::memset(weight.mutable_raw_data(), value, static_cast<size_t>(count));
  return weight;
}

bool IsFilled(const PackedWeight& packed, size_t size, uint8_t value) {
  const auto* data = static_cast<const uint8_t*>(packed.buffer->data());
  return packed.buffer->size() == size && reinterpret_cast<uintptr_t>(data) % 64 == 0 &&
         std::all_of(data, data + size, [value](uint8_t v) { return v == value; });
}

TEST(PackCache, PacksOnceForEachWeightAndFormat) {
  const Kernel kernel = AddingKernel();
  const DenseTensor a = Weight(100, 1);
  const DenseTensor b = Weight(1000, 5);
  PackCache cache;
  for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), new ThreadPool(2)}) {
    const std::unique_ptr<ThreadPool> owner(pool);
    const PackDemand demands[] = {{&kernel, &a, "1"}, {&kernel, &b, "1"}, {&kernel, &a, "22"}, {&kernel, &a, "1"}};
    const auto packed = cache.Get(demands, pool);
    ASSERT_EQ(packed.size(), 4U);
    EXPECT_TRUE(IsFilled(*packed[0], 100, 2));
    EXPECT_TRUE(IsFilled(*packed[1], 1000, 6));
    EXPECT_TRUE(IsFilled(*packed[2], 100, 3));
    EXPECT_EQ(packed[3], packed[0]);
    EXPECT_EQ(cache.bytes(), 1200U);
  }
  EXPECT_EQ(cache.FormsOf(a).size(), 2U);
  EXPECT_EQ(cache.FormsOf(b).size(), 1U);
}

TEST(PackCache, DeferredWeightsAreNotKept) {
  const Kernel kernel = AddingKernel();
  PackCache cache;
  std::vector<DenseTensor> weights;
  std::vector<PackDemand> demands;
  for (uint8_t i = 0; i < 9; ++i) {
    weights.emplace_back(Meta(50), Buffer::Deferred(50, [i](void* to) { std::memset(to, i, 50); }));
  }
  for (const DenseTensor& weight : weights) demands.push_back({&kernel, &weight, "1"});
  ThreadPool pool(2);
  const auto packed = cache.Get(demands, &pool);
  for (uint8_t i = 0; i < 9; ++i) {
    EXPECT_TRUE(IsFilled(*packed[i], 50, static_cast<uint8_t>(i + 1)));
    EXPECT_TRUE(weights[i].buffer()->is_deferred());
  }
}

TEST(PackCache, StoredFormsAreTakenIfTheyFit) {
  const Kernel kernel = AddingKernel();
  const DenseTensor a = Weight(64, 1);
  const DenseTensor b = Weight(64, 1);
  PackCache cache;
  const DenseTensor stored = Weight(64, 9);
  const DenseTensor small = Weight(32, 9);
  cache.AddStored(a, {"1", stored.buffer()});
  cache.AddStored(b, {"1", small.buffer()});
  const PackDemand demands[] = {{&kernel, &a, "1"}, {&kernel, &b, "1"}, {&kernel, &a, "22"}};
  const auto packed = cache.Get(demands, nullptr);
  EXPECT_EQ(packed[0]->buffer, stored.buffer());
  EXPECT_TRUE(IsFilled(*packed[1], 64, 2));
  EXPECT_TRUE(IsFilled(*packed[2], 64, 3));
}

TEST(PackCache, AFailureIsTriedAgain) {
  const Kernel kernel = AddingKernel();
  const DenseTensor a = Weight(64, 1);
  PackCache cache;
  const PackDemand demands[] = {{&kernel, &a, "bad"}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(ErrorText([&] { cache.Get(demands, nullptr); }).find("cannot"), std::string::npos);
  }
  EXPECT_TRUE(cache.FormsOf(a).empty());
}

}  // namespace
}  // namespace wherry
