#include "kernel/plan_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "kernel/kernel_registry.h"
#include "kernel/test_ops_test_util.h"
#include "wherry/error.h"

namespace wherry {
namespace {

const Kernel& Planned() {
  return *KernelFactory::Instance().FindKernel("kt_planned", "ref", "counted", {Target::kHost});
}

// The plan for x of `size` elements with this step.
std::shared_ptr<const KernelPlan> Get(PlanCache* cache, int64_t size, int64_t step, int threads = 1) {
  const MetaTensor x(DataType::kFloat, {Dim(size)});
  const Attribute attribute = step;
  const std::vector<BoundArg> args = {{{&x}, nullptr}, {{}, &attribute}};
  const MetaTensor* outputs[] = {&x};
  return cache->Get(Planned(), TestOp("kt_planned"), args, outputs, {}, threads);
}

TEST(PlanCache, PlansOncePerCall) {
  PlanCache cache;
  const int before = TestPlanCount();
  const auto plan = Get(&cache, 2, 1);
  EXPECT_EQ(Get(&cache, 2, 1), plan);
  EXPECT_EQ(TestPlanCount(), before + 1);
  EXPECT_NE(Get(&cache, 3, 1), plan);
  EXPECT_NE(Get(&cache, 2, 2), plan);
  EXPECT_NE(Get(&cache, 2, 1, 2), plan);
  EXPECT_EQ(TestPlanCount(), before + 4);
  EXPECT_EQ(cache.size(), 4U);
}

TEST(PlanCache, ForgetsWhatWasUsedLongestAgo) {
  PlanCache cache(2);
  const auto first = Get(&cache, 1, 1);
  const auto second = Get(&cache, 2, 1);
  EXPECT_EQ(Get(&cache, 1, 1), first);  // now the second is the older one
  Get(&cache, 3, 1);
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(Get(&cache, 1, 1), first);
  EXPECT_NE(Get(&cache, 2, 1), second);
}

TEST(PlanCache, ServesManyThreads) {
  PlanCache cache(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int64_t i = 0; i < 200; ++i) EXPECT_NE(Get(&cache, (i + t) % 8, 1), nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.size(), 4U);
}

}  // namespace
}  // namespace wherry
