#include "kernel/provider.h"

namespace wherry {

namespace {

REGISTER_PROVIDER(onednn, "convolutions and matrix products by oneDNN, with its OpenMP threads (a plug-in)", kNative,
                  nullptr, nullptr);

}  // namespace

}  // namespace wherry
