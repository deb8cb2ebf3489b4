#include "kernels/cpu/vector/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/simd/activation_test_util.h"
#include "kernels/cpu/simd/isa_test_util.h"

namespace wherry::cpu {
namespace {

using Dims = std::vector<int64_t>;
using Instruction = ElementwiseInstruction;

int64_t Numel(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

std::vector<float> Random(int64_t count, unsigned seed, float lo = 0.25f, float hi = 2.0f) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(lo, hi);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = uniform(generator);
  return values;
}

double ExactStep(const Instruction& in, double x, double y) {
  switch (in.op) {
    case Instruction::Op::kAdd: return x + y;
    case Instruction::Op::kSub: return x - y;
    case Instruction::Op::kMul: return x * y;
    case Instruction::Op::kDiv: return x / y;
    case Instruction::Op::kMax: return std::fmax(x, y);
    case Instruction::Op::kMin: return std::fmin(x, y);
    case Instruction::Op::kPow: return std::pow(x, y);
    case Instruction::Op::kAct: return ExactActivation({in.act, in.a, in.b}, x);
    case Instruction::Op::kConstant: return in.a;
  }
  return 0.0;
}

// The value of an input at a flat index of the output.
float Broadcast(const std::vector<float>& data, const Dims& dims, const Dims& out, int64_t flat) {
  int64_t offset = 0;
  int64_t stride = 1;
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t index = flat % out[out.size() - 1 - i];
    flat /= out[out.size() - 1 - i];
    if (i < dims.size()) {
      const int64_t d = dims[dims.size() - 1 - i];
      if (d != 1) offset += index * stride;
      stride *= d;
    }
  }
  return data[static_cast<size_t>(offset)];
}

Dims RowMajor(const Dims& dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return strides;
}

// Of contiguous tensors.
BroadcastLoops Loops(const Dims& out, const std::vector<Dims>& inputs) {
  std::vector<Dims> strides;
  for (const Dims& dims : inputs) strides.push_back(RowMajor(dims));
  std::vector<StridedDims> views;
  for (size_t i = 0; i < inputs.size(); ++i) views.push_back({inputs[i], strides[i]});
  return BroadcastLoops({out, RowMajor(out)}, views);
}

void Check(const ElementwiseProgram& program, const Dims& out_dims, const std::vector<Dims>& dims, ThreadPool* pool) {
  std::vector<std::vector<float>> data;
  std::vector<const float*> pointers;
  for (size_t i = 0; i < dims.size(); ++i) data.push_back(Random(Numel(dims[i]), static_cast<unsigned>(i)));
  for (const std::vector<float>& d : data) pointers.push_back(d.data());
  std::vector<float> out(static_cast<size_t>(Numel(out_dims)), -77.0f);
  RunElementwise(CompiledElementwise(program), Loops(out_dims, dims), pointers, out.data(), pool);
  for (int64_t i = 0; i < Numel(out_dims); ++i) {
    std::vector<double> registers;
    for (size_t k = 0; k < dims.size(); ++k) registers.push_back(Broadcast(data[k], dims[k], out_dims, i));
    for (const Instruction& in : program.instructions) {
      const double x = in.lhs < 0 ? 0.0 : registers[static_cast<size_t>(in.lhs)];
      const double y = in.rhs < 0 ? 0.0 : registers[static_cast<size_t>(in.rhs)];
      registers.push_back(ExactStep(in, x, y));
    }
    const double want = registers.back();
    ASSERT_NEAR(out[static_cast<size_t>(i)], want, 2e-6 * (1.0 + std::fabs(want))) << "at " << i;
  }
}

Instruction Binary(Instruction::Op op, int lhs, int rhs) { return {op, ActKind::kIdentity, 0.0f, 0.0f, lhs, rhs}; }
Instruction Act(ActKind kind, int x, float a = 0.0f, float b = 0.0f) {
  return {Instruction::Op::kAct, kind, a, b, x, -1};
}

TEST(Elementwise, BroadcastShapes) {
  // sigmoid((x + y) * x) - y
  const ElementwiseProgram program{2,
                                   {Binary(Instruction::Op::kAdd, 0, 1), Binary(Instruction::Op::kMul, 2, 0),
                                    Act(ActKind::kSigmoid, 3), Binary(Instruction::Op::kSub, 4, 1)}};
  struct Case {
    Dims out, x, y;
  };
  const Case cases[] = {
      {{}, {}, {}},
      {{1}, {1}, {}},
      {{37}, {37}, {37}},
      {{1000}, {1000}, {}},
      {{5, 777}, {5, 777}, {777}},
      {{5, 777}, {5, 777}, {5, 1}},
      {{5, 777}, {5, 1}, {777}},
      {{1000, 3}, {1000, 3}, {3}},
      {{1000, 3}, {1000, 3}, {1000, 1}},
      {{2, 19, 5, 7}, {2, 19, 5, 7}, {19, 1, 1}},
      {{2, 19, 25, 31}, {2, 19, 25, 31}, {19, 1, 1}},
      {{2, 19, 25, 31}, {2, 19, 25, 31}, {2, 1, 25, 31}},
      {{2, 3, 4, 5}, {2, 1, 4, 1}, {1, 3, 1, 5}},
      {{2, 3, 400}, {2, 1, 400}, {1, 3, 1}},
      {{7, 1, 64}, {7, 1, 64}, {64}},
      {{50, 64}, {50, 64}, {64}},
      {{3, 769}, {3, 769}, {1}},
      {{1, 25, 32, 16}, {1, 25, 32, 1}, {32, 16}},  // short rows
      {{1, 25, 32, 16}, {1, 25, 32, 1}, {1, 25, 1, 16}},
      {{70, 3, 5}, {70, 1, 5}, {3, 1}},
      {{0, 5}, {0, 5}, {5}},
      {{4, 0}, {4, 1}, {0}},
  };
  ThreadPool two(2);
  ForEachIsa([&] {
    for (size_t i = 0; i < std::size(cases); ++i) {
      SCOPED_TRACE(i);
      Check(program, cases[i].out, {cases[i].x, cases[i].y}, nullptr);
      Check(program, cases[i].out, {cases[i].x, cases[i].y}, &two);
    }
    Check(program, {300, 1001}, {{300, 1001}, {1001}}, &two);
  });
}

TEST(Elementwise, EveryBinaryInstruction) {
  using Op = Instruction::Op;
  ForEachIsa([&] {
    for (const Op op : {Op::kAdd, Op::kSub, Op::kMul, Op::kDiv, Op::kMax, Op::kMin, Op::kPow}) {
      SCOPED_TRACE(static_cast<int>(op));
      Check({2, {Binary(op, 0, 1)}}, {3, 133}, {{3, 133}, {133}}, nullptr);
      Check({2, {Binary(op, 0, 1)}}, {3, 133}, {{3, 133}, {3, 1}}, nullptr);
      Check({2, {Binary(op, 0, 1)}}, {3, 133}, {{3, 1}, {3, 133}}, nullptr);
      Check({2, {Binary(op, 0, 1)}}, {3, 133}, {{3, 1}, {}}, nullptr);
    }
  });
}

// A number per channel, or for all: read as such, and multiplied and added in one step, unless the product is read
// again.
TEST(Elementwise, UniformOperands) {
  using Op = Instruction::Op;
  const ElementwiseProgram programs[] = {
      {3, {Binary(Op::kMul, 0, 1), Binary(Op::kAdd, 3, 2)}},
      {3, {Binary(Op::kMul, 1, 0), Binary(Op::kAdd, 2, 3), Act(ActKind::kRelu, 4)}},
      {3, {Binary(Op::kMul, 0, 1), Binary(Op::kAdd, 3, 2), Binary(Op::kMul, 3, 4)}},
      {3, {Binary(Op::kMul, 0, 1), Binary(Op::kAdd, 3, 3), Binary(Op::kSub, 4, 2)}},
      {3, {Binary(Op::kMul, 0, 1), Binary(Op::kAdd, 3, 0)}},
      {3, {Binary(Op::kMul, 1, 2), Binary(Op::kAdd, 3, 0)}},
      {3, {Binary(Op::kSub, 0, 1), Act(ActKind::kRsqrt, 2), Binary(Op::kMul, 3, 4), Binary(Op::kAdd, 5, 1)}},
      {3, {Binary(Op::kAdd, 1, 2), Act(ActKind::kSqrt, 3)}},
      {3, {{Op::kConstant, ActKind::kIdentity, 0.75f, 0.0f, -1, -1}, Binary(Op::kMul, 0, 3), Binary(Op::kAdd, 1, 4)}},
  };
  ThreadPool two(2);
  ForEachIsa([&] {
    for (const ElementwiseProgram& program : programs) {
      SCOPED_TRACE(ToString(program));
      for (const int64_t pixels : {1, 3, 39, 40, 49, 384, 385, 3000}) {
        SCOPED_TRACE(pixels);
        Check(program, {2, 19, pixels}, {{2, 19, pixels}, {19, 1}, {19, 1}}, &two);
        Check(program, {19, pixels}, {{19, pixels}, {19, 1}, {}}, nullptr);
        Check(program, {19, pixels}, {{19, pixels}, {pixels}, {1}}, nullptr);
      }
    }
  });
}

TEST(Elementwise, EveryActivation) {
  ForEachIsa([&] {
    for (int kind = 0; kind < kActKinds; ++kind) {
      SCOPED_TRACE(kind);
      Check({1, {Act(static_cast<ActKind>(kind), 0, 0.5f, 1.25f)}}, {133}, {{133}}, nullptr);
    }
  });
}

// The most inputs and instructions; many values live at once.
TEST(Elementwise, LargestProgram) {
  ElementwiseProgram program;
  program.inputs = ElementwiseProgram::kMaxInputs;
  std::vector<Dims> dims;
  for (int i = 0; i < program.inputs; ++i) dims.push_back(i % 3 == 0 ? Dims{4, 900} : i % 3 == 1 ? Dims{900} : Dims{});
  for (int i = 0; i < 7; ++i) program.instructions.push_back(Binary(Instruction::Op::kMul, i, i + 1));     // 8..14
  program.instructions.push_back({Instruction::Op::kConstant, ActKind::kIdentity, 0.375f, 0.0f, -1, -1});  // 15
  for (int i = 8; i < 16; ++i) {  // 16..23: sums of all that is live
    program.instructions.push_back(Binary(Instruction::Op::kAdd, i == 8 ? 15 : i + 7, i == 15 ? 0 : i));
  }
  ASSERT_EQ(program.instructions.size(), 16u);
  ForEachIsa([&] { Check(program, {4, 900}, dims, nullptr); });
}

TEST(Elementwise, OutputMayBeAnInput) {
  const std::vector<float> x = Random(5000, 1);
  const std::vector<float> bias = Random(50, 2);
  std::vector<float> y = x;
  const float* const inputs[] = {y.data(), bias.data()};
  ThreadPool two(2);
  // (x + b) * x: x is read again after the first instruction.
  const ElementwiseProgram program{2, {Binary(Instruction::Op::kAdd, 0, 1), Binary(Instruction::Op::kMul, 2, 0)}};
  RunElementwise(CompiledElementwise(program), Loops({100, 50}, {{100, 50}, {50}}), inputs, y.data(), &two);
  for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i], (x[i] + bias[i % 50]) * x[i], 1e-5);
}

