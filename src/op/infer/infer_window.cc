#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"
#include "op/infer/window.h"

namespace wherry {

MetaTensor Conv2dInferMeta(const MetaTensor& x, const MetaTensor& filter,
                           const std::vector<const MetaTensor*>& operands, const std::vector<int64_t>& strides,
                           const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                           const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue) {
  const WindowAttributes window = ParseWindow(strides, paddings, padding_algorithm, dilations);
  WHERRY_ENFORCE(groups >= 1, kInvalidArgument, "groups is ", groups, ", expected at least 1");
  WHERRY_ENFORCE(x.dtype == filter.dtype, kInvalidArgument, "x is ", x.DebugString(), ", filter is ",
                 filter.DebugString(), ": expected one type");
  WHERRY_ENFORCE(!filter.rank_known || filter.rank() == 4, kInvalidArgument, "filter is ", filter.DebugString(),
                 ", expected [out channels, in channels / groups, height, width]");
  WHERRY_ENFORCE(!x.rank_known || x.rank() == 4, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected [batch, channels, height, width]");
  if (!x.rank_known || !filter.rank_known) return MetaTensor::UnknownRank(x.dtype);
  WHERRY_ENFORCE(!Conflict(x.dims[1], filter.dims[1] * Dim(groups)), kInvalidArgument, "x ", DimsText(x.dims), " has ",
                 x.dims[1].DebugString(), " channels, filter ", DimsText(filter.dims), " with ", groups,
                 " groups takes ", (filter.dims[1] * Dim(groups)).DebugString());
  WHERRY_ENFORCE(!filter.dims[0].known() || filter.dims[0].value() % groups == 0, kInvalidArgument, "filter ",
                 DimsText(filter.dims), " has ", filter.dims[0].DebugString(), " out channels, not a multiple of ",
                 groups, " groups");
  MetaTensor out(x.dtype, {x.dims[0], filter.dims[0], WindowOutput(window, 0, x.dims[2], filter.dims[2], false),
                           WindowOutput(window, 1, x.dims[3], filter.dims[3], false)});
  out.layout = x.layout;
  CheckEpilogue(epilogue, operands, out, 1);
  return out;
}

MetaTensor Pool2dInferMeta(const MetaTensor& x, const SymIntArray& kernel_size, const std::vector<int64_t>& strides,
                           const std::vector<int64_t>& paddings, bool ceil_mode, bool /*exclusive*/,
                           const std::string& pooling_type, bool global_pooling, bool adaptive,
                           const std::string& padding_algorithm, const std::vector<int64_t>& dilations) {
  const WindowAttributes window = ParseWindow(strides, paddings, padding_algorithm, dilations);
  WHERRY_ENFORCE(pooling_type == "max" || pooling_type == "avg", kInvalidArgument, "pooling_type is '", pooling_type,
                 "', expected 'max' or 'avg'");
  WHERRY_ENFORCE(!x.rank_known || x.rank() == 4, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected [batch, channels, height, width]");
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  MetaTensor out(x.dtype, {x.dims[0], x.dims[1], Dim(1), Dim(1)});
  out.layout = x.layout;
  if (global_pooling) return out;
  if (!kernel_size.known()) return MetaTensor::UnknownRank(x.dtype);
  const std::vector<Dim>& kernel = *kernel_size.values;
  WHERRY_ENFORCE(kernel.size() == 2, kInvalidArgument, "kernel_size is ", DimsText(kernel),
                 ", expected [height, width]");
  for (size_t i = 0; i < 2; ++i) {
    if (adaptive) {
      WHERRY_ENFORCE(!kernel[i].known() || kernel[i].value() >= 0, kInvalidArgument,
                     "kernel_size, the size of the result, is ", DimsText(kernel));
      out.dims[2 + i] = kernel[i];
    } else {
      out.dims[2 + i] = WindowOutput(window, static_cast<int>(i), x.dims[2 + i], kernel[i], ceil_mode);
    }
  }
  return out;
}

}  // namespace wherry
