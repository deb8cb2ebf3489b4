// weight_only_fuse_pass on integers of 4 bits, which have no text form and so no golden.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/device_context.h"
#include "ir/text.h"
#include "pass/optimizer.h"

namespace wherry {
namespace {

std::vector<uint8_t> BytesOf(const DenseTensor& tensor) {
  std::vector<uint8_t> bytes(tensor.nbytes());
  tensor.CopyBytesTo(bytes.data());
  return bytes;
}

// The product's operator after the pass, whose weight [3, 2] has the elements 1, -8, 2, 7, -1, 0 in bytes.
Program Fused(DataType dtype, const char* product) {
  Program program = ParseProgram(std::string(R"(
    weight %w : u8[3,2] = [0, 0, 0, 0, 0, 0]
    weight %s : f32[] = [0.5]
    block main(%x : f32[N,)") + (std::strchr(product, '{') == nullptr ? "3" : "2") +
                                 R"(]) -> (%y) {
      %q = cast(x: %w) {dtype = )" +
                                 (dtype == DataType::kInt4 ? "i8" : "u8") + R"(}
      %f = dequantize_linear(x: %q, scale: %s)
      %y = )" + product + "\n}\n");
  DenseTensor weight(HostAllocator(), TensorMeta{dtype, Shape{3, 2}});
  const uint8_t bytes[] = {0x81, 0x72, 0x0F};
  std::memcpy(weight.mutable_raw_data(), bytes, sizeof(bytes));
  program.weights.at("w") = weight;
  Optimizer optimizer;
  return optimizer.Run(std::move(program), {Place{TARGET(kHost)}}, {}, {"infer_shapes_pass", "weight_only_fuse_pass"});
}

TEST(SmallWeight, FourBitsStay) {
  const Program program = Fused(DataType::kInt4, "matmul(x: %x, y: %f)");
  ASSERT_EQ(program.main().ops.size(), 1U);
  const OpDesc& op = program.main().ops[0];
  EXPECT_EQ(op.Type(), "weight_only_linear");
  EXPECT_EQ(op.GetAttr<int64_t>("bits"), 4);
  EXPECT_TRUE(op.Input("zero_point").empty());
  // Columns are rows of 1, 2, -1 and -8, 7, 0, each more by 8.
  EXPECT_EQ(BytesOf(program.weights.at(op.Input("weight")[0])), (std::vector<uint8_t>{0xA9, 0x07, 0xF0, 0x08}));
}

TEST(SmallWeight, UnsignedOnesHaveTheirZero) {
  const Program program = Fused(DataType::kUInt4, "matmul(x: %x, y: %f) {transpose_y = true}");
  ASSERT_EQ(program.main().ops.size(), 1U);
  const OpDesc& op = program.main().ops[0];
  EXPECT_EQ(BytesOf(program.weights.at(op.Input("weight")[0])), (std::vector<uint8_t>{0x81, 0x72, 0x0F}));
  EXPECT_EQ(BytesOf(program.weights.at(op.Input("zero_point")[0])), (std::vector<uint8_t>{0, 0, 0}));
}

}  // namespace
}  // namespace wherry
