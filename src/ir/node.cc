#include "ir/node.h"

#include "base/check.h"
#include "ir/ssa_graph.h"

namespace wherry::mir {

// Here, where SSAGraph is complete.
Node::Stmt::Stmt() = default;
Node::Stmt::~Stmt() = default;

Node::Arg& Node::AsArg() {
  WHERRY_CHECK(IsArg(), "statement ", stmt_.op_type(), " is used as an argument");
  return arg_;
}
const Node::Arg& Node::AsArg() const { return const_cast<Node*>(this)->AsArg(); }
Node::Stmt& Node::AsStmt() {
  WHERRY_CHECK(IsStmt(), "argument ", arg_.name, " is used as a statement");
  return stmt_;
}
const Node::Stmt& Node::AsStmt() const { return const_cast<Node*>(this)->AsStmt(); }

namespace {

const NodeList& ListOf(const Binding& binding, const std::string& param) {
  static const NodeList none;
  const auto it = binding.find(param);
  return it == binding.end() ? none : it->second;
}

}  // namespace

const NodeList& Node::Stmt::input_list(const std::string& param) const { return ListOf(inputs_, param); }
const NodeList& Node::Stmt::output_list(const std::string& param) const { return ListOf(outputs_, param); }

Node* Node::Stmt::input(const std::string& param) const {
  const NodeList& list = input_list(param);
  return list.empty() ? nullptr : list[0];
}

Node* Node::Stmt::output(const std::string& param) const {
  const NodeList& list = output_list(param);
  return list.empty() ? nullptr : list[0];
}

OpDesc Node::Stmt::desc() const {
  const auto names = [](const NodeList& nodes) {
    std::vector<std::string> result;
    result.reserve(nodes.size());
    for (const Node* node : nodes) result.push_back(node->AsArg().name);
    return result;
  };
  OpDesc desc(schema_->name);
  for (const auto& [param, nodes] : inputs_) desc.SetInput(param, names(nodes));
  for (const auto& [param, nodes] : outputs_) desc.SetOutput(param, names(nodes));
  for (const auto& [name, value] : attrs_) desc.SetAttribute(name, value);
  desc.SetLabel(label_);
  return desc;
}

}  // namespace wherry::mir
