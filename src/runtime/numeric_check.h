// Finds the first op of a run that makes a NaN or an infinity of finite numbers.
#pragma once

#include <map>
#include <string>

#include "runtime/plan.h"

namespace wherry {

// Used by one session. Floating values of plain types on the host are looked at; others count as finite.
class NumericCheck {
 public:
  // A new run begins.
  void Start() { seen_.clear(); }
  // After a call: Error(kInvalidArgument) that says which result has a NaN that no argument has, or an infinity that no
  // argument has, and the ranges of all arguments (an argument's when it was made: it may have been overwritten).
  void Look(const ShapePlan& plan, const PlannedCall& call);

 private:
  struct Range {
    int64_t nans = 0;
    int64_t infinities = 0;
    std::string text;  // "f32[2,3] in [-1, 2.5], 1 NaN"
  };
  static Range RangeOf(const DenseTensor& tensor);

  std::map<std::string, Range> seen_;  // results, by name
};

}  // namespace wherry
