// What this machine's processor can do at most, to compare measurements with.
#pragma once

namespace wherry::tools {

struct MachinePeak {
  double gflops = 0;  // multiply-adds that touch registers only, in f32: two operations each
  double gbytes = 0;  // reading memory that no cache holds, GB/s
};

// Of `threads` threads together, with the widest vectors that the processor has. Takes some 0.1 s, of which the best
// moments count. Other work on the machine lowers it.
MachinePeak MeasureMachinePeak(int threads);

}  // namespace wherry::tools
