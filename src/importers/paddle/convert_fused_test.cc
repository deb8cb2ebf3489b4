// Operators that stand for several: what they become, and what is refused.
#include <gtest/gtest.h>

#include "importers/paddle/one_op_test_util.h"

namespace wherry::paddle {
namespace {

TEST(PaddleFused, AttentionOfHeads) {
  const TestOp attention{
      "flash_attn", {{"q", {"q"}}, {"k", {"k"}}, {"v", {"v"}}}, {{"out", {"y"}}}, {{"causal", true}}};
  const Program program = ImportOp({{"q", {2, 5, 4, 8}}, {"k", {2, 7, 2, 8}}, {"v", {2, 7, 2, 8}}}, attention);
  EXPECT_EQ(MetaOf(program), "f32[2,5,4,8]");
  EXPECT_EQ(FindOp(program, "attention").GetAttr<int>("key_heads"), 2);
  EXPECT_TRUE(FindOp(program, "attention").GetAttr<bool>("causal"));
}

TEST(PaddleFused, RotaryEmbeddingTurnsNeighboursOrHalves) {
  for (const bool neighbours : {true, false}) {
    const TestOp rotary{"fused_rotary_position_embedding",
                        {{"q", {"q"}}, {"sin", {"s"}}, {"cos", {"c"}}},
                        {{"out_q", {"y"}}},
                        {{"use_neox_rotary_style", neighbours}}};
    const Program program = ImportOp({{"q", {2, 5, 4, 8}}, {"s", {1, 5, 1, 8}}, {"c", {1, 5, 1, 8}}}, rotary);
    EXPECT_EQ(MetaOf(program), "f32[2,5,4,8]");
    EXPECT_EQ(FindOp(program, "concat").GetAttr<int>("axis"), neighbours ? 4 : 3);
  }
}

TEST(PaddleFused, HalfOfTheColumnsIsAGate) {
  const TestOp act{"fused_bias_act", {{"x", {"x"}}, {"bias", {"b"}}}, {{"out", {"y"}}}, {{"act_method", "swiglu"}}};
  const Program program = ImportOp({{"x", {3, 8}}, {"b", {8}}}, act);
  EXPECT_EQ(MetaOf(program), "f32[3,4]");
  EXPECT_TRUE(Has(program, "silu"));
}

TEST(PaddleFused, NormsOfSums) {
  const TestOp skip{"skip_layernorm",
                    {{"X", {"x"}}, {"Y", {"y"}}, {"Scale", {"s"}}, {"Bias", {"b"}}},
                    {{"Out", {"z"}}},
                    {{"begin_norm_axis", 2}}};
  EXPECT_TRUE(Has(ImportOp({{"x", {2, 3, 4}}, {"y", {2, 3, 4}}, {"s", {4}}, {"b", {4}}}, skip), "layer_norm"));
  const TestOp residual{"fused_bias_dropout_residual_layer_norm",
                        {{"X", {"x"}}, {"Residual", {"r"}}},
                        {{"Y", {"z"}}},
                        {{"dropout_rate", 0.0F}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 3, 4}}, {"r", {2, 3, 4}}}, residual)), "f32[2,3,4]");
}

}  // namespace
}  // namespace wherry::paddle
