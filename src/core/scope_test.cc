#include "core/scope.h"

#include <gtest/gtest.h>

#include "wherry/error.h"

namespace wherry {
namespace {

TEST(Scope, FindsInItselfAndItsParents) {
  Scope parent;
  Variable* x = parent.Var("x");
  const Scope child(&parent);
  EXPECT_EQ(child.FindVar("x"), x);
  EXPECT_EQ(child.FindVar("y"), nullptr);
  EXPECT_TRUE(child.LocalVarNames().empty());
  EXPECT_EQ(parent.Var("x"), x);
}

TEST(Scope, AChildsVariableHidesTheParents) {
  Scope parent;
  parent.Var("x");
  Scope child(&parent);
  Variable* mine = child.Var("x");
  EXPECT_EQ(child.FindVar("x"), mine);
  EXPECT_NE(parent.FindVar("x"), mine);
}

TEST(Scope, AbsentNamesTheNearest) {
  Scope parent;
  parent.Var("conv1_bias");
  const Scope child(&parent);
  try {
    child.GetVar("conv1_bais");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_EQ(error.message(), "no variable 'conv1_bais' in the scope; did you mean 'conv1_bias'?");
  }
}

TEST(Variable, IsATensorOrASequence) {
  Scope scope;
  DenseTensor* tensor = scope.Tensor("x");
  tensor->set_meta({DataType::kFloat, Shape{2}, DataLayout::kNCHW, 0});
  EXPECT_EQ(scope.GetVar("x").tensor().shape(), Shape{2});
  EXPECT_THROW(scope.GetVar("x").sequence(), Error);
  scope.Var("x")->mutable_sequence()->resize(3);
  EXPECT_FALSE(scope.GetVar("x").IsTensor());
  EXPECT_EQ(scope.GetVar("x").sequence().size(), 3U);
  EXPECT_EQ(scope.Var("x")->mutable_sequence()->size(), 3U);
  EXPECT_THROW(scope.Tensor("x"), Error);
}

}  // namespace
}  // namespace wherry
