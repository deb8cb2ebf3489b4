// What a session holds: the limit and whom it names, what shrinks, what is given back.
#include <gtest/gtest.h>
#include <malloc.h>

#include <random>

#include "base/error_test_util.h"
#include "base/sanitizer_test_util.h"
#include "ir/text.h"
#include "pass/optimizer.h"
#include "runtime/session.h"

namespace wherry {
namespace {

std::shared_ptr<const Executable> Build(const std::string& text) {
  return Executable::Build(Optimizer().Run(ParseProgram(text), {}));
}

DenseTensor F32(int64_t count, float value = 0.5F) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kFloat, Shape({count}), DataLayout::kNCHW, 0});
  std::fill_n(tensor.mutable_data<float>(), count, value);
  return tensor;
}

DenseTensor Bool(bool value) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kBool, Shape(), DataLayout::kNCHW, 0});
  tensor.mutable_data<bool>()[0] = value;
  return tensor;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A value that lives on while a branch runs, and what the branches need; the branches' results are one number each.
constexpr char kBranches[] = R"(
block main(%c : bool[], %x : f32[N]) -> (%z) {
  %kept = exp(x: %x)
  (out: [%y]) = if(cond: %c, captures: [%kept]) blocks(then, else)
  %all = add(x: %kept, y: %y)
  %z = mean(x: %all) {axis = [0]}
}
block then(%p : f32[N]) -> (%q) {
  %in_then = concat(x: [%p, %p])
  %s = cumsum(x: %in_then)
  %q = mean(x: %s) {axis = [0], keepdim = true}
}
block else(%p : f32[N]) -> (%q) {
  %in_else = concat(x: [%p, %p])
  %s = cumsum(x: %in_else)
  %q = mean(x: %s) {axis = [0], keepdim = true}
}
)";

constexpr int64_t kCount = 25'000;  // 100 KB a value; a branch needs four of them

class SessionMemoryTest : public testing::Test {
 protected:
  void Run(Session* session, bool condition, int64_t count) {
    const DenseTensor c = Bool(condition);
    const DenseTensor x = F32(count);
    session->Run({&c, &x}, &outputs_);
  }
  std::vector<std::shared_ptr<DenseTensor>> outputs_;
};

TEST_F(SessionMemoryTest, TheLimitIsOfAllBlocksTogetherAndNamesWhatHadNoRoom) {
  const auto executable = Build(kBranches);
  size_t needed = 0;
  {
    Session session(executable, nullptr);
    Run(&session, true, kCount);
    needed = session.activation_bytes();
    EXPECT_GE(needed, 5U * 4 * kCount);
  }
  Session session(executable, nullptr, needed - 4 * kCount / 2);  // main alone and the branch alone would have room
  const std::string error = ErrorText([&] { Run(&session, true, kCount); });
  EXPECT_TRUE(Has(error, "the limit is ")) << error;
  EXPECT_TRUE(Has(error, "'in_then', f32[50000]") || Has(error, "'s', f32[50000]")) << error;
  Run(&session, true, kCount / 2);
  Session enough(executable, nullptr, needed + 1000);
  Run(&enough, true, kCount);
}

TEST_F(SessionMemoryTest, AShapeThatIsTooLargeByItselfNamesItsLargestValue) {
  Session session(Build(kBranches), nullptr, 1000);
  const std::string error = ErrorText([&] { Run(&session, true, kCount); });
  EXPECT_TRUE(Has(error, "this shape needs ")) << error;
  EXPECT_TRUE(Has(error, "100000 of them for 'kept', f32[25000], the limit is 1000")) << error;
}

TEST_F(SessionMemoryTest, WhatOtherRunsLeftIsGivenBackBeforeTheLimitIsAnError) {
  const auto executable = Build(kBranches);
  size_t one = 0;
  {
    Session session(executable, nullptr);
    Run(&session, true, kCount);
    one = session.activation_bytes();
    Run(&session, false, kCount);
    EXPECT_GT(session.activation_bytes(), one + one / 4) << "both branches hold memory";
  }
  Session session(executable, nullptr, one + one / 8);
  for (const bool condition : {true, false, false, true}) Run(&session, condition, kCount);
  EXPECT_LE(session.activation_bytes(), one + one / 8);
}

