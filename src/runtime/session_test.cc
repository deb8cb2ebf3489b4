#include "runtime/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <thread>

#include "base/check.h"
#include "base/error_test_util.h"
#include "ir/fc_program_test_util.h"
#include "ir/text.h"
#include "pass/optimizer.h"
#include "runtime/allocation_count_test_util.h"

namespace wherry {
namespace {

std::shared_ptr<const Executable> Build(const std::string& text, bool optimize,
                                        const std::vector<std::string>& watched = {}) {
  Program program = ParseProgram(text);
  if (optimize) program = Optimizer().Run(std::move(program), {});
  return Executable::Build(std::move(program), watched);
}

DenseTensor F32(const Shape& shape, const std::vector<float>& values) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kFloat, shape, DataLayout::kNCHW, 0});
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

std::vector<float> Values(const DenseTensor& tensor) {
  return std::vector<float>(tensor.data<float>(), tensor.data<float>() + tensor.numel());
}

class SessionTest : public testing::TestWithParam<bool> {
 protected:
  std::vector<const DenseTensor*> inputs_;
};

TEST_P(SessionTest, RunsOnShapesOldAndNew) {
  Session session(Build(kFcProgram, GetParam()), nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor one = F32({1, 2}, {1, 1});
  const DenseTensor two = F32({2, 2}, {1, 0, -100, 0});
  session.Run({&one}, &outputs);
  EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{14, 26}));
  session.Run({&two}, &outputs);
  EXPECT_EQ(outputs[0]->shape(), (Shape{2, 2}));
  EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{11, 22, 0, 0}));
  session.Run({&one}, &outputs);
  EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{14, 26}));
}

TEST_P(SessionTest, AllocatesNothingOnAKnownShape) {
  Session session(Build(kFcProgram, GetParam()), std::make_shared<ThreadPool>(2));
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const std::vector<DenseTensor> inputs = {F32({1, 2}, {1, 1}), F32({64, 2}, std::vector<float>(128, 1))};
  const std::vector<std::vector<const DenseTensor*>> pointers = {{&inputs[0]}, {&inputs[1]}};
  for (int warm = 0; warm < 3; ++warm) session.Run(pointers[1], &outputs);
  const int64_t before = AllocationCount();
  for (int i = 0; i < 10; ++i) session.Run(pointers[1], &outputs);
  EXPECT_EQ(AllocationCount(), before);
}

TEST_P(SessionTest, MemoryThatIsOutgrownStepByStepIsReplacedAtFewSteps) {
  Session session(Build(kFcProgram, GetParam()), nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  std::vector<const Buffer*> buffers;
  for (int64_t rows = 100; rows < 200; ++rows) {
    const DenseTensor x = F32({rows, 2}, std::vector<float>(static_cast<size_t>(rows) * 2, 1));
    session.Run({&x}, &outputs);
    EXPECT_EQ(Values(*outputs[0]).back(), 26);
    if (buffers.empty() || buffers.back() != outputs[0]->buffer().get()) buffers.push_back(outputs[0]->buffer().get());
  }
  EXPECT_LE(buffers.size(), 3U);  // 100, 150 and 225 rows
}

TEST_P(SessionTest, HeldOutputsSurviveTheNextRun) {
  Session session(Build(kFcProgram, GetParam()), nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor first = F32({1, 2}, {1, 1});
  const DenseTensor second = F32({1, 2}, {2, 2});
  session.Run({&first}, &outputs);
  const std::shared_ptr<DenseTensor> held = outputs[0];
  session.Run({&second}, &outputs);
  EXPECT_EQ(Values(*held), (std::vector<float>{14, 26}));
  EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{18, 32}));
  EXPECT_NE(held->buffer(), outputs[0]->buffer());
}

TEST_P(SessionTest, OutputsThatAreInputsWeightsOrTheSameValue) {
  Session session(Build(R"(
weight %w : f32[2] = [5, 6]
block main(%x : f32[2]) -> (%x as "same", %w as "constant", %y, %y as "again") {
  %y = relu(x: %x)
}
)",
                        GetParam()),
                  nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({2}, {-1, 2});
  for (int i = 0; i < 2; ++i) {
    session.Run({&x}, &outputs);
    ASSERT_EQ(outputs.size(), 4U);
    EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{-1, 2}));
    EXPECT_EQ(Values(*outputs[1]), (std::vector<float>{5, 6}));
    EXPECT_EQ(Values(*outputs[2]), (std::vector<float>{0, 2}));
    EXPECT_EQ(Values(*outputs[3]), (std::vector<float>{0, 2}));
    EXPECT_NE(outputs[0]->buffer(), x.buffer());
    EXPECT_NE(outputs[2]->buffer(), outputs[3]->buffer());
  }
}

