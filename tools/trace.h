// A profile in the Trace Event Format (chrome://tracing, Perfetto).
#pragma once

#include <string>
#include <vector>

#include "wherry/predictor.h"

namespace wherry::tools {

// Two tracks: the load, and a run. `run_start_us` is when the run began, since the load did.
std::string ChromeTrace(const std::vector<ProfileEvent>& load, const std::vector<ProfileEvent>& run,
                        double run_start_us);

}  // namespace wherry::tools
