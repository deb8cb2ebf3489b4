#include "kernels/cpu/vector/broadcast_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace wherry::cpu {
namespace {

using Dims = std::vector<int64_t>;

// A tensor that lies in memory in some order of its dimensions, with gaps: strides of dimensions of 1 are any.
struct Operand {
  Dims dims;
  Dims strides;
  std::vector<uint32_t> data;
};

class Shapes {
 public:
  explicit Shapes(unsigned seed) : generator_(seed) {}

  int64_t Below(int64_t n) { return static_cast<int64_t>(generator_() % static_cast<uint64_t>(n)); }

  Dims OutDims() {
    constexpr int64_t kSizes[] = {1, 2, 3, 4, 7, 16, 17, 24, 49, 65, 100};
    Dims dims(static_cast<size_t>(1 + Below(5)));
    int64_t numel = 1;
    for (int64_t& dim : dims) {
      dim = kSizes[Below(std::size(kSizes))];
      if (numel * dim > 20000) dim = 1;
      numel *= dim;
    }
    if (Below(4) == 0 && numel < 100) dims.back() *= 500;
    return dims;
  }

  Operand Make(const Dims& out, bool broadcasts) {
    Operand operand;
    operand.dims.assign(out.begin() + (broadcasts && Below(3) == 0 ? Below(static_cast<int64_t>(out.size())) : 0),
                        out.end());
    const size_t rank = operand.dims.size();
    if (broadcasts) {
      for (int64_t& dim : operand.dims) dim = Below(3) == 0 ? 1 : dim;
    }
    std::vector<size_t> order(rank);
    for (size_t i = 0; i < rank; ++i) order[i] = i;
    if (Below(3) == 0) std::shuffle(order.begin(), order.end(), generator_);
    operand.strides.resize(rank);
    int64_t next = 1;
    for (size_t i = rank; i-- > 0;) {
      operand.strides[order[i]] = next;
      next *= operand.dims[order[i]];
      if (Below(6) == 0) next += Below(9);
    }
    operand.data.resize(static_cast<size_t>(next));
    for (uint32_t& v : operand.data) v = static_cast<uint32_t>(generator_());
    return operand;
  }

 private:
  std::mt19937 generator_;
};

int64_t OffsetOf(const Operand& operand, const Dims& out, int64_t flat) {
  int64_t offset = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t at = flat % out[out.size() - 1 - i];
    flat /= out[out.size() - 1 - i];
    if (i >= operand.dims.size()) continue;
    const size_t axis = operand.dims.size() - 1 - i;
    if (operand.dims[axis] != 1) offset += at * operand.strides[axis];
  }
  return offset;
}

// x + 3 * y - z, of integers of each size.
template <typename T>
void Check(const Operand& out, const std::vector<Operand>& inputs, UniformInputs uniform, ThreadPool* pool) {
  std::vector<std::vector<T>> data;
  std::vector<TileInput> tensors;
  std::vector<StridedDims> views;
  for (const Operand& operand : inputs) {
    data.emplace_back(operand.data.begin(), operand.data.end());
    views.push_back({operand.dims, operand.strides});
  }
  for (const std::vector<T>& values : data) tensors.push_back({values.data(), sizeof(T)});
  std::vector<T> results(out.data.begin(), out.data.end());
  std::vector<T> want = results;
  int64_t numel = 1;
  for (const int64_t dim : out.dims) numel *= dim;
  for (int64_t i = 0; i < numel; ++i) {
    const auto value = [&](size_t k) { return data[k][static_cast<size_t>(OffsetOf(inputs[k], out.dims, i))]; };
    want[static_cast<size_t>(OffsetOf(out, out.dims, i))] = static_cast<T>(value(0) + 3 * value(1) - value(2));
  }
  const BroadcastLoops loops({out.dims, out.strides}, views);
  const BroadcastTiles tiles(loops, tensors, results.data(), sizeof(T), uniform);
  tiles.Run(pool, [&](const BroadcastTiles::Inputs& at, void* to, int64_t n) {
    ASSERT_LE(n, BroadcastTiles::kTile);
    const auto value = [&](int k, int64_t i) {
      return static_cast<const T*>(at[static_cast<size_t>(k)])[tiles.IsUniform(k) ? 0 : i];
    };
    for (int64_t i = 0; i < n; ++i)
      static_cast<T*>(to)[i] = static_cast<T>(value(0, i) + 3 * value(1, i) - value(2, i));
  });
  ASSERT_EQ(results, want);
}

TEST(BroadcastTiles, AnyShapesAndStrides) {
  ThreadPool two(2);
  for (unsigned seed = 0; seed < 200; ++seed) {
    Shapes shapes(seed);
    const Dims dims = shapes.OutDims();
    const Operand out = shapes.Make(dims, false);
    const std::vector<Operand> inputs = {shapes.Make(dims, true), shapes.Make(dims, true), shapes.Make(dims, true)};
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << testing::PrintToString(dims) << " at "
                                    << testing::PrintToString(out.strides));
    for (const UniformInputs uniform : {UniformInputs::kAsOneElement, UniformInputs::kRepeated}) {
      for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &two}) {
        Check<uint8_t>(out, inputs, uniform, pool);
        Check<uint16_t>(out, inputs, uniform, pool);
        Check<uint32_t>(out, inputs, uniform, pool);
        Check<uint64_t>(out, inputs, uniform, pool);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(BroadcastTiles, Nothing) {
  const Dims dims = {3, 0};
  const Dims strides = {0, 1};
  const StridedDims view{dims, strides};
  const BroadcastLoops loops(view, {&view, 1});
  const TileInput input{nullptr, 4};
  BroadcastTiles(loops, {&input, 1}, nullptr, 4, UniformInputs::kRepeated)
      .Run(nullptr, [](const BroadcastTiles::Inputs&, void*, int64_t) { FAIL(); });
}

}  // namespace
}  // namespace wherry::cpu
