// One predictor, used hard: many shapes in turn, impossible ones between them, results held across runs, clones and
// predictors in many threads, cancelled runs, forks.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "base/sanitizer_test_util.h"
#include "robustness/stress_model.h"

namespace wherry {
namespace {

std::shared_ptr<PaddlePredictor> Create(int threads, size_t memory_limit = 0) {
  return CreateStressPredictor(threads, memory_limit);
}

std::vector<float> Values(const Tensor& tensor) {
  return std::vector<float>(tensor.data<float>(), tensor.data<float>() + tensor.numel());
}

// The input's elements are made from `seed`.
void Fill(PaddlePredictor* predictor, const Shape& shape, int seed) {
  const auto input = predictor->GetInput(0);
  input->Resize(shape);
  float* data = input->mutable_data<float>();
  for (int64_t i = 0; i < input->numel(); ++i) data[i] = static_cast<float>((i * 13 + seed * 7) % 17 - 8) / 8;
}

std::vector<float> RunOn(PaddlePredictor* predictor, const Shape& shape, int seed) {
  Fill(predictor, shape, seed);
  predictor->Run();
  return Values(*predictor->GetOutput(0));
}

Shape ShapeOf(int i) { return Shape({1 + i % 3, 3, 1 + i * 5 % 19, 1 + i * 7 % 23}); }

ErrorCode CodeOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::kInternal;
}

TEST(PredictorStressTest, ManyShapesInBoundedMemory) {
  const auto predictor = Create(2);
  size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    const std::vector<float> got = RunOn(predictor.get(), ShapeOf(i), i);
    if (i % 10 == 0) {
      EXPECT_EQ(got, RunOn(Create(2).get(), ShapeOf(i), i)) << i;
    }
    most = std::max(most, predictor->ActivationBytes());
  }
  RunOn(predictor.get(), {3, 3, 19, 23}, 0);  // larger than all before
  EXPECT_LE(most, predictor->ActivationBytes() + (1 << 20));
  predictor->Trim();
  EXPECT_LT(predictor->ActivationBytes(), size_t{1} << 16);
  EXPECT_EQ(RunOn(predictor.get(), ShapeOf(1), 1), RunOn(Create(2).get(), ShapeOf(1), 1));
}

TEST(PredictorStressTest, AnEmptyBatchGivesEmptyResults) {
  const auto predictor = Create(2);
  EXPECT_TRUE(RunOn(predictor.get(), {0, 3, 8, 8}, 0).empty());
  EXPECT_EQ(predictor->GetOutput(0)->shape(), Shape({0, 5}));
  // No element, though the extents are huge: nothing may walk over them.
  EXPECT_TRUE(RunOn(predictor.get(), {0, 3, int64_t{1} << 30, int64_t{1} << 30}, 0).empty());
  EXPECT_EQ(RunOn(predictor.get(), {1, 3, 1, 1}, 3), RunOn(Create(2).get(), {1, 3, 1, 1}, 3));
}

