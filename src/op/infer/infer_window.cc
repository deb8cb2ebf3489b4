#include <vector>

#include "base/check.h"
#include "base/strings.h"
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

MetaTensor Conv2dTransposeInferMeta(const MetaTensor& x, const MetaTensor& filter,
                                    const std::vector<const MetaTensor*>& operands, const SymIntArray& output_size,
                                    const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                                    const std::vector<int64_t>& output_padding, const std::string& padding_algorithm,
                                    const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue) {
  const WindowAttributes window = ParseWindow(strides, paddings, padding_algorithm, dilations);
  WHERRY_ENFORCE(groups >= 1, kInvalidArgument, "groups is ", groups, ", expected at least 1");
  WHERRY_ENFORCE(output_padding.empty() || output_padding.size() == 2, kInvalidArgument, "output_padding is [",
                 Join(output_padding, ", "), "], expected [height, width] or nothing");
  for (const int64_t padding : output_padding) {
    WHERRY_ENFORCE(padding >= 0 && padding < (int64_t{1} << 31), kInvalidArgument, "output_padding is [",
                   Join(output_padding, ", "), "], expected numbers from 0");
  }
  WHERRY_ENFORCE(x.dtype == filter.dtype, kInvalidArgument, "x is ", x.DebugString(), ", filter is ",
                 filter.DebugString(), ": expected one type");
  WHERRY_ENFORCE(!filter.rank_known || filter.rank() == 4, kInvalidArgument, "filter is ", filter.DebugString(),
                 ", expected [in channels, out channels / groups, height, width]");
  WHERRY_ENFORCE(!x.rank_known || x.rank() == 4, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected [batch, channels, height, width]");
  if (!x.rank_known || !filter.rank_known) return MetaTensor::UnknownRank(x.dtype);
  WHERRY_ENFORCE(!Conflict(x.dims[1], filter.dims[0]), kInvalidArgument, "x ", DimsText(x.dims), " has ",
                 x.dims[1].DebugString(), " channels, filter ", DimsText(filter.dims), " takes ",
                 filter.dims[0].DebugString());
  WHERRY_ENFORCE(!filter.dims[0].known() || filter.dims[0].value() % groups == 0, kInvalidArgument, "filter ",
                 DimsText(filter.dims), " has ", filter.dims[0].DebugString(), " in channels, not a multiple of ",
                 groups, " groups");
  if (!output_size.known()) return MetaTensor::UnknownRank(x.dtype);
  const std::vector<Dim>& wanted = *output_size.values;
  WHERRY_ENFORCE(wanted.empty() || wanted.size() == 2, kInvalidArgument, "output_size is ", DimsText(wanted),
                 ", expected [height, width] or nothing");
  MetaTensor out(x.dtype, {x.dims[0], filter.dims[1] * Dim(groups), Dim(1), Dim(1)});
  for (size_t i = 0; i < 2; ++i) {
    const int64_t padding = output_padding.empty() ? 0 : output_padding[i];
    const int axis = static_cast<int>(i);
    if (wanted.empty()) {
      out.dims[2 + i] = TransposedOutput(window, axis, x.dims[2 + i], filter.dims[2 + i], padding);
      continue;
    }
    WHERRY_ENFORCE(!wanted[i].known() || wanted[i].value() >= 0, kInvalidArgument, "output_size is ", DimsText(wanted),
                   ", expected sizes from 0");
    out.dims[2 + i] = wanted[i];
  }
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
