// fold_constants_pass by what folding may take, which a golden cannot set.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ir/text.h"
#include "pass/optimizer.h"

namespace wherry {
namespace {

std::vector<std::string> TypesLeft(double max_folding_us) {
  Program program = ParseProgram(R"(
    weight %w : f32[2,2] = [1, 2, 3, 4]
    block main(%x : f32[2,2]) -> (%y) {
      %e = exp(x: %w)
      %p = matmul(x: %e, y: %w)
      %y = add(x: %x, y: %p)
    }
  )");
  OptimizerOptions options;
  options.context.max_folding_us = max_folding_us;
  std::vector<std::string> types;
  const Program folded = Optimizer(options).Run(std::move(program), {Place{TARGET(kHost)}}, {},
                                                {"infer_shapes_pass", "fold_constants_pass"});
  for (const OpDesc& op : folded.main().ops) types.push_back(op.Type());
  return types;
}

TEST(FoldBudget, FoldsWhatFits) { EXPECT_EQ(TypesLeft(1e6), (std::vector<std::string>{"add"})); }

TEST(FoldBudget, LeavesWhatWouldTakeLonger) {
  // The 16 bytes of weights allow 0.3 us.
  EXPECT_EQ(TypesLeft(-0.3), (std::vector<std::string>{"exp", "matmul", "add"}));
}

}  // namespace
}  // namespace wherry
