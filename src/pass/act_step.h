// Activations as operators and as steps of epilogues and elementwise programs.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "ir/node.h"
#include "op/epilogue.h"

namespace wherry::mir {

// An activation with its parameters (op/epilogue.h).
struct ActStep {
  ActKind kind = ActKind::kIdentity;
  float a = 0;
  float b = 0;
};

// The activation that a statement computes from its `x`, if it is one.
std::optional<ActStep> ActivationOf(const Node::Stmt& stmt);

// The other way: the operator that computes the step, and its attributes.
std::pair<std::string, AttributeMap> OpOf(const ActStep& step);

}  // namespace wherry::mir
