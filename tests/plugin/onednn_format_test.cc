#include <gtest/gtest.h>

#include "kernels/onednn_primitives/memory_format.h"
#include "wherry/error.h"

namespace wherry::onednn {
namespace {

using dnnl::memory;
constexpr auto kF32 = memory::data_type::f32;

TEST(WeightFormat, NamesPlainAndBlockedFormats) {
  const WeightFormat plain{{{2, 3}, kF32, memory::format_tag::ab}, {{2, 3}, kF32, memory::format_tag::ba}};
  EXPECT_EQ(FormatName(plain), "dnnl:2x3:3,1>1,2:");
  const WeightFormat blocked{{{20, 3, 3, 3}, kF32, memory::format_tag::abcd},
                             {{20, 3, 3, 3}, kF32, memory::format_tag::Acdb16a}};
  EXPECT_EQ(FormatName(blocked), "dnnl:20x3x3x3:27,9,3,1>432,16,144,48:a16");
}

TEST(WeightFormat, ReadsBackWhatItNames) {
  const memory::dims filter = {33, 19, 3, 3};
  const memory::desc given(filter, kF32, memory::format_tag::abcd);
  for (auto tag : {memory::format_tag::abcd, memory::format_tag::Acdb16a, memory::format_tag::ABcd16b16a,
                   memory::format_tag::ABcd4a4b, memory::format_tag::cdba}) {
    const WeightFormat format{given, {filter, kF32, tag}};
    const std::optional<std::string> name = FormatName(format);
    ASSERT_TRUE(name.has_value());
    const WeightFormat read = ParseFormatName(*name);
    EXPECT_EQ(read.given, format.given) << *name;
    EXPECT_EQ(read.wanted, format.wanted) << *name;
  }
}

TEST(WeightFormat, RefusesOtherText) {
  for (const char* text :
       {"", "dnnl", "gemm64:t", "dnnl:", "dnnl:2x3", "dnnl:2x3:3,1>1,2", "dnnl:2x3:3>1,2:", "dnnl:2x-3:3,1>1,2:",
        "dnnl:2x3:3,1>1,2:c16", "dnnl:2x3:3,1>1,2:a0", "dnnl:2x3:3,1>1,2:a16x", "dnnl:2x3:3,1>1,2:a9999",
        "dnnl:1099511627776x1099511627776:1099511627776,1>1,1:", "dnnl:2x3:3,1>1,2:a1024a1024a1024a1024a1024a1024a1024",
        "dnnl:1x1x1x1x1x1x1x1x1x1x1x1x1:1>1:", "dnnl:99999999999999999999x1:1,1>1,1:"}) {
    EXPECT_THROW(ParseFormatName(text), Error) << text;
  }
}

}  // namespace
}  // namespace wherry::onednn
