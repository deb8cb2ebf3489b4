// Reading text from left to right, with errors that say where and what was expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/number_text.h"

namespace wherry {

// The text must outlive the cursor. Every failure is an Error(kInvalidArgument). Spaces, tabs and line ends are skipped
// before everything that is read.
class TextCursor {
 public:
  enum class Form : uint8_t {
    kPiece,  // "attribute: expected ',' or ']' at byte 7 of '[1, 2 3]'"
    kFile,   // "text form, line 1, column 8: expected ']', got '3'"; comments from // to the line's end are skipped
  };
  // `what` is what the whole text is: "attribute".
  TextCursor(std::string_view text, const char* what, Form form = Form::kPiece)
      : text_(text), what_(what), form_(form) {}

  bool AtEnd();
  void ExpectEnd();
  // Whether the text goes on with `token`, which then is consumed.
  bool Accept(char token);
  void Expect(char token);
  // The next character, not consumed; '\0' at the end.
  char Peek();
  // The same for a whole word: "as" is not the beginning of "assign".
  bool AcceptWord(std::string_view word);
  // Letters, digits and underscores, not starting with a digit; `expected` names it in the error.
  std::string_view Word(const char* expected);
  // A T (an integer or float type) as NumberText and std::to_string print it.
  template <typename T>
  T Number(const char* expected) {
    const std::string_view digits = NumberWord();
    const std::optional<T> value = ParseNumber<T>(digits);
    if (!value) {
      position_ -= digits.size();
      Fail(expected);
    }
    return *value;
  }
  // At least one digit.
  std::string_view Digits(const char* expected);
  // As many characters as a number may consist of: letters (of nan, inf, 1e5), digits, '.', '+', '-'. Maybe none.
  std::string_view NumberWord();
  // Text in double quotes as QuoteExact writes it, without the quotes.
  std::string QuotedText();

  size_t position() const { return position_; }
  // What has not been read, from the very next character on; and reading `count` characters of it.
  std::string_view rest() const { return text_.substr(position_); }
  void Advance(size_t count) { position_ += count; }

  [[noreturn]] void Fail(std::string_view expected) const;
  // An Error that says something else than what was expected.
  [[noreturn]] void FailWith(std::string_view problem) const;

 private:
  void SkipSpace();
  char HexDigits();

  std::string_view text_;
  const char* what_;
  Form form_;
  size_t position_ = 0;
};

// `text` in double quotes, so that QuotedText gives the same bytes back: quotes, backslashes and everything that is not
// printable ASCII or a valid UTF-8 character beyond it become escapes (\", \\, \n, \x1b).
std::string QuoteExact(std::string_view text);

}  // namespace wherry
