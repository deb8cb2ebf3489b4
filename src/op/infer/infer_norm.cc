#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

MetaTensor Like(const MetaTensor& x) {
  MetaTensor out = x.WithoutValues();
  out.pixel_stride = 0;
  return out;
}

// A parameter has `count` elements, whatever its shape. Symbols fit.
void CheckCount(const MetaTensor* parameter, const char* name, const Dim& count, const MetaTensor& x) {
  if (parameter == nullptr || !parameter->rank_known) return;
  WHERRY_ENFORCE(!Conflict(parameter->numel(), count), kInvalidArgument, name, " is ", parameter->DebugString(),
                 ", expected ", count.DebugString(), " elements for x ", DimsText(x.dims));
}

void CheckChannelRank(const MetaTensor& x) {
  WHERRY_ENFORCE(x.rank() >= 2, kInvalidArgument, "x is ", x.DebugString(), ", expected at least [batch, channels]");
}

}  // namespace

MetaTensor SoftmaxInferMeta(const MetaTensor& x, int axis) {
  // A scalar has one axis of 1 here, as in Paddle.
  if (x.rank_known) NormalizeAxis(axis, x.dims.empty() ? 1 : x.rank(), "axis");
  return Like(x);
}

MetaTensor BatchNormInferMeta(const MetaTensor& x, const MetaTensor& mean, const MetaTensor& variance,
                              const MetaTensor* scale, const MetaTensor* bias, float epsilon) {
  WHERRY_ENFORCE(epsilon >= 0.0F, kInvalidArgument, "epsilon is ", epsilon, ", expected 0 or more");
  if (!x.rank_known) return Like(x);
  CheckChannelRank(x);
  CheckCount(&mean, "mean", x.dims[1], x);
  CheckCount(&variance, "variance", x.dims[1], x);
  CheckCount(scale, "scale", x.dims[1], x);
  CheckCount(bias, "bias", x.dims[1], x);
  return Like(x);
}

MetaTensor LayerNormInferMeta(const MetaTensor& x, const MetaTensor* scale, const MetaTensor* bias, float epsilon,
                              int begin_norm_axis) {
  WHERRY_ENFORCE(epsilon >= 0.0F, kInvalidArgument, "epsilon is ", epsilon, ", expected 0 or more");
  if (!x.rank_known) return Like(x);
  const int begin = NormalizeAxis(begin_norm_axis, x.rank(), "begin_norm_axis");
  const Dim count = Product(std::vector<Dim>(x.dims.begin() + begin, x.dims.end()));
  CheckCount(scale, "scale", count, x);
  CheckCount(bias, "bias", count, x);
  return Like(x);
}

MetaTensor GroupNormInferMeta(const MetaTensor& x, const MetaTensor* scale, const MetaTensor* bias, float epsilon,
                              int groups) {
  WHERRY_ENFORCE(epsilon >= 0.0F, kInvalidArgument, "epsilon is ", epsilon, ", expected 0 or more");
  WHERRY_ENFORCE(groups >= 1, kInvalidArgument, "groups is ", groups, ", expected at least 1");
  if (!x.rank_known) return Like(x);
  CheckChannelRank(x);
  WHERRY_ENFORCE(!x.dims[1].known() || x.dims[1].value() % groups == 0, kInvalidArgument, "x ", DimsText(x.dims),
                 " has ", x.dims[1].DebugString(), " channels, not a multiple of ", groups, " groups");
  CheckCount(scale, "scale", x.dims[1], x);
  CheckCount(bias, "bias", x.dims[1], x);
  return Like(x);
}

MetaTensor InstanceNormInferMeta(const MetaTensor& x, const MetaTensor* scale, const MetaTensor* bias, float epsilon) {
  return GroupNormInferMeta(x, scale, bias, epsilon, 1);
}

}  // namespace wherry
