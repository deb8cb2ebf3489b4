#include "predictor/profile.h"

#include "base/check.h"

namespace wherry {

namespace {

// Multiply-adds count as two. Elementwise and data movement are bound by bytes, which are reported beside.
double CountFlops(const StepRecord& step) {
  const std::string_view op = step.instruction->schema->name;
  if (step.outputs.empty() || step.inputs.size() < 2) return 0;
  const double results = static_cast<double>(step.outputs[0].shape.numel());
  const Shape& second = step.inputs[1].shape;
  if (op == "conv2d" || op == "conv2d_transpose") {
    // Each element of the result, or of x, meets the filter's elements of one of its channels.
    const double elements = op == "conv2d" ? results : static_cast<double>(step.inputs[0].shape.numel());
    return second.rank() == 0 || second[0] == 0
               ? 0
               : 2.0 * elements * static_cast<double>(second.numel()) / static_cast<double>(second[0]);
  }
  if (op == "matmul" || op == "fused_matmul" || op == "mul" || op == "fc") {
    const double columns = step.outputs[0].shape.rank() == 0 ? 1.0 : static_cast<double>(step.outputs[0].shape.back());
    if (columns == 0) return 0;
    // The second operand holds depth x columns per batch.
    double depth = second.rank() < 2 ? static_cast<double>(second.numel())
                                     : static_cast<double>(second.numel(second.rank() - 2, second.rank())) / columns;
    return 2.0 * results * depth;
  }
  return 0;
}

}  // namespace

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
      event.bytes += static_cast<double>(meta.nbytes());
    }
    event.shapes += " ->";
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      event.shapes += StrCat(i == 0 ? " " : ", ", step.outputs[i].DebugString());
      event.bytes += static_cast<double>(step.outputs[i].nbytes());
    }
    event.flops = CountFlops(step);
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
