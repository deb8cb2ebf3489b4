#include "kernel/kernel.h"

#include "base/check.h"

namespace wherry {

size_t Kernel::PackedBytes(const TensorMeta& weight, std::string_view format) const {
  WHERRY_CHECK(pack != nullptr, "kernel ", id(), " asks for a packed weight and has no Pack");
  return packed_bytes(weight, format);
}

PackedWeight Kernel::Pack(const DenseTensor& weight, std::string_view format) const {
  PackedWeight packed{std::string(format), HostAllocator().Allocate(PackedBytes(weight.meta(), format))};
  pack(weight, format, packed.buffer->data());
  return packed;
}

std::string Kernel::id() const { return provider + ":" + op + (variant.empty() ? "" : ":" + variant); }

}  // namespace wherry
