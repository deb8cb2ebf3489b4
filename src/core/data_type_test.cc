#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "wherry/error.h"
#include "wherry/types.h"

namespace wherry {
namespace {

template <typename T>
void ExpectRoundTrip(T last, T (*parse)(std::string_view)) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const T value = static_cast<T>(i);
    EXPECT_EQ(parse(ToString(value)), value) << ToString(value);
  }
}

std::string MessageOf(void (*function)()) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.message();
  }
  return "nothing was thrown";
}

TEST(DataType, NamesParseBack) {
  ExpectRoundTrip(Target::kCustom, &ParseTarget);
  ExpectRoundTrip(DataType::kFP8E5M2, &ParseDataType);
  ExpectRoundTrip(DataType::kFP8E8M0, &ParseDataType);
  ExpectRoundTrip(DataType::kUInt2, &ParseDataType);
  ExpectRoundTrip(DataLayout::kNHWC, &ParseDataLayout);
  EXPECT_STREQ(ToString(Target::kX86), "x86");
  EXPECT_STREQ(ToString(DataType::kFloat), "f32");
  EXPECT_STREQ(ToString(DataLayout::kNHWC), "nhwc");
}

TEST(DataType, LongNames) {
  EXPECT_EQ(ParseDataType("float"), DataType::kFloat);
  EXPECT_EQ(ParseDataType("float32"), DataType::kFloat);
  EXPECT_EQ(ParseDataType("double"), DataType::kFP64);
  EXPECT_EQ(ParseDataType("bfloat16"), DataType::kBF16);
  EXPECT_EQ(ParseTarget("cpu"), Target::kNative);
}

TEST(DataType, UnknownNamesListTheKnownOnesOnce) {
  EXPECT_EQ(MessageOf([] { ParseDataLayout("nchw16c"); }), "unknown data layout 'nchw16c'; there are: nchw, nhwc");
  const std::string message = MessageOf([] { ParseDataType("F32\n"); });
  EXPECT_NE(message.find("unknown data type 'F32\\n'"), std::string::npos) << message;
  EXPECT_NE(message.find("i64"), std::string::npos) << message;
  EXPECT_EQ(message.find("int64"), std::string::npos) << message;
}

TEST(DataType, SizesAndFamilies) {
  EXPECT_EQ(SizeOf(DataType::kBool), 1U);
  EXPECT_EQ(SizeOf(DataType::kBF16), 2U);
  EXPECT_EQ(SizeOf(DataType::kFloat), 4U);
  EXPECT_EQ(SizeOf(DataType::kComplex128), 16U);
  EXPECT_EQ(SizeOf(DataType::kInt4), 0U);
  EXPECT_EQ(SizeOf(DataType::kString), 0U);
  EXPECT_TRUE(IsFloating(DataType::kFP8E4M3FN));
  EXPECT_FALSE(IsFloating(DataType::kComplex64));
  EXPECT_TRUE(IsInteger(DataType::kUInt4));
  EXPECT_FALSE(IsInteger(DataType::kBool));
  EXPECT_TRUE(IsHostMemory(Target::kNative));
  EXPECT_FALSE(IsHostMemory(Target::kOpenCL));
}

TEST(Place, ParsesPrefixes) {
  EXPECT_EQ(ParsePlace("x86"), Place(Target::kX86, DataType::kFloat, DataLayout::kNCHW));
  EXPECT_EQ(ParsePlace("opencl:f16"), Place(Target::kOpenCL, DataType::kFP16, DataLayout::kNCHW));
  EXPECT_EQ(ParsePlace("x86:float:nhwc"), Place(Target::kX86, DataLayout::kNHWC, DataType::kFloat));
  const Place place(Target::kARM, DataType::kInt8, DataLayout::kNHWC);
  EXPECT_EQ(place.DebugString(), "arm/i8/nhwc");
  EXPECT_EQ(ParsePlace(place.DebugString()), place);
}

