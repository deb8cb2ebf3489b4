#include "op/attribute.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "op/attribute_cast.h"
#include "wherry/error.h"

namespace wherry {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Epilogue MakeEpilogue() {
  Epilogue epilogue;
  epilogue.steps.push_back({EpilogueStep::Kind::kBias, ActKind::kIdentity, 0, 0, 0});
  epilogue.steps.push_back({EpilogueStep::Kind::kAct, ActKind::kClip, 0, 6, -1});
  return epilogue;
}

void ExpectText(const Attribute& value, const std::string& text) {
  EXPECT_EQ(ToString(value), text);
  EXPECT_TRUE(SameAttribute(ParseAttribute(TypeOf(value), text), value)) << text;
}

std::string ErrorOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Attribute, TypesAreInTheOrderOfTheAlternatives) {
  EXPECT_EQ(TypeOf(Attribute()), AttrType::kNone);
  EXPECT_EQ(TypeOf(Attribute(true)), AttrType::kBool);
  EXPECT_EQ(TypeOf(Attribute(int64_t{1})), AttrType::kInt);
  EXPECT_EQ(TypeOf(Attribute(1.0)), AttrType::kFloat);
  EXPECT_EQ(TypeOf(Attribute(std::string())), AttrType::kString);
  EXPECT_EQ(TypeOf(Attribute(Scalar())), AttrType::kScalar);
  EXPECT_EQ(TypeOf(Attribute(IntArray())), AttrType::kIntArray);
  EXPECT_EQ(TypeOf(Attribute(Target::kX86)), AttrType::kTarget);
  EXPECT_EQ(TypeOf(Attribute(ElementwiseProgram())), AttrType::kElementwiseProgram);
  EXPECT_STREQ(ToString(AttrType::kIntArray), "IntArray");
  EXPECT_STREQ(ToString(AttrType::kElementwiseProgram), "ElementwiseProgram");
}

TEST(Attribute, TextReadsBack) {
  ExpectText(Attribute(), "none");
  ExpectText(true, "true");
  ExpectText(int64_t{-3}, "-3");
  ExpectText(std::numeric_limits<int64_t>::min(), "-9223372036854775808");
  ExpectText(0.1, "0.1");
  ExpectText(-0.0, "-0.0");
  ExpectText(1e-5, "1e-05");
  ExpectText(3.0, "3.0");
  ExpectText(kNan, "nan");
  ExpectText(-kInf, "-inf");
  ExpectText(std::string("a \"b\" \\ 'c'\n\t\x01\xff \xc3\xa4"), "\"a \\\"b\\\" \\\\ 'c'\\n\\x09\\x01\\xff \xc3\xa4\"");
  ExpectText(std::vector<bool>{true, false}, "[true, false]");
  ExpectText(std::vector<int64_t>{}, "[]");
  ExpectText(std::vector<int64_t>{1, -2}, "[1, -2]");
  ExpectText(std::vector<double>{0.5, kInf}, "[0.5, inf]");
  ExpectText(std::vector<std::string>{"a", "], \""}, "[\"a\", \"], \\\"\"]");
  ExpectText(IntArray{0, -1}, "[0, -1]");
  ExpectText(DataType::kBF16, "bf16");
  ExpectText(DataLayout::kNHWC, "nhwc");
  ExpectText(Target::kUndefined, "undefined");
  ExpectText(MakeEpilogue(), "bias(0), clip(0.0, 6.0)");
  ExpectText(Epilogue(), "");
  ExpectText(ParseElementwiseProgram("2: add(0, 1); relu(2)"), "2: add(0, 1); relu(2)");
}

TEST(Attribute, ScalarsKeepTheirType) {
  ExpectText(Scalar(int64_t{3}), "3");
  ExpectText(Scalar(3.0), "3.0");
  ExpectText(Scalar(true), "true");
  ExpectText(Scalar(kNan), "nan");
  ExpectText(Scalar(-kInf), "-inf");
  ExpectText(Scalar(0.1F), "f32(0.1)");
  ExpectText(Scalar(3), "i32(3)");
  ExpectText(Scalar::OfType(DataType::kFP16, 0.1), "f16(0.099975586)");
  ExpectText(Scalar::OfType(DataType::kUInt64, int64_t{-1}), "u64(18446744073709551615)");
  ExpectText(std::vector<Scalar>{Scalar(1), Scalar(0.5)}, "[i32(1), 0.5]");
  for (const char* text :
       {"i8(300)", "f32(x)", "f32", "string(1)", "1.5.5", "i32(1.5)", "99999999999999999999", "f33(1)", "", "(1)"}) {
    EXPECT_THROW(ParseAttribute(AttrType::kScalar, text), Error) << text;
  }
}

