// Where values lie: pieces of one another, wider pixels, views of inputs; and that nothing is read or written there
// that should not be.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ir/text.h"
#include "kernel/provider.h"
#include "pass/optimizer.h"
#include "runtime/session.h"

namespace wherry {
namespace {

class PlanMemoryTest : public testing::Test {
 protected:
  // Runs the program as it is and optimised, and compares. The optimised session, with the memory poisoned, remains.
  void Compare(const std::string& text, const std::vector<Shape>& shapes) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    inputs_.clear();
    for (const Shape& shape : shapes) {
      DenseTensor& tensor =
          inputs_.emplace_back(HostAllocator(), TensorMeta{DataType::kFloat, shape, DataLayout::kNCHW, 0});
      std::generate_n(tensor.mutable_data<float>(), tensor.numel(), [&] { return uniform(random); });
    }
    Session plain(Executable::Build(ParseProgram(text)), nullptr);
    session_ = std::make_unique<Session>(Executable::Build(Optimizer().Run(ParseProgram(text), {})), nullptr);
    session_->set_poison(true);
    const auto expected = Run(&plain);
    for (int run = 0; run < 2; ++run) {
      const auto got = Run(session_.get());
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i]->shape(), expected[i]->shape());
        for (int64_t j = 0; j < got[i]->numel(); ++j)
          ASSERT_NEAR(got[i]->data<float>()[j], expected[i]->data<float>()[j], 1e-4) << "result " << i << " at " << j;
      }
    }
  }

  std::vector<std::shared_ptr<DenseTensor>> Run(Session* session) const {
    std::vector<const DenseTensor*> pointers;
    for (const DenseTensor& tensor : inputs_) pointers.push_back(&tensor);
    std::vector<std::shared_ptr<DenseTensor>> outputs;
    session->Run(pointers, &outputs);
    return outputs;
  }

  // Ops of this type in the optimised program, and how many of them move nothing.
  std::pair<int, int> Count(const std::string& type) const {
    std::pair<int, int> counts;
    for (const PlannedCall& call : session_->plan()->calls) {
      if (call.instruction->schema->name != type) continue;
      ++counts.first;
      counts.second += call.nothing ? 1 : 0;
    }
    return counts;
  }

  std::vector<DenseTensor> inputs_;
  std::unique_ptr<Session> session_;
};

using Counts = std::pair<int, int>;

TEST_F(PlanMemoryTest, ChannelsAreJoinedWhereTheyAreWritten) {
  // Convolutions of every algorithm, a pool, a resize, an elementwise op, and one that reads a part.
  Compare(R"(
    block main(%x : f32[2,8,12,12], %f : f32[5,8,3,3], %g : f32[8,1,3,3], %h : f32[24,8,1,1], %k : f32[4,48,3,3]) -> (%y, %z) {
      %a = conv2d(x: %x, filter: %f) {paddings = [1, 1]}
      %b = conv2d(x: %x, filter: %g) {paddings = [1, 1], groups = 8}
      %c = conv2d(x: %x, filter: %h)
      %d = pool2d(x: %x) {kernel_size = [3, 3], strides = [1, 1], paddings = [1, 1], pooling_type = "max"}
      %e = multiply(x: %c, y: %c)
      %s = add(x: %a, y: %a)
      %j = concat(x: [%s, %b, %d, %e]) {axis = 1}
      %m = slice(x: %j) {axes = [1], starts = [5], ends = [21]}
      %p = concat(x: [%m, %e, %d]) {axis = 1}
      %y = conv2d(x: %p, filter: %k) {paddings = [1, 1]}
      %z = pool2d(x: %b) {kernel_size = [2, 2], strides = [2, 2], pooling_type = "avg"}
    }
  )",
          {{2, 8, 12, 12}, {5, 8, 3, 3}, {8, 1, 3, 3}, {24, 8, 1, 1}, {4, 48, 3, 3}});
  EXPECT_EQ(Count("concat").first, 2);
  EXPECT_EQ(Count("concat").second, 1);
  EXPECT_EQ(Count("slice"), (Counts{1, 1}));
}