TEST(Place, RefusesWhatIsNoPlace) {
  EXPECT_THROW(ParsePlace(""), Error);
  EXPECT_THROW(ParsePlace("x86:"), Error);
  EXPECT_THROW(ParsePlace("x86::nchw"), Error);
  EXPECT_THROW(ParsePlace("x86:f32:nchw:"), Error);
  EXPECT_THROW(ParsePlace("tpu"), Error);
}

// The nearest half by trying all of them: 65504 and what lies up to half a step above it is finite.
float NearestHalf(float value) {
  float best = 0.0F;
  double best_distance = std::numeric_limits<double>::infinity();
  bool best_even = false;
  for (uint32_t bits = 0; bits < 0x7c00U; ++bits) {
    Float16 half;
    half.bits = static_cast<uint16_t>(bits);
    const double distance =
        std::fabs(static_cast<double>(static_cast<float>(half)) - std::fabs(static_cast<double>(value)));
    if (distance < best_distance || (distance == best_distance && !best_even)) {
      best = static_cast<float>(half);
      best_distance = distance;
      best_even = bits % 2 == 0;
    }
  }
  return std::copysign(best, value);
}

TEST(Float16, EveryHalfSurvives) {
  for (uint32_t bits = 0; bits < 0x10000U; ++bits) {
    Float16 half;
    half.bits = static_cast<uint16_t>(bits);
    const auto value = static_cast<float>(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(Float16(value)))) << bits;
    } else {
      EXPECT_EQ(Float16(value).bits, half.bits) << bits;
    }
  }
}

TEST(Float16, RoundsToNearestEven) {
  const float values[] = {1.0F / 3,      0.1F,     2049.0F,         2051.0F,      65519.9F,     0x1p-24F,
                          0x1.8p-24F,    0x1p-25F, 0x1.000002p-25F, 0x1.ffcp-15F, 0x1.ffep-15F, 0x1.fffp-15F,
                          -0x1.0028p-3F, 1e-10F,   -3.1415927F,     0x1.0020p0F,  0x1.0060p0F,  1e-40F};
  for (float value : values) {
    const auto half = static_cast<float>(Float16(value));
    EXPECT_EQ(half, NearestHalf(value)) << value;
    EXPECT_EQ(std::signbit(half), std::signbit(value)) << value;
  }
  EXPECT_EQ(Float16(65520.0F).bits, 0x7c00U);
  EXPECT_EQ(Float16(-1e30F).bits, 0xfc00U);
  EXPECT_EQ(Float16(std::numeric_limits<float>::infinity()).bits, 0x7c00U);
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(BFloat16(1.0F).bits, 0x3f80U);
  EXPECT_EQ(BFloat16(0x1.01p0F).bits, 0x3f80U);    // a tie, to even
  EXPECT_EQ(BFloat16(0x1.03p0F).bits, 0x3f82U);    // a tie, to even
  EXPECT_EQ(BFloat16(0x1.0102p0F).bits, 0x3f81U);  // above the tie
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80U);
  EXPECT_EQ(static_cast<float>(BFloat16(-2.5F)), -2.5F);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape().numel(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).numel(), 24);
  EXPECT_EQ((Shape{2, 3, 4}).numel(1, 3), 12);
  EXPECT_EQ((Shape{2, 3, 4}).numel(2, 2), 1);
  EXPECT_EQ((Shape{int64_t{1} << 62, 4, 0}).numel(), 0);
  EXPECT_EQ((Shape{1, 3, 48}).DebugString(), "[1,3,48]");
}

TEST(Shape, RefusesWhatCannotBe) {
  EXPECT_THROW((Shape{int64_t{1} << 62, 4}).numel(), Error);
  EXPECT_THROW((Shape{0, -1}).numel(), Error);
  EXPECT_THROW(Shape(std::vector<int64_t>(13, 1)), Error);
  Shape shape(std::vector<int64_t>(12, 1));
  EXPECT_THROW(shape.push_back(1), Error);
}

}  // namespace
}  // namespace wherry
