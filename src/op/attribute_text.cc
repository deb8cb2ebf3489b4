// ToString and ParseAttribute.
#include <string>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "core/number_text.h"
#include "core/text_cursor.h"
#include "op/attribute.h"

namespace wherry {
namespace {

struct Printer {
  std::string operator()(std::monostate /*none*/) const { return "none"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return NumberText(value); }
  std::string operator()(const std::string& value) const { return QuoteExact(value); }
  std::string operator()(const Scalar& value) const { return value.DebugString(); }
  std::string operator()(const IntArray& value) const { return (*this)(value.values()); }
  std::string operator()(DataType value) const { return ToString(value); }
  std::string operator()(DataLayout value) const { return ToString(value); }
  std::string operator()(Target value) const { return ToString(value); }
  std::string operator()(const Epilogue& value) const { return ToString(value); }
  std::string operator()(const ElementwiseProgram& value) const { return ToString(value); }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    std::string text = "[";
    for (const auto& value : values) {
      if (text.size() > 1) text += ", ";
      text += (*this)(static_cast<const T&>(value));
    }
    return text += "]";
  }
};

bool ParseBool(TextCursor* cursor) {
  const std::string_view word = cursor->Word("true or false");
  if (word != "true" && word != "false") cursor->Fail("true or false, before this,");
  return word == "true";
}

// 3, 0.5, true, nan, f32(0.5)
Scalar ParseScalar(TextCursor* cursor) {
  const std::string_view word = cursor->NumberWord();
  if (word == "true" || word == "false") return Scalar(word == "true");
  if (const auto integer = ParseNumber<int64_t>(word)) return Scalar(*integer);
  const bool integral = word.find_first_of(".en") == std::string_view::npos;  // too large, then: never silently a float
  if (const auto floating = ParseNumber<double>(word); floating && !integral) return Scalar(*floating);
  if (cursor->Peek() != '(')
    cursor->Fail(StrCat("a number, true, false or type(number), not ", Quote(word), ", before this,"));
  const DataType dtype = ParseDataType(word);
  cursor->Expect('(');
  Scalar scalar;
  if (IsFloating(dtype)) {
    // Through the widest type that is exact: the text of an f16 is that of the float it equals.
    scalar = Scalar::OfType(dtype, dtype == DataType::kFP64 ? cursor->Number<double>("a number")
                                                            : double{cursor->Number<float>("a number")});
  } else if (dtype == DataType::kBool) {
    scalar = Scalar(ParseBool(cursor));
  } else if (dtype == DataType::kUInt64) {
    scalar = Scalar::OfType(dtype, static_cast<int64_t>(cursor->Number<uint64_t>("an integer")));
  } else {
    const auto value = cursor->Number<int64_t>("an integer");
    scalar = Scalar::OfType(dtype, value);
    if (scalar.to<int64_t>() != value) cursor->Fail(StrCat("an integer that fits ", ToString(dtype), ", before this,"));
  }
  cursor->Expect(')');
  return scalar;
}

template <typename T>
std::vector<T> ParseList(TextCursor* cursor, T (*parse)(TextCursor*)) {
  std::vector<T> values;
  cursor->Expect('[');
  if (cursor->Accept(']')) return values;
  do {
    values.push_back(parse(cursor));
  } while (cursor->Accept(','));
  if (!cursor->Accept(']')) cursor->Fail("',' or ']'");
  return values;
}

int64_t ParseInt(TextCursor* cursor) { return cursor->Number<int64_t>("a 64-bit integer"); }
double ParseFloat(TextCursor* cursor) { return cursor->Number<double>("a number"); }
std::string ParseText(TextCursor* cursor) { return cursor->QuotedText(); }

}  // namespace

std::string ToString(const Attribute& attribute) { return std::visit(Printer(), attribute); }

Attribute ParseAttribute(AttrType type, std::string_view text) {
  TextCursor cursor(text, "attribute");
  const auto whole = [&](auto value) {
    cursor.ExpectEnd();
    return Attribute(std::move(value));
  };
  switch (type) {
    case AttrType::kNone:
      if (cursor.Word("none") != "none") cursor.Fail("none, before this,");
      return whole(std::monostate());
    case AttrType::kBool: return whole(ParseBool(&cursor));
    case AttrType::kInt: return whole(ParseInt(&cursor));
    case AttrType::kFloat: return whole(ParseFloat(&cursor));
    case AttrType::kString: return whole(ParseText(&cursor));
    case AttrType::kBools: return whole(ParseList<bool>(&cursor, &ParseBool));
    case AttrType::kInts: return whole(ParseList<int64_t>(&cursor, &ParseInt));
    case AttrType::kFloats: return whole(ParseList<double>(&cursor, &ParseFloat));
    case AttrType::kStrings: return whole(ParseList<std::string>(&cursor, &ParseText));
    case AttrType::kScalar: return whole(ParseScalar(&cursor));
    case AttrType::kScalars: return whole(ParseList<Scalar>(&cursor, &ParseScalar));
    case AttrType::kIntArray: return whole(IntArray(ParseList<int64_t>(&cursor, &ParseInt)));
    case AttrType::kDataType: return whole(ParseDataType(cursor.Word("a data type")));
    case AttrType::kDataLayout: return whole(ParseDataLayout(cursor.Word("a data layout")));
    case AttrType::kTarget: return whole(ParseTarget(cursor.Word("a target")));
    case AttrType::kEpilogue: return ParseEpilogue(text);
    case AttrType::kElementwiseProgram: return ParseElementwiseProgram(text);
  }
  Throw(ErrorCode::kInternal, "bug in Wherry: attribute type ", static_cast<int>(type));
}

}  // namespace wherry