TEST_P(SessionTest, IfTakesItsBranchesAndKeepsResultsApart) {
  Session session(Build(R"(
weight %ten : f32[1] = [10]
block main(%c : bool[], %x : f32[N]) -> (%z) {
  %a = exp(x: %x)
  %y = if(cond: %c, captures: [%a]) blocks(then, else)
  %z = add(x: %y, y: %ten)
}
block then(%p : f32[N]) -> (%p) {
}
block else(%q : f32[N]) -> (%r) {
  %s = neg(x: %q)
  %r = assign(x: %s)
}
)",
                        GetParam()),
                  nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({2}, {0, 0});
  DenseTensor condition(HostAllocator(), TensorMeta{DataType::kBool, Shape(), DataLayout::kNCHW, 0});
  for (const bool value : {true, false, true, false}) {
    condition.mutable_data<bool>()[0] = value;
    session.Run({&condition, &x}, &outputs);
    EXPECT_EQ(Values(*outputs[0]), (std::vector<float>(2, value ? 11.0F : 9.0F)));
  }
}

// Conditions that only data decide: results of one shape, of two, and values that a branch passes on. A repeated run
// allocates nothing.
TEST_P(SessionTest, IfAllocatesNothingOnAKnownShape) {
  Session session(Build(R"(
weight %ten : f32[1] = [10]
block main(%c : bool[], %x : f32[N]) -> (%z, %b, %k) {
  %a = exp(x: %x)
  (out: [%y, %b, %k]) = if(cond: %c, captures: [%a]) blocks(then, else)
  %z = add(x: %y, y: %ten)
}
block then(%p : f32[N]) -> (%s, %t, %p) {
  %s = neg(x: %p)
  %t = concat(x: [%p, %p])
}
block else(%q : f32[N]) -> (%r, %u, %u) {
  %r = relu(x: %q)
  %u = sqrt(x: %q)
}
)",
                        GetParam()),
                  nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({2}, {0, 0});
  DenseTensor condition(HostAllocator(), TensorMeta{DataType::kBool, Shape(), DataLayout::kNCHW, 0});
  const auto run = [&](bool value) {
    condition.mutable_data<bool>()[0] = value;
    session.Run(inputs_, &outputs);
  };
  inputs_ = {&condition, &x};
  for (const bool value : {true, false, true, false}) {
    run(value);
    EXPECT_EQ(Values(*outputs[0]), (std::vector<float>(2, value ? 9.0F : 11.0F)));
    EXPECT_EQ(Values(*outputs[1]), (std::vector<float>(value ? 4 : 2, 1.0F)));
    EXPECT_EQ(Values(*outputs[2]), (std::vector<float>(2, 1.0F)));
  }
  for (const bool value : {true, false}) {
    for (int warm = 0; warm < 3; ++warm) run(value);
    const int64_t before = AllocationCount();
    for (int i = 0; i < 10; ++i) run(value);
    EXPECT_EQ(AllocationCount(), before) << value;
  }
}

// The shape decides: the branch is part of the plan, and nothing is written over what it passes on.
TEST_P(SessionTest, AnIfThatTheShapeDecidesIsPlanned) {
  Session session(Build(R"(
weight %two : i64[1] = [2]
block main(%x : f32[N]) -> (%z, %k) {
  %a = exp(x: %x)
  %n = shape(x: %x)
  %c = equal(x: %n, y: %two)
  (out: [%y]) = if(cond: %c, captures: [%a, %c]) blocks(then, else)
  %z = neg(x: %y)
  %k = sqrt(x: %a)
}
block then(%p : f32[N], %c1 : bool[1]) -> (%w) {
  (out: [%w]) = if(cond: %c1, captures: [%p]) blocks(same, same2)
}
block else(%q : f32[N], %c2 : bool[1]) -> (%r) {
  %r = add(x: %q, y: %q)
}
block same(%s : f32[N]) -> (%s) {
}
block same2(%t : f32[N]) -> (%t) {
}
)",
                        GetParam()),
                  nullptr);
  session.set_profiling(true);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  for (const int64_t n : {2, 3, 2}) {
    const DenseTensor x = F32({n}, std::vector<float>(static_cast<size_t>(n), 0.0F));
    session.Run({&x}, &outputs);
    EXPECT_EQ(Values(*outputs[0]), std::vector<float>(static_cast<size_t>(n), n == 2 ? -1.0F : -2.0F));
    EXPECT_EQ(Values(*outputs[1]), std::vector<float>(static_cast<size_t>(n), 1.0F));
    EXPECT_EQ(Values(x), std::vector<float>(static_cast<size_t>(n), 0.0F));
    for (const StepRecord& step : session.steps()) {
      if (step.instruction == nullptr) continue;
      EXPECT_STRNE(step.instruction->schema->name, "if");
    }
  }
}