TEST(Elementwise, NonFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {nan, 1.0f, inf, -inf, -0.0f, 2.5f, -2.5f, 0.5f, -3.7f};
  const std::vector<float> y(x.size(), 2.0f);
  const auto run = [&](ElementwiseOp op, bool swap, float a = 0.0f, float b = 0.0f) {
    const CompiledElementwise program(op, a, b);
    const Dims dims = {static_cast<int64_t>(x.size())};
    std::vector<const float*> inputs = {swap ? y.data() : x.data()};
    if (program.inputs() == 2) inputs.push_back(swap ? x.data() : y.data());
    std::vector<float> out(x.size());
    RunElementwise(program, Loops(dims, std::vector<Dims>(inputs.size(), dims)), inputs, out.data(), nullptr);
    return out;
  };
  ForEachIsa([&] {
    for (const bool swap : {false, true}) {
      EXPECT_TRUE(std::isnan(run(ElementwiseOp::kMax, swap)[0]));
      EXPECT_TRUE(std::isnan(run(ElementwiseOp::kMin, swap)[0]));
      EXPECT_EQ(run(ElementwiseOp::kMax, swap)[2], inf);
      EXPECT_EQ(run(ElementwiseOp::kMin, swap)[3], -inf);
    }
    EXPECT_TRUE(std::isnan(run(ToElementwiseOp(ActKind::kRelu), false)[0]));
    const std::vector<float> sign = run(ToElementwiseOp(ActKind::kSign), false);
    EXPECT_TRUE(std::isnan(sign[0]));
    EXPECT_EQ(sign[1], 1.0f);
    EXPECT_EQ(sign[3], -1.0f);
    EXPECT_EQ(sign[4], 0.0f);
    const std::vector<float> round = run(ToElementwiseOp(ActKind::kRound), false);
    EXPECT_EQ(round[5], 2.0f);
    EXPECT_EQ(round[6], -2.0f);
    EXPECT_EQ(round[7], 0.0f);
    EXPECT_EQ(round[2], inf);
    EXPECT_EQ(run(ToElementwiseOp(ActKind::kFloor), false)[8], -4.0f);
    EXPECT_EQ(run(ToElementwiseOp(ActKind::kCeil), false)[8], -3.0f);
    EXPECT_NEAR(run(ToElementwiseOp(ActKind::kRsqrt), false)[7], 1.41421356, 1e-6);
    EXPECT_EQ(run(ElementwiseOp::kPow, false)[6], 6.25f);
    EXPECT_EQ(run(ToElementwiseOp(ActKind::kLinear), false, 3.0f, 0.25f)[5], 7.75f);
    EXPECT_TRUE(std::isnan(run(ToElementwiseOp(ActKind::kLinear), false, 0.0f, 1.0f)[2]));
  });
}

