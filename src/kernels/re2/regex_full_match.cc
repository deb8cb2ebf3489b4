#include <re2/re2.h>

#include <string>

#include "base/check.h"
#include "base/strings.h"
#include "core/device_context.h"
#include "kernel/kernel_registrar.h"

namespace wherry::re2 {
namespace {

template <typename T>
void FullMatch(const CpuContext& /*context*/, const DenseTensor& x, const std::string& pattern, DenseTensor* out) {
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 regex(pattern, options);
  WHERRY_ENFORCE(regex.ok(), kInvalidArgument, "pattern ", Quote(pattern), ": ", regex.error());
  const T* const from = x.data<T>();
  bool* const to = out->mutable_data<bool>();
  for (int64_t i = 0, n = x.numel(); i < n; ++i) to[i] = RE2::FullMatch(from[i], regex);
}

}  // namespace

REGISTER_KERNEL(regex_full_match, re2, kHost, kNCHW, FullMatch, std::string);

}  // namespace wherry::re2
