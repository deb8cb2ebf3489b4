#include "predictor/profile.h"

#include "base/check.h"

namespace wherry {

std::vector<ProfileEvent> MakeProfile(const std::vector<StepRecord>& steps) {
  std::vector<ProfileEvent> events;
  events.reserve(steps.size());
  for (const StepRecord& step : steps) {
    ProfileEvent event;
    event.start_us = step.start_us;
    event.duration_us = step.duration_us;
    event.depth = step.depth;
    if (step.instruction == nullptr) {
      event.category = "runtime";
      event.name = event.op = step.work;
      events.push_back(std::move(event));
      continue;
    }
    event.category = "op";
    event.name = step.instruction->name();
    event.op = step.instruction->schema->name;
    event.kernel = step.kernel == nullptr ? "runtime" : step.kernel->id();
    for (const TensorMeta& meta : step.inputs) {
      event.shapes += (event.shapes.empty() ? "" : ", ") + meta.DebugString();
    }
    event.shapes += " ->";
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      event.shapes += StrCat(i == 0 ? " " : ", ", step.outputs[i].DebugString());
    }
    event.flops = step.cost.operations;
    event.bytes = step.cost.bytes;
    event.family = step.cost.family == nullptr ? "" : step.cost.family->name;
    event.estimated_us = step.cost.microseconds;
    events.push_back(std::move(event));
  }
  return events;
}

ProfileEvent LoadEvent(const std::string& what, double start_ms, double duration_ms, int depth) {
  ProfileEvent event;
  event.category = "load";
  event.name = event.op = what;
  event.start_us = start_ms * 1e3;
  event.duration_us = duration_ms * 1e3;
  event.depth = depth;
  return event;
}

}  // namespace wherry