TEST(BroadcastLoops, MergesWhatAllInputsWalkAlike) {
  const BroadcastLoops same = Loops({2, 3, 4}, {{2, 3, 4}, {2, 3, 4}});
  EXPECT_EQ(same.rank(), 1);
  EXPECT_EQ(same.cols(), 24);
  const BroadcastLoops channel = Loops({2, 3, 4, 5}, {{2, 3, 4, 5}, {3, 1, 1}});
  EXPECT_EQ(channel.rank(), 3);
  EXPECT_EQ(channel.cols(), 20);
  EXPECT_EQ(channel.stride(1, 0), 0);
  EXPECT_EQ(channel.stride(1, 1), 1);
  EXPECT_EQ(channel.stride(1, 2), 0);
  EXPECT_EQ(Loops({1, 1}, {{1, 1}}).numel(), 1);
}

// Channels last with gaps between the pixels, plain tensors, and channels of their own, in one operation.
TEST(Elementwise, MixedOrdersInMemory) {
  ThreadPool two(2);
  for (const int64_t channels : {1, 3, 20, 400}) {
    for (const int64_t gap : {0, 7}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, gap " << gap);
      const Dims shape = {2, channels, 4, 5};
      const int64_t pixel = channels + gap;
      const Dims last = {20 * pixel, 1, 5 * pixel, pixel};
      const Dims plain = RowMajor(shape);
      const Dims channel_dims = {channels, 1, 1};
      const Dims channel_strides = {1, 1, 1};
      const std::vector<float> x = Random(40 * pixel, 1);
      const std::vector<float> y = Random(40 * channels, 2);
      const std::vector<float> bias = Random(channels, 3);
      const ElementwiseProgram program{3, {Binary(Instruction::Op::kMul, 0, 1), Binary(Instruction::Op::kAdd, 3, 2)}};
      ForEachIsa([&] {
        std::vector<float> out(x.size(), -5.0f);
        const StridedDims inputs[] = {{shape, last}, {shape, plain}, {channel_dims, channel_strides}};
        const float* const data[] = {x.data(), y.data(), bias.data()};
        RunElementwise(CompiledElementwise(program), BroadcastLoops({shape, last}, inputs), data, out.data(), &two);
        for (int64_t i = 0; i < 40 * pixel; ++i) {
          const int64_t c = i % pixel;
          const size_t at = static_cast<size_t>(i);
          if (c >= channels) {
            ASSERT_EQ(out[at], -5.0f) << "the gap was written";
            continue;
          }
          const int64_t p = i / pixel;  // n, h, w
          const int64_t plain_at = (p / 20 * channels + c) * 20 + p % 20;
          const double want =
              static_cast<double>(x[at]) * y[static_cast<size_t>(plain_at)] + bias[static_cast<size_t>(c)];
          ASSERT_NEAR(out[at], want, 1e-5) << at;
        }
      });
    }
  }
}

}  // namespace
}  // namespace wherry::cpu
