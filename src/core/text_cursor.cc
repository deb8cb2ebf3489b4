#include "core/text_cursor.h"

#include <algorithm>

#include "base/check.h"
#include "base/strings.h"

namespace wherry {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void TextCursor::SkipSpace() {
  while (position_ < text_.size()) {
    if (std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    } else if (form_ == Form::kFile && rest().starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else {
      return;
    }
  }
}

bool TextCursor::AtEnd() {
  SkipSpace();
  return position_ == text_.size();
}

void TextCursor::ExpectEnd() {
  if (!AtEnd()) Fail("the end");
}

char TextCursor::Peek() { return AtEnd() ? '\0' : text_[position_]; }

bool TextCursor::Accept(char token) {
  if (AtEnd() || text_[position_] != token) return false;
  ++position_;
  return true;
}

void TextCursor::Expect(char token) {
  if (!Accept(token)) Fail(StrCat("'", token, "'"));
}

bool TextCursor::AcceptWord(std::string_view word) {
  SkipSpace();
  const std::string_view text = rest();
  if (!text.starts_with(word)) return false;
  if (text.size() > word.size() && (IsLetter(text[word.size()]) || IsDigit(text[word.size()]))) return false;
  position_ += word.size();
  return true;
}

std::string_view TextCursor::Word(const char* expected) {
  if (!IsLetter(Peek())) Fail(expected);
  const size_t start = position_;
  while (position_ < text_.size() && (IsLetter(text_[position_]) || IsDigit(text_[position_]))) ++position_;
  return text_.substr(start, position_ - start);
}

std::string_view TextCursor::Digits(const char* expected) {
  if (!IsDigit(Peek())) Fail(expected);
  const size_t start = position_;
  while (position_ < text_.size() && IsDigit(text_[position_])) ++position_;
  return text_.substr(start, position_ - start);
}

std::string_view TextCursor::NumberWord() {
  SkipSpace();
  const size_t start = position_;
  const auto belongs = [](char c) { return IsLetter(c) || IsDigit(c) || c == '.' || c == '+' || c == '-'; };
  while (position_ < text_.size() && belongs(text_[position_])) ++position_;
  return text_.substr(start, position_ - start);
}

char TextCursor::HexDigits() {
  unsigned value = 0;
  for (int i = 0; i < 2; ++i, ++position_) {
    const char c = position_ < text_.size() ? text_[position_] : '\0';
    const size_t digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) Fail("two hexadecimal digits");
    value = value * 16 + static_cast<unsigned>(digit);
  }
  return static_cast<char>(value);
}

std::string TextCursor::QuotedText() {
  if (!Accept('"')) Fail("text in double quotes");
  std::string out;
  while (true) {
    if (position_ == text_.size()) Fail("the closing '\"'");
    const char c = text_[position_++];
    if (c == '"') return out;
    if (c != '\\') {
      out += c;
      continue;
    }
    const char escape = position_ < text_.size() ? text_[position_++] : '\0';
    switch (escape) {
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case '\\':
      case '\'':
      case '"': out += escape; break;
      case 'x': out += HexDigits(); break;
      default: --position_; Fail("an escape: n, r, t, \\, \", ' or x with two digits");
    }
  }
}

void TextCursor::Fail(std::string_view expected) const {
  std::string problem = StrCat("expected ", expected);
  // A file is not shown around the place.
  if (form_ == Form::kFile) problem += rest().empty() ? ", got the end" : StrCat(", got ", Quote(rest().substr(0, 1)));
  FailWith(problem);
}

void TextCursor::FailWith(std::string_view problem) const {
  if (form_ == Form::kFile) {
    const std::string_view before = text_.substr(0, position_);
    const auto lines = std::count(before.begin(), before.end(), '\n');
    const size_t column = before.size() - (lines == 0 ? 0 : before.rfind('\n') + 1);
    Throw(ErrorCode::kInvalidArgument, what_, ", line ", lines + 1, ", column ", column + 1, ": ", problem);
  }
  const size_t start = position_ > 40 ? position_ - 40 : 0;  // of a long text, what surrounds the place
  Throw(ErrorCode::kInvalidArgument, what_, ": ", problem, " at byte ", position_, " of ", start != 0 ? "... " : "",
        Quote(text_.substr(start)));
}

std::string QuoteExact(std::string_view text) {
  // Quote's escapes are what is needed, but for which quotation mark they protect, and that fewer are easier to read
  // back.
  const std::string quoted = Quote(text, text.size());
  std::string out = "\"";
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '"') {
      out += "\\\"";
    } else if (quoted[i] != '\\') {
      out += quoted[i];
    } else {
      switch (quoted[++i]) {
        case '\'': out += '\''; break;
        case 't': out += "\\x09"; break;
        case 'r': out += "\\x0d"; break;
        default: out += '\\'; out += quoted[i];
      }
    }
  }
  return out += '"';
}

}  // namespace wherry
