// Shapes and types of what operators on matrices, signals and losses become.
#include <gtest/gtest.h>

#include "base/error_test_util.h"
#include "importers/paddle/one_op_test_util.h"

namespace wherry::paddle {
namespace {

using Numbers = std::vector<int64_t>;
constexpr int kComplex64 = 23;
constexpr int kInt64 = 3;

TEST(PaddleLinalg, Products) {
  EXPECT_EQ(
      MetaOf(ImportOp({{"x", {2, 3}}, {"y", {4, 5}}}, {"kron", {{"X", {"x"}}, {"Y", {"y"}}}, {{"Out", {"o"}}}, {}})),
      "f32[8,15]");
  EXPECT_EQ(
      MetaOf(ImportOp({{"x", {2, 3}}, {"y", {2, 3}}}, {"cross", {{"X", {"x"}}, {"Y", {"y"}}}, {{"Out", {"o"}}}, {}})),
      "f32[2,3]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 3}}, {"y", {3}}}, {"mv", {{"X", {"x"}}, {"Vec", {"y"}}}, {{"Out", {"o"}}}, {}})),
            "f32[2]");
  const TestOp einsum{"einsum", {{"Operands", {"x", "y"}}}, {{"Out", {"o"}}}, {{"equation", std::string("ij,kj->ki")}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 3}}, {"y", {4, 3}}}, einsum)), "f32[4,2]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {3, 3}}}, {"matrix_power", {{"X", {"x"}}}, {{"Out", {"o"}}}, {{"n", -3}}})),
            "f32[3,3]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {3, 3}}}, {"matrix_power", {{"X", {"x"}}}, {{"Out", {"o"}}}, {{"n", 0}}})),
            "f32[3,3]");
}

TEST(PaddleLinalg, DiagonalsAndFactors) {
  EXPECT_EQ(MetaOf(ImportOp({{"x", {3}}}, {"diag_v2", {{"X", {"x"}}}, {{"Out", {"o"}}}, {{"offset", -1}}})),
            "f32[4,4]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {3, 5}}}, {"diag_v2", {{"X", {"x"}}}, {{"Out", {"o"}}}, {{"offset", 3}}})),
            "f32[2]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {3, 5, 2}}}, {"trace", {{"Input", {"x"}}}, {{"Out", {"o"}}}, {}})), "f32[2]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {4, 3, 3}}}, {"slogdeterminant", {{"Input", {"x"}}}, {{"Out", {"o"}}}, {}})),
            "f32[2,4]");
  EXPECT_EQ(
      MetaOf(ImportOp({{"x", {3, 3}}, {"y", {3}}}, {"solve", {{"X", {"x"}}, {"Y", {"y"}}}, {{"Out", {"o"}}}, {}})),
      "f32[3]");
  const TestOp triangle{
      "tril_indices", {}, {{"out", {"o"}}}, {{"rows", 3}, {"cols", 2}, {"offset", 0}, {"dtype", kInt64}}};
  EXPECT_EQ(MetaOf(ImportOp({}, triangle)), "i64[2,5] = [0, 1, 1, 2, 2, 0, 0, 1, 0, 1]");
}

TEST(PaddleLinalg, ADiagonalIsFilledWhereThereIsRoom) {
  const auto fill = [](const std::vector<int64_t>& dims, int64_t offset) {
    return ImportOp({{"x", dims}},
                    {"fill_diagonal", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"value", 1.5F}, {"offset", offset}}});
  };
  EXPECT_EQ(MetaOf(fill({3, 4}, 1)), "f32[3,4]");
  EXPECT_EQ(MetaOf(fill({0, 4}, 0)), "f32[0,4]");
  for (const auto& dims : {std::vector<int64_t>{1 << 11, 1 << 11}, std::vector<int64_t>{1LL << 32, 1LL << 32}}) {
    const std::string text = ErrorText([&] { fill(dims, 0); });
    EXPECT_NE(text.find("it fills a tensor of more than 1048576 elements"), std::string::npos) << text;
  }
  const std::string text = ErrorText([&] { fill({3, 4}, INT64_MIN); });
  EXPECT_NE(text.find("attribute offset is -9223372036854775808 for 4 columns"), std::string::npos) << text;
}

TEST(PaddleLinalg, FusedFunctions) {
  const TestOp fused{"fused_elemwise_activation",
                     {{"X", {"x"}}, {"Y", {"y"}}},
                     {{"Out", {"o"}}},
                     {{"functor_list", std::vector<std::string>{"relu", "elementwise_mul"}}}};
  const Program program = ImportOp({{"x", {2, 3}}, {"y", {3}}}, fused);
  EXPECT_EQ(FindOp(program, "relu").Input("x"), FindOp(program, "multiply").Output("out"));
  EXPECT_EQ(
      MetaOf(ImportOp(
          {{"x", {2, 3}}},
          {"frobenius_norm", {{"X", {"x"}}}, {{"Out", {"o"}}}, {{"dim", std::vector<int>{1}}, {"keep_dim", true}}})),
      "f32[2,1]");
}

