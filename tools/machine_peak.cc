#include "machine_peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace wherry::tools {

namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Keeps what was computed.
template <typename T>
void Use(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

// More chains than two units of four cycles need, fewer than sixteen registers less two constants hold.
constexpr int kChains = 12;
constexpr int64_t kSteps = 1 << 16;  // 0.1 ms

// Returns the operations of kSteps steps of all chains, which start apart: equal ones would become one.
#define WHERRY_MULTIPLY_ADDS(NAME, TARGET, BYTES)                                   \
  TARGET double NAME() {                                                            \
    typedef float Vector __attribute__((vector_size(BYTES)));                       \
    Vector sums[kChains];                                                           \
    for (int i = 0; i < kChains; ++i) sums[i] = Vector{} + static_cast<float>(i);   \
    const Vector factor = Vector{} + 0.999F;                                        \
    const Vector term = Vector{} + 0.001F;                                          \
    for (int64_t step = 0; step < kSteps; ++step) {                                 \
      _Pragma("GCC unroll 12") for (Vector & sum : sums) sum = sum * factor + term; \
    }                                                                               \
    Use(sums);                                                                      \
    return 2.0 * kChains * kSteps * (BYTES / sizeof(float));                        \
  }

WHERRY_MULTIPLY_ADDS(MultiplyAdds16, , 16)
#if defined(__x86_64__)
WHERRY_MULTIPLY_ADDS(MultiplyAdds32, __attribute__((target("avx2,fma"))), 32)
WHERRY_MULTIPLY_ADDS(MultiplyAdds64, __attribute__((target("avx512f"))), 64)
#endif
#undef WHERRY_MULTIPLY_ADDS

double MultiplyAdds() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return MultiplyAdds64();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return MultiplyAdds32();
#endif
  return MultiplyAdds16();
}

// Returns the bytes read.
double Read(const std::vector<uint64_t>& memory) {
  uint64_t sums[8] = {};
  for (size_t i = 0; i + 8 <= memory.size(); i += 8) {
    for (size_t j = 0; j < 8; ++j) sums[j] ^= memory[i + j];
  }
  Use(sums);
  return static_cast<double>(memory.size() * sizeof(uint64_t));
}

// Work by the second, of all threads: each repeats `work`, which returns how much it did, from one moment on. The least
// time that `work` took counts.
template <typename Work>
double Rate(int threads, int repeats, const Work& work) {
  std::atomic<int> waiting = threads;
  std::atomic<double> total = 0;
  const auto run = [&] {
    const Work mine = work;  // a thread's own memory, touched by it
    waiting.fetch_sub(1);
    while (waiting.load() > 0) std::this_thread::yield();
    double best = 0;
    for (int i = 0; i < repeats; ++i) {
      const auto start = Clock::now();
      const double done = mine();
      best = std::max(best, done / std::max(SecondsSince(start), 1e-9));
    }
    total.fetch_add(best);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(run);
  run();
  for (std::thread& thread : others) thread.join();
  return total;
}

}  // namespace

MachinePeak MeasureMachinePeak(int threads) {
  // A shared cache keeps what was read last; more than the largest of them, in all, is read anew each time.
  constexpr size_t kBytes = size_t{128} << 20;
  struct ReadMemory {
    std::vector<uint64_t> memory;
    double operator()() const { return Read(memory); }
  };
  const ReadMemory read{std::vector<uint64_t>(kBytes / sizeof(uint64_t) / static_cast<size_t>(threads))};
  return {Rate(threads, 200, &MultiplyAdds) / 1e9, Rate(threads, 4, read) / 1e9};
}

}  // namespace wherry::tools
