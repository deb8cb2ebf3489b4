// A plug-in with a name that is taken (by sample_plugin.cc) and one that is not.
#include "wherry/extend.h"

namespace {

template <typename T>
void Nothing(const wherry::CpuContext& /*context*/, const wherry::DenseTensor& /*x*/, wherry::DenseTensor* /*out*/) {}

}  // namespace

REGISTER_KERNEL(cos, sample, kHost, kNCHW, Nothing, float);
REGISTER_KERNEL(sin, sample, kHost, kNCHW, Nothing, float);
