#include "kernel/kernel.h"

#include "base/check.h"

namespace wherry {

PackedWeight Kernel::Pack(const DenseTensor& weight, std::string_view format) const {
  WHERRY_CHECK(pack != nullptr, "kernel ", id(), " asks for a packed weight and has no Pack");
  PackedWeight packed{std::string(format), HostAllocator().Allocate(packed_bytes(weight.meta(), format))};
  pack(weight, format, packed.buffer->data());
  return packed;
}

std::string Kernel::id() const { return provider + ":" + op + (variant.empty() ? "" : ":" + variant); }

}  // namespace wherry