TEST(PaddleSignal, TransformsHaveTheirNormalization) {
  const auto r2c = [](const std::string& normalization, bool forward) {
    return TestOp{
        "fft_r2c",
        {{"X", {"x"}}},
        {{"Out", {"o"}}},
        {{"axes", Numbers{0, 1}}, {"normalization", normalization}, {"forward", forward}, {"onesided", true}}};
  };
  EXPECT_EQ(MetaOf(ImportOp({{"x", {4, 8}}}, r2c("backward", true))), "c64[4,5]");
  const Program scaled = ImportOp({{"x", {2, 8}}}, r2c("ortho", true));
  EXPECT_EQ(FindOp(scaled, "scale").GetAttr<Scalar>("scale").to<double>(), 0.25);
  const TestOp c2r{
      "fft_c2r",
      {{"X", {"x"}}},
      {{"Out", {"o"}}},
      {{"axes", Numbers{1}}, {"normalization", std::string("backward")}, {"forward", false}, {"last_dim_size", 7}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 4}, kComplex64}}, c2r)), "f32[2,7]");
}

TEST(PaddleSignal, FramesAndTheirSum) {
  const std::vector<std::pair<std::string, TestAttr>> attrs = {{"frame_length", 4}, {"hop_length", 2}, {"axis", -1}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {3, 10}}}, {"frame", {{"X", {"x"}}}, {{"Out", {"o"}}}, attrs})), "f32[3,4,4]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {3, 4, 4}}}, {"overlap_add", {{"X", {"x"}}}, {{"Out", {"o"}}}, attrs})),
            "f32[3,10]");
}

TEST(PaddleSignal, ComplexNumbersHavePlainParts) {
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 4}, kComplex64}}, {"abs", {{"X", {"x"}}}, {{"Out", {"o"}}}, {}})), "f32[2,4]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 4}, kComplex64}}, {"angle", {{"X", {"x"}}}, {{"Out", {"o"}}}, {}})), "f32[2,4]");
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2}}, {"y", {2}}}, {"complex", {{"X", {"x"}}, {"Y", {"y"}}}, {{"Out", {"o"}}}, {}})),
            "c64[2]");
}

TEST(PaddleLoss, ClassesAndDistributions) {
  const TestOp hard{"softmax_with_cross_entropy",
                    {{"Logits", {"x"}}, {"Label", {"l"}}},
                    {{"Softmax", {"s"}}, {"Loss", {"o"}}},
                    {{"soft_label", false}, {"ignore_index", -100}, {"axis", 1}}};
  const Program program = ImportOp({{"x", {2, 5, 3}}, {"l", {2, 1, 3}, kInt64}}, hard);
  EXPECT_EQ(MetaOf(program, 0), "f32[2,5,3]");
  EXPECT_EQ(MetaOf(program, 1), "f32[2,1,3]");
  const TestOp divergence{
      "kldiv_loss", {{"X", {"x"}}, {"Target", {"t"}}}, {{"Loss", {"o"}}}, {{"reduction", std::string("batchmean")}}};
  EXPECT_EQ(MetaOf(ImportOp({{"x", {2, 5}}, {"t", {2, 5}}}, divergence)), "f32[]");
}

TEST(PaddleLoss, HingesAreOpenToTheSideOfTheLabel) {
  const TestOp hinge{"hinge_loss", {{"Logits", {"x"}}, {"Labels", {"l"}}}, {{"Loss", {"o"}}}, {}};
  const Program program = ImportOp({{"x", {4, 1}}, {"l", {4, 1}}}, hinge);
  EXPECT_EQ(MetaOf(program), "f32[4,1]");
  // Labels of 0 and 1 become signs, which the logits are multiplied with.
  const auto& ops = program.main().ops;
  ASSERT_EQ(ops.size(), 4U);
  EXPECT_EQ(ops[0].GetAttr<Scalar>("scale").to<double>(), 2.0);
  EXPECT_EQ(ops[0].GetAttr<Scalar>("bias").to<double>(), -1.0);
  EXPECT_EQ(ops[1].Type(), "multiply");
  EXPECT_EQ(ops[2].GetAttr<Scalar>("scale").to<double>(), -1.0);
  EXPECT_EQ(ops[2].GetAttr<Scalar>("bias").to<double>(), 1.0);
  EXPECT_EQ(ops[3].Type(), "relu");
}

}  // namespace
}  // namespace wherry::paddle
