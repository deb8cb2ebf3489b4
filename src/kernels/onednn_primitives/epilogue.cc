#include "kernels/onednn_primitives/epilogue.h"

#include <utility>

#include "base/check.h"
#include "op/epilogue.h"

namespace wherry::onednn {

namespace {

using dnnl::algorithm;
using dnnl::memory;

// The eltwise post-op of an activation; algorithm::undef when oneDNN has none that computes the same.
struct Eltwise {
  algorithm kind = algorithm::undef;
  float alpha = 0.0F;
  float beta = 0.0F;
};

Eltwise EltwiseOf(const EpilogueStep& step) {
  switch (step.act) {
    case ActKind::kIdentity: return {algorithm::eltwise_linear, 1.0F, 0.0F};
    case ActKind::kRelu: return {algorithm::eltwise_relu, 0.0F, 0.0F};
    case ActKind::kClip: return {algorithm::eltwise_clip, step.a, step.b};
    case ActKind::kLeakyRelu: return {algorithm::eltwise_relu, step.a, 0.0F};
    case ActKind::kElu: return {algorithm::eltwise_elu, step.a, 0.0F};
    case ActKind::kSigmoid: return {algorithm::eltwise_logistic, 0.0F, 0.0F};
    case ActKind::kTanh: return {algorithm::eltwise_tanh, 0.0F, 0.0F};
    case ActKind::kHardSwish: return {algorithm::eltwise_hardswish, 0.0F, 0.0F};
    case ActKind::kSwish: return {algorithm::eltwise_swish, step.a, 0.0F};
    case ActKind::kGelu: return {algorithm::eltwise_gelu_erf, 0.0F, 0.0F};
    case ActKind::kGeluTanh: return {algorithm::eltwise_gelu_tanh, 0.0F, 0.0F};
    case ActKind::kExp: return {algorithm::eltwise_exp, 0.0F, 0.0F};
    case ActKind::kSqrt: return {algorithm::eltwise_sqrt, 0.0F, 0.0F};
    case ActKind::kAbs: return {algorithm::eltwise_abs, 0.0F, 0.0F};
    case ActKind::kSquare: return {algorithm::eltwise_square, 0.0F, 0.0F};
    case ActKind::kNeg: return {algorithm::eltwise_linear, -1.0F, 0.0F};
    case ActKind::kLog: return {algorithm::eltwise_log, 0.0F, 0.0F};
    default: return {};
  }
}

memory::desc ChannelDesc(const Result& result) {
  memory::dims dims(result.dims.size(), 1);
  const auto axis = static_cast<size_t>(result.channel_axis);
  dims[axis] = result.dims[axis];
  memory::dims strides(dims.size(), dims[axis]);
  for (size_t i = axis; i < strides.size(); ++i) strides[i] = 1;
  return {dims, memory::data_type::f32, strides};
}

// The operand of an add step: of the result's shape, in a layout of its own.
memory::desc AddDesc(const Result& result, const MetaTensor& operand) {
  memory::dims strides = result.strides;
  if (operand.layout == DataLayout::kNHWC && strides.size() == 4) {
    const int64_t pixel = result.dims[1];
    strides = {result.dims[2] * result.dims[3] * pixel, 1, result.dims[3] * pixel, pixel};
  }
  return {result.dims, memory::data_type::f32, strides};
}

void AppendBinary(algorithm kind, size_t operand, const memory::desc& desc, PostOps* post_ops) {
  post_ops->operands.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(post_ops->ops.len()) | DNNL_ARG_SRC_1, operand, desc});
  post_ops->ops.append_binary(kind, desc);
}

}  // namespace

std::string TranslateEpilogue(const KernelProblem& problem, const Result& result, bool bias_first, PostOps* post_ops,
                              memory::desc* bias) {
  const auto& epilogue = problem.Attr<Epilogue>("epilogue");
  const std::vector<const MetaTensor*>& operands = problem.InputList("operands");
  for (size_t i = 0; i < epilogue.steps.size(); ++i) {
    const EpilogueStep& step = epilogue.steps[i];
    const auto operand = static_cast<size_t>(step.operand);
    if (step.kind != EpilogueStep::Kind::kAct && (step.operand < 0 || operand >= operands.size())) {
      return "an epilogue step has no operand";
    }
    switch (step.kind) {
      case EpilogueStep::Kind::kBias:
        if (i == 0 && bias_first) {
          *bias = memory::desc({result.dims[static_cast<size_t>(result.channel_axis)]}, memory::data_type::f32,
                               memory::format_tag::a);
          post_ops->operands.push_back({DNNL_ARG_BIAS, operand, *bias});
        } else {
          AppendBinary(algorithm::binary_add, operand, ChannelDesc(result), post_ops);
        }
        break;
      case EpilogueStep::Kind::kScale:
        AppendBinary(algorithm::binary_mul, operand, ChannelDesc(result), post_ops);
        break;
      case EpilogueStep::Kind::kAdd:
        AppendBinary(algorithm::binary_add, operand, AddDesc(result, *operands[operand]), post_ops);
        break;
      case EpilogueStep::Kind::kAct: {
        const Eltwise eltwise = EltwiseOf(step);
        if (eltwise.kind == algorithm::undef) return StrCat("oneDNN has no post-op for ", ToString(step.act));
        post_ops->ops.append_eltwise(1.0F, eltwise.kind, eltwise.alpha, eltwise.beta);
        break;
      }
    }
  }
  return "";
}

}  // namespace wherry::onednn