TEST_F(PlanMemoryTest, ChannelsAreSplitWhereTheyLie) {
  Compare(R"(
    block main(%x : f32[1,8,9,9], %f : f32[12,8,3,3], %g : f32[6,4,3,3], %h : f32[5,8,1,1]) -> (%y, %z) {
      %a = conv2d(x: %x, filter: %f) {paddings = [1, 1]}
      (out: [%p, %q]) = split(x: %a) {sections = [4, 8], axis = 1}
      %r = slice(x: %q) {axes = [2, 3], starts = [1, 0], ends = [2, 9]}
      %y = conv2d(x: %p, filter: %g)
      %z = conv2d(x: %r, filter: %h)
    }
  )",
          {{1, 8, 9, 9}, {12, 8, 3, 3}, {6, 4, 3, 3}, {5, 8, 1, 1}});
  EXPECT_EQ(Count("split"), (Counts{1, 1}));
  EXPECT_EQ(Count("slice"), (Counts{1, 1}));
}

TEST_F(PlanMemoryTest, WhatTakesNoStridesGetsACopy) {
  // Softmax is for plain images.
  Compare(R"(
    block main(%x : f32[1,8,9,9], %f : f32[12,8,3,3], %g : f32[4,12,1,1]) -> (%y) {
      %a = conv2d(x: %x, filter: %f) {paddings = [1, 1]}
      (out: [%p, %q]) = split(x: %a) {sections = [4, 8], axis = 1}
      %s = softmax(x: %q) {axis = 1}
      %t = concat(x: [%s, %p]) {axis = 1}
      %y = conv2d(x: %t, filter: %g)
    }
  )",
          {{1, 8, 9, 9}, {12, 8, 3, 3}, {4, 12, 1, 1}});
}

// A view of what another provider made, and a layout that changes nothing: of one channel, of one pixel.
TEST_F(PlanMemoryTest, ViewsNeedNoCopyWhoeverMadeTheValue) {
  Compare(R"(
    block main(%x : f32[2,4,9,9], %f : f32[6,4,1,1]) -> (%y, %z) {
      %a = exp(x: %x)
      %b = reshape(x: %a) {shape = [2, 1, 36, 9]}
      %y = pool2d(x: %b) {kernel_size = [3, 1], paddings = [1, 0], pooling_type = "avg"}
      %g = pool2d(x: %a) {kernel_size = [1, 1], global_pooling = true, pooling_type = "avg"}
      %c = conv2d(x: %g, filter: %f)
      %r = reshape(x: %c) {shape = [2, 6]}
      %z = exp(x: %r)
    }
  )",
          {{2, 4, 9, 9}, {6, 4, 1, 1}});
  EXPECT_EQ(Count("reshape"), (Counts{2, 2}));
  const Counts layouts = Count("layout");
  EXPECT_GE(layouts.first, 3);
  EXPECT_EQ(layouts.first - layouts.second, 1);  // x before the global pool
}

TEST_F(PlanMemoryTest, ResultsAreNoViewsOfInputs) {
  Compare(R"(
    block main(%x : f32[3,4,5]) -> (%a, %d) {
      %a = slice(x: %x) {axes = [0], starts = [1], ends = [2]}
      %d = reshape(x: %x) {shape = [3, 20]}
    }
  )",
          {{3, 4, 5}});
  EXPECT_EQ(Count("slice"), (Counts{1, 0}));
  EXPECT_EQ(Count("reshape"), (Counts{1, 0}));
}

