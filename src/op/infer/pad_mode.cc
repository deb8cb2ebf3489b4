#include "op/infer/pad_mode.h"

#include "base/check.h"
#include "base/strings.h"

namespace wherry {

PadMode ParsePadMode(const std::string& name) {
  if (name == "constant") return PadMode::kConstant;
  if (name == "reflect") return PadMode::kReflect;
  if (name == "edge") return PadMode::kEdge;
  WHERRY_ENFORCE(name == "wrap", kInvalidArgument, "mode is ", Quote(name),
                 ", expected 'constant', 'reflect', 'edge' or 'wrap'");
  return PadMode::kWrap;
}

int64_t PadSource(PadMode mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  switch (mode) {
    case PadMode::kConstant: return -1;
    case PadMode::kEdge: return at < 0 ? 0 : extent - 1;
    case PadMode::kWrap: return (at % extent + extent) % extent;
    case PadMode::kReflect: {
      if (extent == 1) return 0;
      const int64_t period = 2 * (extent - 1);
      const int64_t phase = (at % period + period) % period;
      return phase < extent ? phase : period - phase;
    }
  }
  return -1;
}

}  // namespace wherry
