#include "core/tensor_copy.h"

#include "base/check.h"

namespace wherry {

// Weak: what a build without kernel/ has.
__attribute__((weak)) DenseTensor CopyAcrossDevices(const DenseTensor& tensor, Target target) {
  Throw(ErrorCode::kUnavailable, "this build has no devices: cannot copy tensor ", tensor.meta().DebugString(),
        " from ", ToString(tensor.target()), " to ", ToString(target));
}

}  // namespace wherry
