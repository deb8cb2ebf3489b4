// topk, the stable one: in one pass over a line, what lies beyond the worst of the best so far is kept. Where many
// are wanted, all are sorted.
#include <algorithm>
#include <span>
#include <type_traits>

#include "core/device_context.h"
#include "kernel/kernel_registrar.h"
#include "kernels/cpu/share_out.h"
#include "kernels/cpu/sort/line_sort.h"
#include "kernels/cpu/sort/ordered_key.h"
#include "kernels/cpu/tensor_loops.h"
#include "kernels/cpu/vector/beyond.h"

namespace wherry::cpu {
namespace {

template <typename T>
struct Candidate {
  int64_t index;
  OrderedKeyOf<T> key;  // the larger the better
};

template <typename T>
bool IsBetter(const Candidate<T>& a, const Candidate<T>& b) {
  return a.key != b.key ? a.key > b.key : a.index < b.index;
}

template <typename T>
OrderedKeyOf<T> KeyOf(T value, bool largest) {
  const OrderedKeyOf<T> key = OrderedKey(value);
  return largest ? key : ~key;
}

// The products of a line's elements and those wanted up to which the best are kept in order all the time. By what
// follows 2 of 8 took 71 ns and 8 of 256 2400; so 27 and 1030.
constexpr int64_t kFewSteps = 4096;

// The whole line is sorted when more than one in so many are wanted.
constexpr int64_t kSortedFrom = 4;

template <typename T>
void InsertBest(const T* line, int64_t count, int64_t wanted, bool largest, std::span<Candidate<T>> places) {
  int64_t held = 0;
  for (int64_t at = 0; at < count; ++at) {
    const Candidate<T> candidate{at, KeyOf(line[at], largest)};
    if (held == wanted) {
      if (candidate.key <= places[static_cast<size_t>(held - 1)].key) continue;
    } else {
      ++held;
    }
    // Behind equal ones, which come before it.
    auto place = static_cast<size_t>(held - 1);
    for (; place > 0 && places[place - 1].key < candidate.key; --place) places[place] = places[place - 1];
    places[place] = candidate;
  }
}

// The best `wanted` of a line in order, in the first places of `places`, which are more than that unless the line is
// not.
template <typename T>
void FindBest(const T* line, int64_t count, int64_t wanted, bool largest, std::span<Candidate<T>> places) {
  if (count * wanted <= kFewSteps) return InsertBest(line, count, wanted, largest, places);
  const auto first = places.begin();
  int64_t held = 0;
  bool bounded = false;  // as many as wanted are held, and the last of them is the worst
  const auto keep_best = [&] {
    std::nth_element(first, first + (wanted - 1), first + held, IsBetter<T>);
    held = wanted;
    bounded = true;
  };
  Candidate<T> worst{};
  for (int64_t at = 0; at < count;) {
    if constexpr (std::is_same_v<T, float>) {
      if (bounded) at += SkipToBeyond(line + at, count - at, line[worst.index], largest);
    }
    constexpr int64_t kBlock = 64;
    for (const int64_t end = std::min(count, at + kBlock); at < end; ++at) {
      const Candidate<T> candidate{at, KeyOf(line[at], largest)};
      if (bounded && candidate.key <= worst.key) continue;
      if (held == static_cast<int64_t>(places.size())) {
        keep_best();
        worst = places[static_cast<size_t>(wanted - 1)];
        if (candidate.key <= worst.key) continue;
      }
      places[static_cast<size_t>(held++)] = candidate;
    }
  }
  if (held > wanted) keep_best();
  std::sort(first, first + wanted, IsBetter<T>);
}

template <typename T>
void Topk(const CpuContext& context, const DenseTensor& x, int axis, bool largest, bool /*stable*/, DenseTensor* out,
          DenseTensor* indices) {
  if (out->numel() == 0) return;
  const AxisRun run = RunAlong(x.shape(), axis);
  const int64_t wanted = RunAlong(out->shape(), axis).extent;
  if (run.extent * wanted > kFewSteps && wanted > run.extent / kSortedFrom) {
    return SortLines<T>(context, x, axis, largest, out, indices);
  }
  const T* const from = x.data<T>();
  T* const to = out->mutable_data<T>();
  int64_t* const positions = indices->mutable_data<int64_t>();
  const int64_t lines = run.outer * run.inner;
  // Each worker has places for candidates, and for a line that does not lie in one piece.
  const int64_t places = std::min(run.extent, std::max(2 * wanted, wanted + 1024));
  const int64_t gathered_elements = run.inner == 1 ? 0 : run.extent;
  const int64_t workers = context.pool() == nullptr ? 1 : std::min<int64_t>(lines, context.pool()->threads());
  const size_t bytes_each =
      static_cast<size_t>(places) * sizeof(Candidate<T>) + static_cast<size_t>(gathered_elements) * sizeof(T);
  const size_t stride = (bytes_each + 63) / 64 * 64;
  char* const scratch = static_cast<char*>(context.Scratch(static_cast<size_t>(workers) * stride));
  ShareOut(context.pool(), workers, lines, [&](int64_t worker, const auto& next) {
    auto* const mine = reinterpret_cast<Candidate<T>*>(scratch + static_cast<size_t>(worker) * stride);
    T* const gathered = reinterpret_cast<T*>(mine + places);
    for (int64_t i = next(); i >= 0; i = next()) {
      const int64_t o = i / run.inner;
      const int64_t column = i % run.inner;
      const T* line = from + o * run.extent * run.inner + column;
      if (run.inner > 1) {
        for (int64_t k = 0; k < run.extent; ++k) gathered[k] = line[k * run.inner];
        line = gathered;
      }
      FindBest<T>(line, run.extent, wanted, largest, {mine, static_cast<size_t>(places)});
      const int64_t target = o * wanted * run.inner + column;
      for (int64_t k = 0; k < wanted; ++k) {
        to[target + k * run.inner] = line[mine[k].index];
        positions[target + k * run.inner] = mine[k].index;
      }
    }
  });
}

Support SupportsTopk(const KernelProblem& problem) {
  if (!problem.Attr<bool>("stable")) return Support::No("equal elements would come in another order than Paddle's");
  return Support::Yes();
}

}  // namespace

REGISTER_KERNEL(topk, cpu, kNative, kNCHW, Topk, float, double, int32_t, int64_t).Supports(&SupportsTopk);

}  // namespace wherry::cpu