constexpr char kLoop[] = R"(
weight %go : bool[] = [true]
block main(%n : i64[], %x : f32[N]) -> (%y, %s, %i) {
  %a = exp(x: %x)
  (finals: [%f], scans: [%s, %i]) = loop(trip_count: %n, carried: [%a], captures: [%a]) blocks(body)
  %y = neg(x: %f)
}
block body(%t : i64[], %c : bool[], %v : f32[N], %k : f32[N]) -> (%go, %w, %u, %t) {
  %w = add(x: %v, y: %k)
  %u = relu(x: %w)
}
)";

DenseTensor I64(int64_t value) {
  DenseTensor tensor(HostAllocator(), TensorMeta{DataType::kInt64, Shape(), DataLayout::kNCHW, 0});
  tensor.mutable_data<int64_t>()[0] = value;
  return tensor;
}

TEST_P(SessionTest, LoopsCarryValuesAndScanThem) {
  Session session(Build(kLoop, GetParam()), nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({2}, {0, 0});
  for (const int64_t trips : {3, 0, 4, -1}) {
    const DenseTensor n = I64(trips);
    const int64_t done = std::max<int64_t>(0, trips);
    session.Run({&n, &x}, &outputs);
    EXPECT_EQ(Values(*outputs[0]), (std::vector<float>(2, -1.0F - static_cast<float>(done))));
    EXPECT_EQ(outputs[1]->shape(), (Shape{done, 2}));
    EXPECT_EQ(outputs[2]->shape(), (Shape{done}));
    for (int64_t i = 0; i < done; ++i) {
      EXPECT_EQ(outputs[1]->data<float>()[2 * i], static_cast<float>(i + 2));
      EXPECT_EQ(outputs[2]->data<int64_t>()[i], i);
    }
  }
}

// The trip count is a weight: all types are known before.
TEST_P(SessionTest, APlannedLoopAllocatesNothing) {
  std::string text = kLoop;
  text.replace(text.find("%n : i64[], "), 12, "");
  Session session(Build("weight %n : i64[] = [5]\n" + text, GetParam()), nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({2}, {0, 0});
  inputs_ = {&x};
  for (int warm = 0; warm < 3; ++warm) session.Run(inputs_, &outputs);
  EXPECT_EQ(Values(*outputs[0]), (std::vector<float>(2, -6.0F)));
  const int64_t before = AllocationCount();
  for (int i = 0; i < 10; ++i) session.Run(inputs_, &outputs);
  EXPECT_EQ(AllocationCount(), before);
}

TEST_P(SessionTest, LoopsWhoseValuesGrow) {
  Session session(Build(R"(
weight %eight : i64[1] = [8]
weight %yes : bool[] = [true]
block main(%x : f32[N]) -> (%f) {
  (finals: [%f]) = loop(cond: %yes, carried: [%x], captures: []) blocks(body)
}
block body(%t : i64[], %c : bool[], %v : f32[M]) -> (%less, %w) {
  %w = concat(x: [%v, %v])
  %n = shape(x: %w)
  %less = less_than(x: %n, y: %eight)
}
)",
                        GetParam()),
                  nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  for (const int64_t n : {1, 3, 1}) {
    const DenseTensor x = F32({n}, std::vector<float>(static_cast<size_t>(n), 2.0F));
    session.Run({&x}, &outputs);
    EXPECT_EQ(Values(*outputs[0]), std::vector<float>(n == 1 ? 8 : 12, 2.0F));
  }
}

TEST_P(SessionTest, EndlessLoopsAreCancelled) {
  Session session(Build(R"(
weight %yes : bool[] = [true]
block main(%x : f32[1]) -> (%f) {
  (finals: [%f]) = loop(carried: [%x], captures: []) blocks(body)
}
block body(%t : i64[], %c : bool[], %v : f32[1]) -> (%yes, %v) {
}
)",
                        GetParam()),
                  nullptr);
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    while (!done) {
      session.Cancel();
      std::this_thread::yield();
    }
  });
  const DenseTensor x = F32({1}, {1});
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  EXPECT_NE(ErrorText([&] { session.Run({&x}, &outputs); }).find("cancelled"), std::string::npos);
  done = true;
  canceller.join();
}

