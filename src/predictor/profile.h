// A session's steps as the public profile.
#pragma once

#include <vector>

#include "runtime/session.h"
#include "wherry/predictor.h"

namespace wherry {

std::vector<ProfileEvent> MakeProfile(const std::vector<StepRecord>& steps);
// A part of a load.
ProfileEvent LoadEvent(const std::string& what, double start_ms, double duration_ms, int depth = 0);

}  // namespace wherry
