// The texts of the .cl files, embedded when the library is built.
#pragma once

#include <span>
#include <string_view>

namespace wherry::opencl {

struct Source {
  std::string_view name;  // the file's stem
  std::string_view text;
};

std::span<const Source> Sources();

// Error(kInternal) when there is no such file.
const Source& SourceNamed(std::string_view name);

}  // namespace wherry::opencl
