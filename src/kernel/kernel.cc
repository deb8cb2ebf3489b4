#include "kernel/kernel.h"

namespace wherry {

std::string Kernel::id() const { return provider + ":" + op + (variant.empty() ? "" : ":" + variant); }

}  // namespace wherry
