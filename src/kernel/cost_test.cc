#include "kernel/cost.h"

#include <gtest/gtest.h>

#include "kernel/default_attributes.h"
#include "op/schema_registry.h"

namespace wherry {
namespace {

// `op` on the two tensors, whose result is like the first.
Cost CostOf(const char* op, const char* provider, const MetaTensor& x, const MetaTensor& y, int threads) {
  const OpSchema& schema = SchemaRegistry::Global().Get(op);
  const MetaTensor* given[] = {&x, &y};
  size_t next = 0;
  std::vector<BoundArg> args(schema.args.size());
  for (size_t i = 0; i < args.size() && next < 2; ++i) {
    if (schema.args[i].is_tensor()) args[i].tensors.push_back(given[next++]);
  }
  const MetaTensor* outputs[] = {&x};
  Kernel kernel;
  kernel.op = op;
  kernel.provider = provider;
  kernel.key = {Target::kNative, DataType::kFloat, DataLayout::kNCHW};
  return EstimateCost(kernel, KernelProblem(schema, args, outputs, {}, threads));
}

MetaTensor Matrix(int64_t rows, int64_t columns) { return {DataType::kFloat, {Dim(rows), Dim(columns)}}; }

TEST(Cost, AViewIsFree) {
  const Cost cost = CostOf("reshape", "ref", Matrix(1000, 1000), {}, 1);
  EXPECT_STREQ(cost.family->name, "view");
  EXPECT_EQ(cost.microseconds, 0);
}

TEST(Cost, LargeWorkIsSharedAndSmallWorkIsNot) {
  const MetaTensor large = Matrix(512, 512);
  const double one = CostOf("matmul", "cpu", large, large, 1).microseconds;
  const double two = CostOf("matmul", "cpu", large, large, 2).microseconds;
  EXPECT_NEAR(two / one, 0.5, 0.01);
  EXPECT_EQ(CostOf("matmul", "ref", large, large, 2).microseconds,
            CostOf("matmul", "ref", large, large, 1).microseconds);
  const MetaTensor small = Matrix(8, 8);
  EXPECT_EQ(CostOf("matmul", "cpu", small, small, 2).microseconds,
            CostOf("matmul", "cpu", small, small, 1).microseconds);
}

TEST(Cost, ThreadsOfItsOwnAreHandedTheProcessors) {
  Kernel kernel;
  EXPECT_EQ(HandOverMicroseconds(kernel, 2), 0);
  kernel.own_threads = true;
  EXPECT_EQ(HandOverMicroseconds(kernel, 1), 0);
  EXPECT_GT(HandOverMicroseconds(kernel, 2), 0);
}

// A large prime length is transformed as a convolution of two to four times the length.
TEST(Cost, TransformsByTheirLength) {
  const auto operations = [](int64_t length) {
    return CostOf("dft", "ref", {DataType::kFloat, {Dim(1), Dim(length), Dim(2)}}, {}, 1).operations /
           static_cast<double>(length);
  };
  EXPECT_GT(operations(1 << 16), operations(1 << 8));
  EXPECT_GT(operations(65537), 7 * operations(1 << 16));
  EXPECT_LT(operations(61 * 61 * 17), 2 * operations(1 << 16));
}

TEST(Cost, CountsWhatIsDone) {
  const MetaTensor x = Matrix(64, 64);
  EXPECT_EQ(CostOf("matmul", "cpu", x, x, 1).operations, 2.0 * 64 * 64 * 64);
  EXPECT_STREQ(CostOf("matmul", "cpu", x, x, 1).family->name, "product");
  EXPECT_STREQ(CostOf("tanh", "cpu", x, {}, 1).family->name, "transcendental");
  EXPECT_STREQ(CostOf("tanh", "ref", x, {}, 1).family->name, "ref elementwise");
  // Of a table only the rows that are taken are read.
  const Cost gathered = CostOf("gather", "cpu", x, Matrix(100000, 64), 1);
  EXPECT_EQ(gathered.operations, 0);
  EXPECT_EQ(gathered.bytes, 2.0 * 64 * 64 * 4);
  EXPECT_GT(CostOf("add", "ref", x, x, 1).microseconds, CostOf("add", "cpu", x, x, 1).microseconds);
}

// A small file may ask for windows as large as the image at every pixel of it.
TEST(Cost, CountsWindowsThatOverlap) {
  const OpSchema& schema = SchemaRegistry::Global().Get("pool2d");
  const MetaTensor x(DataType::kFloat, {Dim(1), Dim(1), Dim(100), Dim(100)});
  const MetaTensor y(DataType::kFloat, {Dim(1), Dim(1), Dim(51), Dim(51)});
  const Attribute window = IntArray({50, 50});
  std::vector<BoundArg> args(schema.args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (!schema.args[i].is_tensor()) args[i].attribute = &DefaultAttributes(schema)[i];
  }
  args[static_cast<size_t>(schema.FindArg("x"))].tensors = {&x};
  args[static_cast<size_t>(schema.FindArg("kernel_size"))].attribute = &window;
  const MetaTensor* outputs[] = {&y};
  Kernel kernel;
  kernel.op = "pool2d";
  kernel.provider = "cpu";
  kernel.key = {Target::kNative, DataType::kFloat, DataLayout::kNCHW};
  EXPECT_EQ(EstimateCost(kernel, KernelProblem(schema, args, outputs, {}, 1)).operations, 51.0 * 51 * 50 * 50);
}

}  // namespace
}  // namespace wherry
