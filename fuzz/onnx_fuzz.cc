// ONNX models, without files beside them.
#include <cstddef>
#include <cstdint>
#include <span>

#include "importer/importer.h"
#include "wherry/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wherry;
  try {
    ImportModel(FileBytes{"fuzz.onnx", std::as_bytes(std::span(data, size)), nullptr});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) __builtin_trap();  // a bug
  }
  return 0;
}