TEST_P(SessionTest, ScannedValuesKeepToTheMemoryLimit) {
  Session session(Build(kLoop, GetParam()), nullptr, 1 << 16);
  const DenseTensor n = I64(int64_t{1} << 62);
  const DenseTensor x = F32({2}, {0, 0});
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  EXPECT_NE(ErrorText([&] { session.Run({&n, &x}, &outputs); }).find("the limit is 65536"), std::string::npos);
  const DenseTensor two = I64(2);
  session.Run({&two, &x}, &outputs);
  EXPECT_EQ(Values(*outputs[0]), (std::vector<float>(2, -3.0F)));
}

// Carried through a loop and a branch, with tensors of other shapes.
TEST_P(SessionTest, Sequences) {
  Session session(Build(R"(
weight %zero : i64[] = [0]
weight %last : i64[] = [-1]
weight %go : bool[] = [true]
block main(%n : i64[], %c : bool[], %x : f32[N]) -> (%all, %count, %second, %sizes) {
  %none = sequence_construct()
  (finals: [%f, %g]) = loop(trip_count: %n, carried: [%none, %x], captures: []) blocks(body)
  (out: [%h]) = if(cond: %c, captures: [%f]) blocks(same, front)
  %all = sequence_concat(sequence: %h) {dtype = f32}
  %count = sequence_length(sequence: %h)
  %second = sequence_at(sequence: %h, position: %last) {dtype = f32}
  %sizes = sequence_sizes(sequence: %h)
}
block body(%t : i64[], %k : bool[], %s : sequence[], %v : f32[M]) -> (%go, %r, %w) {
  %r = sequence_insert(sequence: %s, x: %v)
  %w = concat(x: [%v, %v])
}
block same(%a : sequence[]) -> (%a) {
}
block front(%b : sequence[]) -> (%e) {
  %d = sequence_at(sequence: %b, position: %zero) {dtype = f32}
  %m = neg(x: %d)
  %e = sequence_write(sequence: %b, x: %m, position: %zero)
}
)",
                        GetParam()),
                  nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({1}, {3});
  DenseTensor condition(HostAllocator(), TensorMeta{DataType::kBool, Shape(), DataLayout::kNCHW, 0});
  for (const bool same : {true, false, true}) {
    condition.mutable_data<bool>()[0] = same;
    const DenseTensor n = I64(3);
    session.Run({&n, &condition, &x}, &outputs);
    std::vector<float> all(7, 3.0F);
    if (!same) all[0] = -3.0F;
    EXPECT_EQ(Values(*outputs[0]), all);
    EXPECT_EQ(outputs[1]->data<int64_t>()[0], 3);
    EXPECT_EQ(Values(*outputs[2]), (std::vector<float>(4, 3.0F)));
    EXPECT_EQ(outputs[3]->data<int32_t>()[2], 4);
  }
  const DenseTensor n = I64(0);
  EXPECT_NE(ErrorText([&] {
              session.Run({&n, &condition, &x}, &outputs);
            }).find("the sequence is empty"),
            std::string::npos);
}

TEST_P(SessionTest, ShapesThatDependOnData) {
  Session session(Build(R"(
block main(%x : f32[6], %s : i64[2]) -> (%z) {
  %y = reshape(x: %x, shape: %s)
  %z = relu(x: %y)
}
)",
                        GetParam()),
                  nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({6}, {1, -2, 3, -4, 5, -6});
  DenseTensor shape(HostAllocator(), TensorMeta{DataType::kInt64, Shape{2}, DataLayout::kNCHW, 0});
  for (const int64_t rows : {2, 3, 1}) {
    shape.mutable_data<int64_t>()[0] = rows;
    shape.mutable_data<int64_t>()[1] = -1;
    session.Run({&x, &shape}, &outputs);
    EXPECT_EQ(outputs[0]->shape(), (Shape{rows, 6 / rows}));
    EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{1, 0, 3, 0, 5, 0}));
  }
}

