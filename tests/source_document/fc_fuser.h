// From the document on passes: fc_fuser.h and fc_fuse_pass.h. Includes are replaced; "mended" is where its text is
// torn.
#pragma once

#include <memory>

#include "wherry/compat.h"

// clang-format off
namespace paddle {
namespace lite {
namespace mir {
namespace fusion {
class FcFuser : public FuseBase {
 public:
  void BuildPattern() override;
  void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override;
 private:
  cpp::OpDesc GenOpDesc(const key2nodes_t& matched) override;
};  // mended
}  // namespace fusion
}  // namespace mir
}  // namespace lite, mended
}  // namespace paddle

namespace paddle {
namespace lite {
namespace mir {
class FcFusePass : public ProgramPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override;
};  // mended
}  // namespace mir
}  // namespace lite
}  // namespace paddle
// clang-format on
