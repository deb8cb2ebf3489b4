// A session's steps as the public profile.
#pragma once

#include <vector>

#include "runtime/session.h"
#include "wherry/predictor.h"

namespace wherry {

std::vector<ProfileEvent> MakeProfile(const std::vector<StepRecord>& steps);

}  // namespace wherry
