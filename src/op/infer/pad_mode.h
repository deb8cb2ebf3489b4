// Where the elements that a pad adds come from. Shared by its kernels.
#pragma once

#include <cstdint>
#include <string>

namespace wherry {

enum class PadMode : uint8_t { kConstant, kReflect, kEdge, kWrap };
// "constant", "reflect", "edge", "wrap"; else Error(kInvalidArgument).
PadMode ParsePadMode(const std::string& name);

// Where position `at` of an axis of `extent` elements (at least 1 unless kConstant) is read; -1: nowhere, the
// constant is written.
int64_t PadSource(PadMode mode, int64_t at, int64_t extent);

}  // namespace wherry
