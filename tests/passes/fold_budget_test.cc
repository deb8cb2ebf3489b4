// fold_constants_pass by what folding may take, which a golden cannot set.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "ir/ssa_graph.h"
#include "ir/text.h"
#include "pass/optimizer.h"
#include "pass/pass_registry.h"

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

// Of a chain only the last link stays: a small file may have links of megabytes.
TEST(FoldBudget, ChainsDoNotPileUp) {
  constexpr int kLinks = 64;
  std::string text = "weight %v0 : f32[4] = [1, 2, 3, 4]\nblock main(%x : f32[4]) -> (%y) {\n";
  for (int i = 0; i < kLinks; ++i) text += StrCat("%v", i + 1, " = exp(x: %v", i, ")\n");
  text += StrCat("%y = add(x: %x, y: %v", kLinks, ")\n}\n");
  const std::unique_ptr<mir::SSAGraph> graph = mir::SSAGraph::FromProgram(ParseProgram(text));
  for (const std::string_view name : {"infer_shapes_pass", "fold_constants_pass"}) {
    for (const PassDescriptor* pass : BuiltinPasses()) {
      if (pass->name == name) std::unique_ptr<mir::Pass>(pass->create())->Apply(graph);
    }
  }
  EXPECT_EQ(graph->stmt_count(), 1U);
  EXPECT_LE(graph->shared().weights.size(), 2U);  // what the file has, and the last
}

}  // namespace
}  // namespace wherry
