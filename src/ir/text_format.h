// Lexical pieces shared by the printer and the parser of the text form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace wherry::text {

// Letters, digits and _./:-
bool IsPlainNameCharacter(char c);
// %name, or %"quoted name" where it has other characters.
std::string ValueName(std::string_view name);
std::string Base64(const std::byte* data, size_t size);

}  // namespace wherry::text
