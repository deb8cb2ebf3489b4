// Times several implementations of one thing side by side: rounds of short blocks in turn, so that a change in the
// machine's speed meets all of them. Single runs are timed; medians are what to compare, minima tell how noisy the
// machine was.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace wherry::bench {

struct Candidate {
  std::string name;
  std::function<void()> run;
};

struct Timing {
  double median_us = 0.0;
  double min_us = 0.0;
};

// Each round gives every candidate a block of `seconds / rounds / candidates` seconds. A pause before each block lets
// the other's worker threads stop spinning; the first two runs of a block are not counted.
inline std::vector<Timing> Interleave(const std::vector<Candidate>& candidates, double seconds, int rounds = 7) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<double>> samples(candidates.size());
  const double block = seconds / rounds / static_cast<double>(candidates.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      const Clock::time_point start = Clock::now();
      Clock::time_point before = start;
      for (int run = 0; run < 6 || std::chrono::duration<double>(before - start).count() < block; ++run) {
        before = Clock::now();
        candidates[i].run();
        const double us = std::chrono::duration<double, std::micro>(Clock::now() - before).count();
        if (run >= 2) samples[i].push_back(us);
      }
    }
  }
  std::vector<Timing> timings;
  for (std::vector<double>& s : samples) {
    std::sort(s.begin(), s.end());
    timings.push_back({s[s.size() / 2], s[0]});
  }
  return timings;
}

}  // namespace wherry::bench