TEST_F(SessionMemoryTest, ResultsThatAreHeldCount) {
  Session session(Build("block main(%x : f32[N]) -> (%y) {\n  %y = exp(x: %x)\n}\n"), nullptr, 10 * 4000);
  const DenseTensor x = F32(1000);
  std::vector<std::shared_ptr<DenseTensor>> held;
  const auto run_and_hold = [&] {
    session.Run({&x}, &outputs_);
    held.push_back(outputs_[0]);
  };
  for (int i = 0; i < 10; ++i) run_and_hold();
  const std::string error = ErrorText(run_and_hold);
  EXPECT_TRUE(Has(error, "cannot allocate 4000 bytes, 40000 are held and the limit is 40000")) << error;
  EXPECT_TRUE(Has(error, "for 'y', f32[1000]")) << error;
  held.clear();
  run_and_hold();
}

TEST_F(SessionMemoryTest, ArenasAndScratchShrink) {
  Session session(Build(kBranches), nullptr);
  Run(&session, true, kCount);
  const size_t large = session.activation_bytes();
  for (int i = 0; i < 2 * Session::kRunsToShrink; ++i) Run(&session, true, 100);
  EXPECT_LT(session.activation_bytes(), large / 20);
  Run(&session, true, kCount);
  EXPECT_LE(session.activation_bytes(), large);
}

// A large shape now and then keeps its memory: new pages are what costs most of a new shape.
TEST_F(SessionMemoryTest, MemoryThatIsUsedNowAndThenIsKept) {
  Session session(Build(kBranches), nullptr);
  Run(&session, true, kCount);
  const size_t large = session.activation_bytes();
  for (int i = 0; i < 4 * Session::kRunsToShrink; ++i) Run(&session, true, i % 20 == 0 ? kCount : 100);
  EXPECT_GE(session.activation_bytes(), large / 2);
}

TEST_F(SessionMemoryTest, TrimGivesAllBack) {
  Session session(Build(kBranches), nullptr);
  Run(&session, true, kCount);
  Run(&session, false, kCount);
  session.Trim();
  EXPECT_EQ(session.activation_bytes(), 4U) << "the result";
  outputs_.clear();
  EXPECT_EQ(session.activation_bytes(), 0U);
  Run(&session, true, kCount);
  EXPECT_NEAR(outputs_[0]->data<float>()[0], 0, 1e9);
}

// Everything that is run one at a time or grows: a loop with scans, data that decides shapes, sequences.
constexpr char kGrowing[] = R"(
weight %three : i64[] = [3]
weight %go : bool[] = [true]
weight %last : i64[] = [-1]
block main(%c : bool[], %x : f32[N]) -> (%f, %s, %places, %t) {
  %a = exp(x: %x)
  (finals: [%f, %g], scans: [%s]) = loop(trip_count: %three, carried: [%a, %a], captures: [%a]) blocks(body)
  %places = nonzero(x: %g)
  %none = sequence_construct(x: [%a, %g])
  %t = sequence_at(sequence: %none, position: %last) {dtype = f32}
}
block body(%i : i64[], %c : bool[], %v : f32[N], %w : f32[M], %k : f32[N]) -> (%go, %u, %grown, %row) {
  %u = add(x: %v, y: %k)
  %grown = concat(x: [%w, %u])
  %row = relu(x: %u)
}
)";

// The small form of tests/robustness/soak.cc: bytes that live, not pages.
TEST_F(SessionMemoryTest, ManyRunsOfManyShapesEndWhereTheyWere) {
  const auto live = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  for (const auto& executable : {Build(kBranches), Build(kGrowing)}) {
    constexpr int kShapes = 60;
    Session session(executable, nullptr);
    std::mt19937 random(7);
    std::vector<int64_t> counts;
    for (int i = 0; i < kShapes; ++i) counts.push_back(1 + static_cast<int64_t>(random() % 4000));
    size_t most = 0;
    const auto run = [&](size_t i) {
      Run(&session, random() % 2 == 0, counts[i]);
      most = std::max(most, session.activation_bytes());
    };
    const auto run_all = [&] {
      for (size_t i = 0; i < kShapes; ++i) run(i);
      for (size_t i = 0; i < kShapes; ++i) run(i);
      return session.activation_bytes();
    };
    const size_t held = run_all();
    const size_t most_at_first = most;
    const size_t before = live();
    for (int i = 0; i < 1500; ++i) run(random() % kShapes);
    EXPECT_LE(most, most_at_first + most_at_first / 20);
    EXPECT_LE(run_all(), held + held / 20);
    if (kAddressSanitizer || kThreadSanitizer) continue;  // they keep memory in lists of their own
    EXPECT_LE(live(), before + before / 20);
  }
}

}  // namespace
}  // namespace wherry
