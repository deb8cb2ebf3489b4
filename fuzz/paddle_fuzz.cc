// Paddle's ProgramDesc and parameter files. Input: the model's length (4 bytes), the model, the parameters.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "importer/importer.h"
#include "wherry/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wherry;
  std::uint32_t model_size = 0;
  if (size < sizeof(model_size)) return 0;
  std::memcpy(&model_size, data, sizeof(model_size));
  const std::span<const std::byte> rest = std::as_bytes(std::span(data, size)).subspan(sizeof(model_size));
  const std::size_t split = std::min<std::size_t>(model_size, rest.size());
  try {
    // The name makes it a Paddle model whatever it begins with.
    ImportModel(FileBytes{"fuzz.pdmodel", rest.first(split), nullptr},
                FileBytes{"fuzz.pdiparams", rest.subspan(split), nullptr});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) __builtin_trap();  // a bug
  }
  return 0;
}
