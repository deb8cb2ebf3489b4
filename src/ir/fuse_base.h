// FuseBase: the frame of a fusion. A fuser says what to look for and what to put in its place:
//
//   class FcFuser : public FuseBase {
//     void BuildPattern() override;                                              // VarNode, OpNode, >>
//     bool Check(SSAGraph*, const key2nodes_t&) override;                        // optional: declines a match, with no
//     effect void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) override;  // usually:
//     graph->NewStmt(GenOpDesc(matched), ...) OpDesc GenOpDesc(const key2nodes_t& matched) override;
//   };
//   FcFuser fuser;
//   fuser(graph.get());
#pragma once

#include <string>

#include "ir/pattern_matcher.h"

namespace wherry::mir {

class FuseBase {
 public:
  virtual ~FuseBase() = default;

  // Matches and replaces; returns how many were replaced. The statements of the pattern and Intermediates are removed
  // after InsertNewNode; pattern outputs must by then be produced by the new statement (NewStmt by names takes them
  // over).
  int operator()(SSAGraph* graph);

 protected:
  virtual void BuildPattern() = 0;
  // False leaves the match as it is.
  virtual bool Check(SSAGraph* /*graph*/, const key2nodes_t& /*matched*/) { return true; }
  virtual void InsertNewNode(SSAGraph* graph, const key2nodes_t& matched) = 0;
  virtual OpDesc GenOpDesc(const key2nodes_t& matched) = 0;

  PMNode* VarNode(const std::string& key) { return pattern_.NewNode(key, false); }
  PMNode* OpNode(const std::string& key) { return pattern_.NewNode(key, true); }
  PMNode* OpNode(const std::string& key, const std::string& type) { return pattern_.NewNode(key, true)->AsOp(type); }

 private:
  PMPattern pattern_;
};

}  // namespace wherry::mir