TEST(PredictorStressTest, WorksOnAfterErrors) {
  const auto predictor = Create(2, 1 << 20);
  const std::vector<float> expected = RunOn(predictor.get(), {1, 3, 8, 8}, 5);
  const auto input = predictor->GetInput(0);
  const auto run_as = [&](const Shape& shape) {
    input->Resize(shape);
    input->mutable_data<float>();
    predictor->Run();
  };
  EXPECT_EQ(CodeOf([&] { run_as({1, 4, 8, 8}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { run_as({3, 8, 8}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { run_as(Shape()); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { run_as({1, 3, 400, 400}); }), ErrorCode::kResourceExhausted);
  EXPECT_EQ(CodeOf([&] { run_as({1, 3, int64_t{1} << 25, int64_t{1} << 25}); }), ErrorCode::kResourceExhausted);
  EXPECT_EQ(CodeOf([&] { run_as({int64_t{1} << 62, 3, 1 << 20, 1 << 20}); }), ErrorCode::kOutOfRange);
  EXPECT_EQ(CodeOf([&] { run_as({-1, 3, 8, 8}); }), ErrorCode::kOutOfRange);
  EXPECT_FALSE(predictor->GetOutput(0)->defined()) << "a run that failed has no result";
  EXPECT_EQ(RunOn(predictor.get(), {1, 3, 8, 8}, 5), expected);
}

TEST(PredictorStressTest, AHeldResultStaysAsItIs) {
  const auto predictor = Create(1);
  const std::vector<float> first = RunOn(predictor.get(), {1, 3, 8, 8}, 1);
  const auto held = predictor->GetOutput(0);
  const auto held_too = predictor->GetOutput(1);
  const std::vector<float> second = Values(*held_too);
  for (int i = 2; i < 6; ++i) RunOn(predictor.get(), {1, 3, 8, 8}, i);
  RunOn(predictor.get(), {2, 3, 9, 9}, 9);
  predictor->Trim();
  EXPECT_EQ(Values(*held), first);
  EXPECT_EQ(Values(*held_too), second);
  const auto clone = predictor->Clone();
  EXPECT_EQ(RunOn(clone.get(), {1, 3, 8, 8}, 1), first);
}

// A run ends in the middle, with the memory of the results lent to it.
TEST(PredictorStressTest, CancelledRunsLeaveHeldResultsAlone) {
  const auto predictor = Create(2);
  const Shape shape({2, 3, 96, 96});
  const std::vector<float> expected = RunOn(predictor.get(), shape, 1);
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    for (int i = 0; !done; ++i) {
      predictor->Cancel();
      std::this_thread::sleep_for(std::chrono::microseconds(100 << (i % 9)));  // some runs come through, some do not
    }
  });
  int cancelled = 0;
  for (int i = 0; i < 60; ++i) {
    std::unique_ptr<const Tensor> held;
    try {
      EXPECT_EQ(RunOn(predictor.get(), shape, 1), expected);
      held = predictor->GetOutput(0);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCancelled) << error.what();
      EXPECT_FALSE(predictor->GetOutput(0)->defined());
      ++cancelled;
      continue;
    }
    try {
      RunOn(predictor.get(), shape, 2);
    } catch (const Error&) {
    }
    EXPECT_EQ(Values(*held), expected);
  }
  done = true;
  canceller.join();
  EXPECT_EQ(RunOn(predictor.get(), shape, 1), expected);
  std::printf("%d of 60 runs were cancelled\n", cancelled);
}

TEST(PredictorStressTest, ClonesAndPredictorsInManyThreads) {
  constexpr int kThreads = 8;
  // By the number of threads, which the choice of a convolution's algorithm, and with it the rounding, depends on.
  constexpr int kMostThreads = 3;
  std::vector<std::vector<float>> expected[kMostThreads + 1];
  for (int count = 1; count <= kMostThreads; ++count) {
    for (int i = 0; i < 8; ++i) expected[count].push_back(RunOn(Create(count).get(), ShapeOf(i), i));
  }
  auto origin = Create(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t, shared = origin->Clone()] {
      // Half run clones, half make predictors of their own at the same time.
      const int count = t % 2 == 0 ? 2 : 1 + t % kMostThreads;
      const std::shared_ptr<PaddlePredictor> mine = t % 2 == 0 ? shared : Create(count);
      for (int i = 0; i < 24; ++i) {
        const int which = (i + t) % 8;
        if (RunOn(mine.get(), ShapeOf(which), which) != expected[count][static_cast<size_t>(which)]) ++wrong;
        if (i == 12 && CodeOf([&mine] { mine->Clone()->Run(); }) != ErrorCode::kInvalidArgument) ++wrong;  // no input
      }
    });
  }
  origin = nullptr;  // the clones live on
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Each thread has shapes of its own; in one runs are cancelled, one asks for more than the limit allows.
TEST(PredictorStressTest, SixtyFourClonesGiveTheSameBits) {
  constexpr int kThreads = 64;
  constexpr int kShapes = 12;
  constexpr size_t kLimit = size_t{1} << 20;
  const auto origin = Create(2, kLimit);
  std::vector<std::vector<float>> expected;
  for (int i = 0; i < kShapes; ++i) expected.push_back(RunOn(Create(2).get(), ShapeOf(i), i));
  std::vector<std::shared_ptr<PaddlePredictor>> clones;
  for (int t = 0; t < kThreads; ++t) clones.push_back(origin->Clone());
  std::atomic<int> wrong{0};
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    while (!done) {
      clones[0]->Cancel();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      PaddlePredictor* const mine = clones[static_cast<size_t>(t)].get();
      for (int i = 0; i < 10; ++i) {
        const int which = (i * (1 + t % 5) + t) % kShapes;
        if (t == 1 && i % 3 == 1) {
          if (CodeOf([mine] { RunOn(mine, {4, 3, 300, 300}, 0); }) != ErrorCode::kResourceExhausted) ++wrong;
        }
        try {
          if (RunOn(mine, ShapeOf(which), which) != expected[static_cast<size_t>(which)]) ++wrong;
        } catch (const Error& error) {
          if (t != 0 || error.code() != ErrorCode::kCancelled) ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  canceller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(PredictorStressTest, AForkRuns) {
  if (kThreadSanitizer) GTEST_SKIP() << "the thread sanitizer does not follow threads of a forked process";
  const auto predictor = Create(2);
  const std::vector<float> expected = RunOn(predictor.get(), {2, 3, 32, 32}, 4);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool same = RunOn(predictor.get(), {2, 3, 32, 32}, 4) == expected &&
                      RunOn(predictor->Clone().get(), {2, 3, 32, 32}, 4) == expected;
    _exit(same ? 0 : 1);
  }
  EXPECT_EQ(RunOn(predictor.get(), {2, 3, 32, 32}, 4), expected);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

}  // namespace
}  // namespace wherry
