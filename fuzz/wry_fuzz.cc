// Optimised model files.
#include <cstddef>
#include <cstdint>
#include <span>

#include "format/wry.h"
#include "wherry/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wherry;
  try {
    LoadWry(FileBytes{"fuzz.wry", std::as_bytes(std::span(data, size)), nullptr});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) __builtin_trap();  // a bug
  }
  return 0;
}
