// Random choices for tests: the same on every machine, which the distributions of <random> are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace wherry {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // 0 .. count - 1. The slight preference of a remainder does not matter here.
  size_t Below(size_t count) { return static_cast<size_t>(engine_() % count); }
  bool OneIn(size_t count) { return Below(count) == 0; }
  template <typename T, size_t kCount>
  const T& Pick(const T (&choices)[kCount]) {
    return choices[Below(kCount)];
  }
  // `choices` must not be empty.
  template <typename Container>
  auto& PickFrom(Container& choices) {
    return choices[Below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace wherry
