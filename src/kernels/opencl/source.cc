#include "kernels/opencl/source.h"

#include "base/check.h"

namespace wherry::opencl {

const Source& SourceNamed(std::string_view name) {
  for (const Source& source : Sources()) {
    if (source.name == name) return source;
  }
  Throw(ErrorCode::kInternal, "bug in Wherry: there is no OpenCL source ", name, ".cl");
}

}  // namespace wherry::opencl
