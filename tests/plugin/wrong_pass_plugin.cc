// A plug-in with a pass that is wrong on purpose: every tanh becomes a sigmoid.
#include "wherry/extend.h"

namespace {

class WrongTanhPass : public wherry::mir::ProgramPass {
 public:
  void Apply(const std::unique_ptr<wherry::mir::SSAGraph>& graph) override {
    for (wherry::mir::Node* stmt : graph->StmtTopologicalOrder()) {
      if (stmt->AsStmt().op_type() != "tanh") continue;
      wherry::OpDesc desc("sigmoid");
      desc.SetInput("x", {stmt->AsStmt().input("x")->AsArg().name});
      desc.SetOutput("out", {stmt->AsStmt().output()->AsArg().name});
      graph->NewStmt(desc, stmt);
      graph->EraseStmt(stmt);
    }
  }
};

}  // namespace

REGISTER_MIR_PASS(wrong_tanh_pass, WrongTanhPass).BindTargets({TARGET(kAny)});
