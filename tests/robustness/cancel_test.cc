// A run that is cancelled ends within one operator. No clock: a kernel of this test stops where it is until it is told
// to go on, and the cancellation falls in between.
#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <thread>

#include "robustness/stress_model.h"
#include "wherry/extend.h"

namespace wherry {
namespace {

std::atomic<int> cos_runs{0};
std::atomic<int> sin_runs{0};
std::atomic<int> stop_at{0};  // which run of cos stops
std::binary_semaphore entered{0};
std::binary_semaphore go_on{0};

void Copy(const DenseTensor& x, DenseTensor* out) {
  std::copy_n(x.data<float>(), x.numel(), out->mutable_data<float>());
}

template <typename T>
void StoppingCos(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  Copy(x, out);
  if (++cos_runs != stop_at) return;
  entered.release();
  go_on.acquire();
}

template <typename T>
void CountingSin(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  Copy(x, out);
  ++sin_runs;
}

constexpr char kStraight[] = R"(
block main(%x : f32[N]) -> (%z) {
  %y = cos(x: %x)
  %z = sin(x: %y)
}
)";

constexpr char kLoop[] = R"(
weight %go : bool[] = [true]
weight %many : i64[] = [1000000]
block main(%x : f32[N]) -> (%z) {
  (finals: [%f]) = loop(trip_count: %many, carried: [%x], captures: []) blocks(body)
  %z = sin(x: %f)
}
block body(%i : i64[], %c : bool[], %v : f32[N]) -> (%go, %w) {
  %u = cos(x: %v)
  %w = sin(x: %u)
}
)";

// The condition is data, so the branch is run by itself.
constexpr char kBranch[] = R"(
block main(%x : f32[N], %c : bool[]) -> (%z) {
  (out: [%y]) = if(cond: %c, captures: [%x]) blocks(then, else)
  %z = sin(x: %y)
}
block then(%p : f32[N]) -> (%r) {
  %q = cos(x: %p)
  %r = sin(x: %q)
}
block else(%p : f32[N]) -> (%r) {
  %r = sin(x: %p)
}
)";

class CancelTest : public testing::Test {
 protected:
  // Runs the program, cancels it in run `stop` of cos; how often sin ran.
  static int SinRunsOf(const char* program, int stop) {
    const std::string bytes = WryBytes(program);
    CxxConfig config;
    config.set_model_buffer(bytes.data(), bytes.size());
    config.set_threads(1);
    const auto predictor = CreatePaddlePredictor(config);
    const auto input = predictor->GetInput(0);
    input->Resize({4});
    std::fill_n(input->mutable_data<float>(), 4, 1.0F);
    if (predictor->Inputs().size() > 1) {
      const auto condition = predictor->GetInput(1);
      condition->Resize(Shape());
      condition->mutable_data<bool>()[0] = true;
    }
    cos_runs = sin_runs = 0;
    stop_at = stop;
    ErrorCode code = ErrorCode::kInternal;
    std::thread runner([&] {
      try {
        predictor->Run();
      } catch (const Error& error) {
        code = error.code();
      }
    });
    entered.acquire();
    predictor->Cancel();
    go_on.release();
    runner.join();
    EXPECT_EQ(code, ErrorCode::kCancelled);
    EXPECT_EQ(cos_runs, stop);
    EXPECT_FALSE(predictor->GetOutput(0)->defined());
    const int runs = sin_runs;
    // The predictor works on, where it can come to an end.
    if (program != kLoop) {
      stop_at = 0;
      predictor->Run();
      EXPECT_EQ(predictor->GetOutput(0)->data<float>()[3], 1);
    }
    return runs;
  }
};

TEST_F(CancelTest, EndsBeforeTheNextOperator) { EXPECT_EQ(SinRunsOf(kStraight, 1), 0); }

TEST_F(CancelTest, EndsWithinABranch) { EXPECT_EQ(SinRunsOf(kBranch, 1), 0); }

TEST_F(CancelTest, EndsWithinTheIterationOfALoop) { EXPECT_EQ(SinRunsOf(kLoop, 3), 2); }

}  // namespace
}  // namespace wherry

REGISTER_KERNEL(cos, stopping, kNative, kNCHW, wherry::StoppingCos, float).Priority(1000);
REGISTER_KERNEL(sin, counting, kNative, kNCHW, wherry::CountingSin, float).Priority(1000);
