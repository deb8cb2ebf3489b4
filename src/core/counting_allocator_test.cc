#include "core/counting_allocator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/error_test_util.h"

namespace wherry {
namespace {

TEST(CountingAllocatorTest, CountsWhatLives) {
  CountingAllocator allocator;
  EXPECT_EQ(allocator.target(), HostAllocator().target());
  std::shared_ptr<Buffer> a = allocator.Allocate(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a->data()) % 64, 0U);
  std::memset(a->data(), 1, a->size());
  std::shared_ptr<Buffer> b = allocator.Allocate(0);
  EXPECT_NE(b->data(), nullptr);
  EXPECT_EQ(allocator.held(), 100U);
  b = allocator.Allocate(28);
  EXPECT_EQ(allocator.held(), 128U);
  a = nullptr;
  EXPECT_EQ(allocator.held(), 28U);
  b = nullptr;
  EXPECT_EQ(allocator.held(), 0U);
}

TEST(CountingAllocatorTest, KeepsToItsLimit) {
  CountingAllocator allocator(100);
  const std::shared_ptr<Buffer> most = allocator.Allocate(90);
  EXPECT_EQ(ErrorText([&] { allocator.Allocate(11); }), "cannot allocate 11 bytes, 90 are held and the limit is 100");
  EXPECT_EQ(ErrorText([&] { allocator.Allocate(~size_t{0}); }).find("cannot allocate"), 0U);
  EXPECT_EQ(allocator.held(), 90U) << "what is refused does not count";
  allocator.Allocate(10);
}

TEST(CountingAllocatorTest, AdoptsMemory) {
  CountingAllocator allocator(100);
  const std::shared_ptr<Buffer> memory = HostAllocator().Allocate(60);
  {
    const std::shared_ptr<Buffer> adopted = allocator.Adopt(memory, memory->size());
    EXPECT_EQ(adopted->data(), memory->data());
    EXPECT_EQ(allocator.held(), 60U);
    EXPECT_NE(ErrorText([&] { allocator.Adopt(memory, memory->size()); }), "no error");
  }
  EXPECT_EQ(allocator.held(), 0U);
}

TEST(CountingAllocatorTest, BuffersMayOutliveIt) {
  std::shared_ptr<Buffer> buffer;
  {
    CountingAllocator allocator(100);
    buffer = allocator.Allocate(100);
  }
  std::memset(buffer->data(), 1, 100);
}

TEST(CountingAllocatorTest, ThreadsTogetherKeepToTheLimit) {
  CountingAllocator allocator(1000);
  std::atomic<bool> passed{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        try {
          const std::shared_ptr<Buffer> buffer = allocator.Allocate(400);
        } catch (const Error&) {
        }
        if (allocator.held() > 4 * 400) passed = true;  // what is being refused counts for a moment
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(passed);
  EXPECT_EQ(allocator.held(), 0U);
}

}  // namespace
}  // namespace wherry
