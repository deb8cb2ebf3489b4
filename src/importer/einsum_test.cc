#include "importer/einsum.h"

#include <gtest/gtest.h>

#include "base/file_test_util.h"

namespace wherry {
namespace {

using Dims = std::vector<std::vector<Dim>>;

// The shape of the result for operands of these shapes, and the types of the operators that give it.
struct Lowered {
  std::string shape;
  std::vector<std::string> types;
};
Lowered Lower(const std::string& equation, const Dims& operands) {
  ProgramBuilder builder;
  std::vector<std::string> names;
  for (const std::vector<Dim>& dims : operands) {
    names.push_back(builder.main().AddInput("x", MetaTensor(DataType::kFloat, dims)));
  }
  ForeignOp op;
  op.format = "onnx";
  op.type = "Einsum";
  ConvertContext context(op, &builder.main());
  const std::string result = LowerEinsum(&context, equation, names);
  Lowered lowered;
  lowered.shape = builder.main().Meta(result).DebugString();
  builder.main().SetOutputs({result});
  const Program program = builder.Finish();
  for (const OpDesc& desc : program.main().ops) lowered.types.push_back(desc.Type());
  return lowered;
}
using Types = std::vector<std::string>;

TEST(Einsum, ProductsAreMatmuls) {
  EXPECT_EQ(Lower("bij, bjk -> bik", {{5, 2, 3}, {5, 3, 4}}).shape, "f32[5,2,4]");
  EXPECT_EQ(Lower("bij,bjk->bik", {{5, 2, 3}, {5, 3, 4}}).types, Types{"matmul"});
  EXPECT_EQ(Lower("ij,jk", {{2, 3}, {3, 4}}).shape, "f32[2,4]");
  EXPECT_EQ(Lower("i,j->ij", {{2}, {3}}).types, (Types{"unsqueeze", "unsqueeze", "multiply"}));
  EXPECT_EQ(Lower("i,i->", {{3}, {3}}).shape, "f32[]");
  EXPECT_EQ(Lower("abcd,cdef->abef", {{2, 3, 4, 5}, {4, 5, 6, 7}}).shape, "f32[2,3,6,7]");
}

TEST(Einsum, DiagonalsSumsAndEllipses) {
  EXPECT_EQ(Lower("ii->i", {{3, 3}}).types, Types{"diagonal"});
  EXPECT_EQ(Lower("iij->j", {{3, 3, 4}}).shape, "f32[4]");
  EXPECT_EQ(Lower("ij->ji", {{3, 4}}).types, Types{"transpose"});
  EXPECT_EQ(Lower("...ij,...jk->...ik", {{1, 2, 3}, {6, 5, 3, 4}}).shape, "f32[6,5,2,4]");
  EXPECT_EQ(Lower("i...->...", {{3, 4, 5}}).shape, "f32[4,5]");
  EXPECT_EQ(Lower("ba", {{3, 4}}).shape, "f32[4,3]");
  EXPECT_EQ(Lower("ij,kj,lk->il", {{2, 3}, {4, 3}, {5, 4}}).shape, "f32[2,5]");
}

TEST(Einsum, OneStandsForEverySize) {
  EXPECT_EQ(Lower("ab,bc->ac", {{2, 3}, {1, 5}}).shape, "f32[2,5]");
  EXPECT_EQ(Lower("ab,bc->ac", {{2, 3}, {1, 5}}).types, (Types{"sum", "sum", "unsqueeze", "unsqueeze", "multiply"}));
  EXPECT_EQ(Lower("abk,kb->ab", {{2, 1, 3}, {3, 4}}).shape, "f32[2,4]");
}

TEST(Einsum, WhatIsNoEquation) {
  for (const char* equation : {"ij,jk->ix", "ij->ii", "ijk,jk->i", "i1,jk->i", "ij->i", "ij,jk,kl->il"}) {
    EXPECT_EQ(ErrorOf([&] { Lower(equation, {{2, 3}, {3, 4}}); }).code(), ErrorCode::kCorrupt) << equation;
  }
}

}  // namespace
}  // namespace wherry
