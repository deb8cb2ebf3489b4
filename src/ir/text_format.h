// Lexical pieces shared by the printer and the parser of the text form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wherry::text {

bool IsPlainName(std::string_view name);
// "..." with \" \\ \n \xNN escapes; any bytes.
std::string QuoteString(std::string_view value);
// %name or %"quoted name".
std::string ValueName(std::string_view name);
std::string Base64(const std::byte* data, size_t size);

}  // namespace wherry::text
