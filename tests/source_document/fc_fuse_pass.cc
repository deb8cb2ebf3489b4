// From the document on passes: fc_fuse_pass.cc, and the functions of fc_fuser.cc, which it describes without their
// text.
#include "source_document/fc_fuser.h"

namespace paddle::lite::mir::fusion {

// "The pattern is mul + elementwise add."
void FcFuser::BuildPattern() {
  PMNode* x = VarNode("x")->AsInput();
  PMNode* w = VarNode("W")->assert_is_persistable_var();
  PMNode* b = VarNode("b")->assert_is_persistable_var();
  PMNode* mul = OpNode("mul", "mul");
  PMNode* mul_out = VarNode("mul_out")->AsIntermediate();
  PMNode* add = OpNode("add", "elementwise_add");
  PMNode* out = VarNode("Out")->AsOutput();
  std::vector<PMNode*>{x, w} >> *mul >> *mul_out;
  std::vector<PMNode*>{mul_out, b} >> *add >> *out;
  x->AsParam(mul, "x");
}

// "The operator fc."
cpp::OpDesc FcFuser::GenOpDesc(const key2nodes_t& matched) {
  cpp::OpDesc op_desc;
  op_desc.SetType("fc");
  op_desc.SetInput("input", {matched.at("x")->AsArg().name});
  op_desc.SetInput("w", {matched.at("W")->AsArg().name});
  op_desc.SetInput("operands", {matched.at("b")->AsArg().name});
  op_desc.SetOutput("out", {matched.at("Out")->AsArg().name});
  op_desc.SetAttr("in_num_col_dims", matched.at("mul")->AsStmt().GetAttr<int>("x_num_col_dims"));
  EpilogueStep bias;
  bias.kind = EpilogueStep::Kind::kBias;
  bias.operand = 0;
  op_desc.SetAttr("epilogue", Epilogue{{bias}});
  return op_desc;
}

// "Puts the new operator in the place of the pattern."
void FcFuser::InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) {
  graph->NewStmt(GenOpDesc(matched), matched.at("mul"));
}

}  // namespace paddle::lite::mir::fusion

// clang-format off
namespace paddle {
namespace lite {
namespace mir {
void FcFusePass::Apply(const std::unique_ptr<SSAGraph>& graph) {
  fusion::FcFuser fuser;
  fuser(graph.get());
}  // mended
}  // namespace mir
}  // namespace lite
}  // namespace paddle
REGISTER_MIR_PASS(lite_fc_fuse_pass, paddle::lite::mir::FcFusePass)
    .BindTargets({TARGET(kAny)})  // FcFusePass 可以在任何硬件平台执行
    .BindKernel("fc");            // FcFusePass 绑定 fc_kernel
// clang-format on