TEST_P(SessionTest, WeightsArePackedOnceForShapesThatDependOnData) {
  const auto executable = Build(R"(
weight %f : f32[2,1,1,1] = [2, 3]
block main(%x : f32[4], %s : i64[4]) -> (%y) {
  %image = reshape(x: %x, shape: %s)
  %y = conv2d(x: %image, filter: %f)
}
)",
                                GetParam());
  Session session(executable, nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({4}, {1, 2, 3, 4});
  DenseTensor shape(HostAllocator(), TensorMeta{DataType::kInt64, Shape{4}, DataLayout::kNCHW, 0});
  size_t packed = 0;
  for (const int64_t height : {2, 4, 1}) {
    const std::vector<int64_t> dims = {1, 1, height, 4 / height};
    std::copy(dims.begin(), dims.end(), shape.mutable_data<int64_t>());
    session.Run({&x, &shape}, &outputs);
    EXPECT_EQ(outputs[0]->shape(), (Shape{1, 2, height, 4 / height}));
    EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{2, 4, 6, 8, 3, 6, 9, 12}));
    if (packed == 0) packed = executable->packs().bytes();
    const Kernel* kernel = executable->main().instructions[1].kernel;
    EXPECT_EQ(packed > 0, kernel->pack != nullptr) << kernel->id();
    EXPECT_EQ(executable->packs().bytes(), packed);
  }
}

// The result has the shape of x, whatever that of the others: they must fit all the same.
TEST_P(SessionTest, ArgumentsWhoseShapesDependOnDataAreChecked) {
  Session session(Build(R"(
block main(%x : f32[2,2], %i : i64[4], %v : f32[4], %s : i64[2]) -> (%y) {
  %index = reshape(x: %i, shape: %s)
  %value = reshape(x: %v, shape: %s)
  %y = put_along_axis(x: %x, index: %index, value: %value) {axis = 1}
}
)",
                        GetParam()),
                  nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({2, 2}, {1, 2, 3, 4});
  const DenseTensor values = F32({4}, {5, 6, 7, 8});
  DenseTensor index(HostAllocator(), TensorMeta{DataType::kInt64, Shape{4}, DataLayout::kNCHW, 0});
  for (int64_t i = 0; i < 4; ++i) index.mutable_data<int64_t>()[i] = (i + 1) % 2;
  DenseTensor shape(HostAllocator(), TensorMeta{DataType::kInt64, Shape{2}, DataLayout::kNCHW, 0});
  for (const int64_t rows : {2, 4, 2}) {
    shape.mutable_data<int64_t>()[0] = rows;
    shape.mutable_data<int64_t>()[1] = 4 / rows;
    const auto run = [&] { session.Run({&x, &index, &values, &shape}, &outputs); };
    if (rows == 4) {
      EXPECT_NE(ErrorText(run).find("index [4,1] is larger than x [2,2]"), std::string::npos);
    } else {
      run();
      EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{6, 5, 8, 7}));
    }
  }
}

TEST_P(SessionTest, ListsThatDependOnDataAreChecked) {
  Session session(Build(R"(
block main(%x : f32[4], %v : f32[2], %e : i64[1]) -> (%y) {
  %y = set_value(x: %x, value: %v, ends: %e) {axes = [0], starts = [0], steps = [1]}
}
)",
                        GetParam()),
                  nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({4}, {1, 2, 3, 4});
  const DenseTensor values = F32({2}, {5, 6});
  DenseTensor ends(HostAllocator(), TensorMeta{DataType::kInt64, Shape{1}, DataLayout::kNCHW, 0});
  ends.mutable_data<int64_t>()[0] = 3;
  EXPECT_NE(ErrorText([&] {
              session.Run({&x, &values, &ends}, &outputs);
            }).find("value [2] does not broadcast to the part [3] of x [4]"),
            std::string::npos);
  ends.mutable_data<int64_t>()[0] = 2;
  session.Run({&x, &values, &ends}, &outputs);
  EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{5, 6, 3, 4}));
}

TEST_P(SessionTest, NumbersThatDependOnDataAreChecked) {
  Session session(Build(R"(
block main(%x : f32[2,2], %a : i64[]) -> (%y) {
  %y = cumsum(x: %x, axis: %a)
}
)",
                        GetParam()),
                  nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({2, 2}, {1, 2, 3, 4});
  DenseTensor axis(HostAllocator(), TensorMeta{DataType::kInt64, Shape{}, DataLayout::kNCHW, 0});
  for (const int64_t outside : {int64_t{2}, int64_t{-3}, std::numeric_limits<int64_t>::min()}) {
    axis.mutable_data<int64_t>()[0] = outside;
    EXPECT_NE(ErrorText([&] { session.Run({&x, &axis}, &outputs); }).find("outside ["), std::string::npos);
  }
  axis.mutable_data<int64_t>()[0] = -1;
  session.Run({&x, &axis}, &outputs);
  EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{1, 3, 3, 7}));
}