TEST_F(PlanMemoryTest, InputsAreReadWhereTheyLie) {
  Compare(R"(
    weight %one : i64[] = [1]
    weight %rows : i64[1,2] = [-2, -1]
    weight %apart : i64[2] = [0, 2]
    block main(%x : f32[3,4,5]) -> (%h, %y) {
      %b = gather(x: %x, index: %one)
      %c = gather(x: %x, index: %rows)
      %d = reshape(x: %x) {shape = [3, 20]}
      %e = gather(x: %x, index: %apart)
      %f = relu(x: %b)
      %g = add(x: %f, y: %c)
      %h = multiply(x: %g, y: %e)
      %y = matmul(x: %d, y: %d) {transpose_y = true}
    }
  )",
          {{3, 4, 5}});
  EXPECT_EQ(Count("gather"), (Counts{3, 2}));
  EXPECT_EQ(Count("reshape"), (Counts{1, 1}));
  const std::vector<float> before(inputs_[0].data<float>(), inputs_[0].data<float>() + inputs_[0].numel());
  Run(session_.get());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), inputs_[0].data<float>())) << "it was written to";
  EXPECT_EQ(inputs_[0].buffer().use_count(), 1) << "the session holds it";
}

TEST_F(PlanMemoryTest, SharingNeverTakesMore) {
  // The skip connection's part of the last concat would keep all of that for as long as the network runs.
  Compare(R"(
    block main(%x : f32[1,8,32,32], %f : f32[8,8,1,1], %g : f32[64,8,1,1], %h : f32[8,64,1,1], %k : f32[56,8,1,1], %l : f32[4,64,1,1]) -> (%y) {
      %skip = conv2d(x: %x, filter: %f)
      %a = conv2d(x: %skip, filter: %g)
      %b = conv2d(x: %a, filter: %h)
      %c = conv2d(x: %b, filter: %k)
      %d = concat(x: [%skip, %c]) {axis = 1}
      %y = conv2d(x: %d, filter: %l)
    }
  )",
          {{1, 8, 32, 32}, {8, 8, 1, 1}, {64, 8, 1, 1}, {8, 64, 1, 1}, {56, 8, 1, 1}, {4, 64, 1, 1}});
  // x in the kernels' layout, or the joined value and what it is made of.
  EXPECT_LE(session_->plan()->arena_bytes.at(Target::kHost), size_t{(64 + 8 + 8) * 32 * 32 * 4});
}

// A device's values lie in one arena of its own, which the limit counts.
TEST_F(PlanMemoryTest, DevicesHaveArenasToo) {
  try {
    CreateDeviceContext(Target::kOpenCL);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const char* const text = R"(
    block main(%x : f32[64,64]) -> (%y) {
      %a = matmul(x: %x, y: %x)
      %b = matmul(x: %a, y: %a)
      %c = matmul(x: %b, y: %b)
      %d = cos(x: %c)
      %e = matmul(x: %d, y: %d)
      %y = cos(x: %e)
    }
  )";
  DenseTensor x(HostAllocator(), TensorMeta{DataType::kFloat, Shape({64, 64}), DataLayout::kNCHW, 0});
  for (int64_t i = 0; i < x.numel(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 7 - 3) / 64;
  const auto on_device = Executable::Build(Optimizer().Run(ParseProgram(text), {Place(Target::kOpenCL)}));
  Session plain(Executable::Build(ParseProgram(text)), nullptr);
  Session session(on_device, nullptr);
  std::vector<std::shared_ptr<DenseTensor>> expected;
  std::vector<std::shared_ptr<DenseTensor>> got;
  plain.Run({&x}, &expected);
  for (int run = 0; run < 3; ++run) {
    session.Run({&x}, &got);
    for (int64_t i = 0; i < x.numel(); ++i) ASSERT_NEAR(got[0]->data<float>()[i], expected[0]->data<float>()[i], 1e-4);
  }
  constexpr size_t kValue = 64 * 64 * sizeof(float);
  EXPECT_EQ(session.plan()->arena_bytes.at(Target::kOpenCL), 2 * kValue);
  EXPECT_EQ(session.activation_bytes(), 3 * kValue) << "and the result";
  Session limited(on_device, nullptr, 2 * kValue);
  EXPECT_THROW(limited.Run({&x}, &got), Error);
}

}  // namespace
}  // namespace wherry