TEST(Attribute, ParseTakesOtherSpellings) {
  EXPECT_TRUE(SameAttribute(ParseAttribute(AttrType::kInts, " [ 1 ,2 ] "), std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(SameAttribute(ParseAttribute(AttrType::kEpilogue, ""), Epilogue()));
  EXPECT_TRUE(SameAttribute(ParseAttribute(AttrType::kEpilogue, "bias(0), clip(0, 6)"), MakeEpilogue()));
  EXPECT_TRUE(SameAttribute(ParseAttribute(AttrType::kDataType, "float32"), DataType::kFloat));
}

TEST(Attribute, ParseErrorsSayWhere) {
  EXPECT_EQ(ErrorOf([] { ParseAttribute(AttrType::kInts, "[1, 2 3]"); }),
            "attribute: expected ',' or ']' at byte 6 of '[1, 2 3]'");
  EXPECT_EQ(ErrorOf([] { ParseAttribute(AttrType::kInt, "1.5"); }),
            "attribute: expected a 64-bit integer at byte 0 of '1.5'");
  EXPECT_EQ(ErrorOf([] { ParseAttribute(AttrType::kBool, "true false"); }),
            "attribute: expected the end at byte 5 of 'true false'");
  const std::string long_text = "[" + std::string(1000, ' ') + "x]";
  const std::string message = ErrorOf([&] { ParseAttribute(AttrType::kInts, long_text); });
  EXPECT_LT(message.size(), 300U);
  EXPECT_NE(message.find("at byte 1001 of ... '"), std::string::npos) << message;
}

TEST(Attribute, HostileTextsAreErrors) {
  const AttrType types[] = {AttrType::kNone,      AttrType::kBool,   AttrType::kInt,      AttrType::kFloat,
                            AttrType::kString,    AttrType::kBools,  AttrType::kInts,     AttrType::kFloats,
                            AttrType::kStrings,   AttrType::kScalar, AttrType::kScalars,  AttrType::kIntArray,
                            AttrType::kDataType,  AttrType::kTarget, AttrType::kEpilogue, AttrType::kElementwiseProgram,
                            AttrType::kDataLayout};
  const std::string texts[] = {std::string(100000, '['),
                               std::string(100000, '<'),
                               "[1,",
                               "\"a",
                               "\"\\",
                               "\"\\x1",
                               "\"\\q\"",
                               "[,]",
                               "1e999",
                               "9-9",
                               std::string("\0", 1),
                               "[1]]",
                               "+1",
                               "0x1"};
  for (AttrType type : types) {
    for (const std::string& text : texts)
      EXPECT_THROW(ParseAttribute(type, text), Error) << ToString(type) << " " << text;
  }
}

TEST(Attribute, RandomBytesNeverDoMoreThanThrow) {
  std::mt19937 random(1);
  const std::string alphabet = "[]<>(),;: \"\\x0123.-+einfatrus_\n\xff";
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (auto length = random() % 12; length > 0; --length) text += alphabet[random() % alphabet.size()];
    const auto type = static_cast<AttrType>(random() % 17);
    try {
      const Attribute value = ParseAttribute(type, text);
      EXPECT_TRUE(SameAttribute(ParseAttribute(type, ToString(value)), value)) << text;
      ++parsed;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << text;
    }
  }
  EXPECT_GT(parsed, 100);
}

TEST(Attribute, ConvertsWhereNothingIsLost) {
  const auto convert = [](const Attribute& value, AttrType type) {
    return ToString(ConvertAttribute(value, type, "test"));
  };
  EXPECT_EQ(convert(int64_t{3}, AttrType::kFloat), "3.0");
  EXPECT_EQ(convert(int64_t{1}, AttrType::kBool), "true");
  EXPECT_EQ(convert(false, AttrType::kInt), "0");
  EXPECT_EQ(convert(int64_t{3}, AttrType::kInts), "[3]");
  EXPECT_EQ(convert(int64_t{3}, AttrType::kIntArray), "[3]");
  EXPECT_EQ(convert(std::vector<int64_t>{3, 4}, AttrType::kIntArray), "[3, 4]");
  EXPECT_EQ(convert(IntArray{3, 4}, AttrType::kInts), "[3, 4]");
  EXPECT_EQ(convert(std::vector<int64_t>{3, 4}, AttrType::kFloats), "[3.0, 4.0]");
  EXPECT_EQ(convert(std::vector<int64_t>{0, 1}, AttrType::kBools), "[false, true]");
  EXPECT_EQ(convert(std::vector<double>{}, AttrType::kStrings), "[]");
  EXPECT_EQ(convert(std::string("a"), AttrType::kStrings), "[\"a\"]");
  EXPECT_EQ(convert(0.5, AttrType::kScalar), "0.5");
  EXPECT_EQ(convert(Scalar(0.5F), AttrType::kFloat), "0.5");
  EXPECT_EQ(convert(Scalar(7), AttrType::kInt), "7");
  EXPECT_EQ(convert(std::vector<int64_t>{1}, AttrType::kScalars), "[1]");
  EXPECT_EQ(convert(std::string("float32"), AttrType::kDataType), "f32");
  EXPECT_EQ(convert(std::string("opencl"), AttrType::kTarget), "opencl");
}

TEST(Attribute, RefusesToLose) {
  const std::string what = "conv2d: attribute strides";
  EXPECT_EQ(ErrorOf([&] { ConvertAttribute(std::string("a\n"), AttrType::kInts, what); }),
            "conv2d: attribute strides: expected ints, got string '\"a\\\\n\"'");
  EXPECT_THROW(ConvertAttribute(1.5, AttrType::kInt, what), Error);
  EXPECT_THROW(ConvertAttribute(1.0, AttrType::kInt, what), Error);
  EXPECT_THROW(ConvertAttribute(int64_t{2}, AttrType::kBool, what), Error);
  EXPECT_THROW(ConvertAttribute((int64_t{1} << 53) + 1, AttrType::kFloat, what), Error);
  EXPECT_THROW(ConvertAttribute(std::vector<int64_t>{1}, AttrType::kInt, what), Error);
  EXPECT_THROW(ConvertAttribute(Scalar::OfType(DataType::kUInt64, int64_t{-1}), AttrType::kInt, what), Error);
  EXPECT_THROW(ConvertAttribute(Attribute(), AttrType::kInt, what), Error);
  EXPECT_THROW(ConvertAttribute(int64_t{1}, AttrType::kEpilogue, what), Error);
  EXPECT_THROW(ConvertAttribute(std::string("f99"), AttrType::kDataType, what), Error);
}

TEST(Attribute, EqualityIsBitwise) {
  EXPECT_TRUE(SameAttribute(kNan, kNan));
  EXPECT_FALSE(SameAttribute(0.0, -0.0));
  EXPECT_FALSE(SameAttribute(int64_t{1}, 1.0));
  EXPECT_FALSE(SameAttribute(int64_t{1}, Scalar(int64_t{1})));
  EXPECT_FALSE(SameAttribute(Scalar(1), Scalar(int64_t{1})));
  EXPECT_TRUE(SameAttribute(std::vector<Scalar>{Scalar(kNan)}, std::vector<Scalar>{Scalar(kNan)}));
  EXPECT_FALSE(SameAttribute(std::vector<std::string>{"a", "b"}, std::vector<std::string>{"ab", ""}));
  Epilogue a = MakeEpilogue();
  Epilogue b = MakeEpilogue();
  EXPECT_TRUE(SameAttribute(a, b));
  a.steps[1].a = -0.0F;
  EXPECT_FALSE(SameAttribute(a, b));
  EXPECT_NE(HashAttribute(a), HashAttribute(b));
  EXPECT_EQ(HashAttribute(kNan), HashAttribute(kNan));
  EXPECT_NE(HashAttribute(int64_t{1}), HashAttribute(true));
}

TEST(AttributeCast, GivesTheTypeAskedFor) {
  EXPECT_EQ(AttributeCast<int>(Attribute(int64_t{3})), 3);
  EXPECT_EQ(AttributeCast<float>(Attribute(0.5)), 0.5F);
  EXPECT_EQ(AttributeCast<bool>(Attribute(true)), true);
  const Attribute text = std::string("abc");
  EXPECT_EQ(&AttributeCast<std::string>(text), std::get_if<std::string>(&text));
  EXPECT_EQ(AttributeCast<std::vector<int>>(Attribute(std::vector<int64_t>{1, 2})), (std::vector<int>{1, 2}));
  EXPECT_THROW(AttributeCast<int>(text), Error);
}

TEST(AttributeCast, NeverTruncates) {
  EXPECT_THROW(AttributeCast<int>(Attribute(int64_t{1} << 32)), Error);
  EXPECT_THROW(AttributeCast<std::vector<int>>(Attribute(std::vector<int64_t>{int64_t{1} << 31})), Error);
  EXPECT_EQ(AttributeCast<int64_t>(Attribute(int64_t{1} << 32)), int64_t{1} << 32);
}

}  // namespace
}  // namespace wherry
