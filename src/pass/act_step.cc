#include "pass/act_step.h"

#include "base/check.h"

namespace wherry::mir {
namespace {

struct Plain {
  const char* op;
  ActStep step;
};

// Operators without parameters. The first of a kind is what OpOf gives.
constexpr Plain kPlain[] = {
    {"relu", {ActKind::kRelu, 0, 0}},
    {"relu6", {ActKind::kClip, 0, 6}},
    {"sigmoid", {ActKind::kSigmoid, 0, 0}},
    {"tanh", {ActKind::kTanh, 0, 0}},
    {"hardswish", {ActKind::kHardSwish, 0, 0}},
    {"silu", {ActKind::kSwish, 1, 0}},
    {"mish", {ActKind::kMish, 0, 0}},
    {"exp", {ActKind::kExp, 0, 0}},
    {"sqrt", {ActKind::kSqrt, 0, 0}},
    {"abs", {ActKind::kAbs, 0, 0}},
    {"erf", {ActKind::kErf, 0, 0}},
    {"square", {ActKind::kSquare, 0, 0}},
    {"reciprocal", {ActKind::kReciprocal, 0, 0}},
    {"neg", {ActKind::kNeg, 0, 0}},
    {"log", {ActKind::kLog, 0, 0}},
    {"rsqrt", {ActKind::kRsqrt, 0, 0}},
    {"floor", {ActKind::kFloor, 0, 0}},
    {"ceil", {ActKind::kCeil, 0, 0}},
    {"round", {ActKind::kRound, 0, 0}},
    {"sign", {ActKind::kSign, 0, 0}},
};

double Number(const Node::Stmt& stmt, const char* name) { return stmt.GetAttr<Scalar>(name).to<double>(); }

}  // namespace

std::optional<ActStep> ActivationOf(const Node::Stmt& stmt) {
  const std::string op = stmt.op_type();
  for (const Plain& plain : kPlain) {
    if (op == plain.op) return plain.step;
  }
  const auto number = [&stmt](const char* name) { return stmt.GetAttr<float>(name); };
  if (op == "leaky_relu") return ActStep{ActKind::kLeakyRelu, number("negative_slope"), 0};
  if (op == "elu") return ActStep{ActKind::kElu, number("alpha"), 0};
  if (op == "swish") return ActStep{ActKind::kSwish, number("beta"), 0};
  if (op == "hardsigmoid") return ActStep{ActKind::kHardSigmoid, number("slope"), number("offset")};
  if (op == "softplus") return ActStep{ActKind::kSoftplus, number("beta"), number("threshold")};
  if (op == "gelu") return ActStep{stmt.GetAttr<bool>("approximate") ? ActKind::kGeluTanh : ActKind::kGelu, 0, 0};
  if (op == "clip" && stmt.HasAttr("min") && stmt.HasAttr("max")) {
    return ActStep{ActKind::kClip, static_cast<float>(Number(stmt, "min")), static_cast<float>(Number(stmt, "max"))};
  }
  if (op == "scale" && stmt.HasAttr("scale") && stmt.HasAttr("bias")) {
    const double scale = Number(stmt, "scale");
    const double bias = Number(stmt, "bias") * (stmt.GetAttr<bool>("bias_after_scale") ? 1 : scale);
    return ActStep{ActKind::kLinear, static_cast<float>(scale), static_cast<float>(bias)};
  }
  return std::nullopt;
}

std::pair<std::string, AttributeMap> OpOf(const ActStep& step) {
  const double a = step.a;
  const double b = step.b;
  switch (step.kind) {
    case ActKind::kIdentity: return {"assign", {}};
    case ActKind::kClip: return {"clip", {{"min", Scalar(step.a)}, {"max", Scalar(step.b)}}};
    case ActKind::kLeakyRelu: return {"leaky_relu", {{"negative_slope", a}}};
    case ActKind::kElu: return {"elu", {{"alpha", a}}};
    case ActKind::kHardSigmoid: return {"hardsigmoid", {{"slope", a}, {"offset", b}}};
    case ActKind::kSwish: return {"swish", {{"beta", a}}};
    case ActKind::kGelu: return {"gelu", {}};
    case ActKind::kGeluTanh: return {"gelu", {{"approximate", true}}};
    case ActKind::kSoftplus: return {"softplus", {{"beta", a}, {"threshold", b}}};
    case ActKind::kLinear: return {"scale", {{"scale", Scalar(step.a)}, {"bias", Scalar(step.b)}}};
    default: break;
  }
  for (const Plain& plain : kPlain) {
    if (plain.step.kind == step.kind) return {plain.op, {}};
  }
  Throw(ErrorCode::kInternal, "bug in Wherry: no operator for the activation ", ToString(step.kind));
}

}  // namespace wherry::mir
