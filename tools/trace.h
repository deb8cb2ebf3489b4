// A profile in the Trace Event Format (chrome://tracing, Perfetto).
#pragma once

#include <string>
#include <vector>

#include "wherry/predictor.h"

namespace wherry::tools {

std::string ChromeTrace(const std::vector<ProfileEvent>& events);

}  // namespace wherry::tools
