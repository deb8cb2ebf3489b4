// The plans of recent calls, for those who run operators one at a time: the eager API and OperatorBase. (A predictor
// keeps its own.)
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernel/kernel.h"
#include "op/op_schema.h"

namespace wherry {

// A map from everything that a plan depends on to the plan, which forgets what was used longest ago. Thread-safe.
class PlanCache {
 public:
  // More shapes at a time than a program of many models meets; a plan takes some KB.
  static constexpr size_t kDefaultCapacity = 1024;

  explicit PlanCache(size_t capacity = kDefaultCapacity);
  ~PlanCache();
  PlanCache(const PlanCache&) = delete;
  PlanCache& operator=(const PlanCache&) = delete;

  // The plan of `kernel`, which has a Plan, for this call (the arguments of a KernelProblem); made if absent. What Plan
  // throws is passed on, and nothing is kept.
  std::shared_ptr<const KernelPlan> Get(const Kernel& kernel, const OpSchema& schema, const std::vector<BoundArg>& args,
                                        std::span<const MetaTensor* const> outputs, std::span<const int8_t> constants,
                                        int threads);
  size_t size() const;

  static PlanCache& Global();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wherry
