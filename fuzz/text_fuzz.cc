// The text form of programs: what parses prints, and prints the same when it is parsed again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/text.h"
#include "wherry/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wherry;
  try {
    const std::string once = PrintProgram(ParseProgram({reinterpret_cast<const char*>(data), size}));
    if (PrintProgram(ParseProgram(once)) != once) __builtin_trap();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) __builtin_trap();  // a bug
  }
  return 0;
}
