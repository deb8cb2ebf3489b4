#include "pass/pass.h"

#include <algorithm>

namespace wherry {

KernelPickFactor& KernelPickFactor::Consider(Criterion criterion) {
  if (std::find(considered_.begin(), considered_.end(), criterion) == considered_.end())
    considered_.push_back(criterion);
  return *this;
}

std::vector<KernelPickFactor::Criterion> KernelPickFactor::order() const {
  std::vector<Criterion> all = considered_;
  for (Criterion criterion :
       {Criterion::kTarget, Criterion::kPrecision, Criterion::kCost, Criterion::kDataLayout, Criterion::kPriority}) {
    if (std::find(all.begin(), all.end(), criterion) == all.end()) all.push_back(criterion);
  }
  return all;
}

namespace mir {

const PassContext& Pass::context() const {
  static const PassContext none;
  return context_ != nullptr ? *context_ : none;
}

}  // namespace mir
}  // namespace wherry