TEST_P(SessionTest, WatchedValuesCanBeRead) {
  Session session(Build(kFcProgram, false, {"m"}), nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({1, 2}, {1, 1});
  session.Run({&x}, &outputs);
  ASSERT_NE(session.Value("m"), nullptr);
  EXPECT_EQ(Values(*session.Value("m")), (std::vector<float>{4, 6}));
  EXPECT_EQ(session.Value("a"), nullptr);
  EXPECT_EQ(session.Value("nothing"), nullptr);
}

TEST_P(SessionTest, ErrorsNameWhatIsWrong) {
  Session session(Build(kFcProgram, GetParam()), nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor wide = F32({1, 3}, {1, 1, 1});
  const DenseTensor flat = F32({2}, {1, 1});
  const DenseTensor none;
  EXPECT_NE(ErrorText([&] { session.Run({&wide}, &outputs); }).find("input 'x' is f32[1,3], expected f32[N,2]"),
            std::string::npos);
  EXPECT_NE(ErrorText([&] { session.Run({&flat}, &outputs); }).find("input 'x'"), std::string::npos);
  EXPECT_NE(ErrorText([&] { session.Run({&none}, &outputs); }).find("has no data"), std::string::npos);
  EXPECT_NE(ErrorText([&] { session.Run({}, &outputs); }).find("1 inputs, got 0"), std::string::npos);
  // And the session still works.
  const DenseTensor good = F32({1, 2}, {1, 1});
  session.Run({&good}, &outputs);
  EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{14, 26}));
}

TEST_P(SessionTest, TheMemoryLimitIsKept) {
  Session session(Build(kFcProgram, GetParam()), nullptr, 4096);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor small = F32({1, 2}, {1, 1});
  const DenseTensor large = F32({100000, 2}, std::vector<float>(200000, 1));
  session.Run({&small}, &outputs);
  EXPECT_NE(ErrorText([&] { session.Run({&large}, &outputs); }).find("the limit is 4096"), std::string::npos);
  session.Run({&small}, &outputs);
  EXPECT_EQ(Values(*outputs[0]), (std::vector<float>{14, 26}));
}

TEST_P(SessionTest, TrimGivesMemoryBack) {
  Session session(Build(kFcProgram, GetParam()), nullptr);
  std::vector<std::shared_ptr<DenseTensor>> outputs;
  const DenseTensor x = F32({1000, 2}, std::vector<float>(2000, 1));
  session.Run({&x}, &outputs);
  session.Trim();
  outputs.clear();
  EXPECT_EQ(session.activation_bytes(), 0U);
  session.Run({&x}, &outputs);
  EXPECT_EQ(outputs[0]->data<float>()[0], 14);
}

TEST_P(SessionTest, SessionsOnOneExecutableRunInParallel) {
  const std::shared_ptr<const Executable> executable = Build(kFcProgram, GetParam());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&executable, &wrong, t] {
      Session session(executable, nullptr);
      std::vector<std::shared_ptr<DenseTensor>> outputs;
      for (int i = 0; i < 50; ++i) {
        const int64_t rows = 1 + (i + t) % 3;
        const DenseTensor x = F32({rows, 2}, std::vector<float>(static_cast<size_t>(2 * rows), static_cast<float>(t)));
        session.Run({&x}, &outputs);
        const auto value = static_cast<float>(t);
        if (outputs[0]->data<float>()[0] != 4 * value + 10 || outputs[0]->numel() != 2 * rows) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutPasses, SessionTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "optimized" : "plain"; });

TEST(ExecutableTest, EveryOpWithoutAKernelIsReported) {
  Program program = ParseProgram(R"(
block main(%x : string[2]) -> (%y, %z) {
  %y = relu(x: %x)
  %z = exp(x: %x)
}
)");
  const std::string text = ErrorText([&] { Executable::Build(std::move(program)); });
  EXPECT_NE(text.find("2 ops cannot run here"), std::string::npos) << text;
  EXPECT_NE(text.find("relu"), std::string::npos) << text;
  EXPECT_NE(text.find("exp"), std::string::npos) << text;
}

}  // namespace
}  // namespace wherry
