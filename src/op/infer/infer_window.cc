#include <utility>
#include <vector>

#include "base/check.h"
#include "base/strings.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"
#include "op/infer/window.h"

namespace wherry {

namespace {

// The tensors of a convolution of `axes` spatial axes. False if a rank is not known.
bool CheckConvTensors(int axes, const MetaTensor& x, const MetaTensor& filter, int groups, const char* filter_form) {
  WHERRY_ENFORCE(groups >= 1, kInvalidArgument, "groups is ", groups, ", expected at least 1");
  WHERRY_ENFORCE(x.dtype == filter.dtype, kInvalidArgument, "x is ", x.DebugString(), ", filter is ",
                 filter.DebugString(), ": expected one type");
  WHERRY_ENFORCE(!filter.rank_known || filter.rank() == axes + 2, kInvalidArgument, "filter is ", filter.DebugString(),
                 ", expected ", filter_form, " and ", axes, " axes");
  WHERRY_ENFORCE(!x.rank_known || x.rank() == axes + 2, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected batch, channels and ", axes, " axes");
  return x.rank_known && filter.rank_known;
}

MetaTensor ConvInferMeta(int axes, const MetaTensor& x, const MetaTensor& filter,
                         const std::vector<const MetaTensor*>& operands, const WindowAttributes& window, int groups,
                         const Epilogue& epilogue) {
  if (!CheckConvTensors(axes, x, filter, groups, "out channels, in channels / groups"))
    return MetaTensor::UnknownRank(x.dtype);
  WHERRY_ENFORCE(!Conflict(x.dims[1], filter.dims[1] * Dim(groups)), kInvalidArgument, "x ", DimsText(x.dims), " has ",
                 x.dims[1].DebugString(), " channels, filter ", DimsText(filter.dims), " with ", groups,
                 " groups takes ", (filter.dims[1] * Dim(groups)).DebugString());
  WHERRY_ENFORCE(!filter.dims[0].known() || filter.dims[0].value() % groups == 0, kInvalidArgument, "filter ",
                 DimsText(filter.dims), " has ", filter.dims[0].DebugString(), " out channels, not a multiple of ",
                 groups, " groups");
  MetaTensor out(x.dtype, {x.dims[0], filter.dims[0]});
  for (int i = 0; i < axes; ++i) {
    const size_t d = static_cast<size_t>(i) + 2;
    out.dims.push_back(WindowOutput(window, i, x.dims[d], filter.dims[d], false));
  }
  out.layout = x.layout;
  CheckEpilogue(epilogue, operands, out, 1);
  return out;
}

MetaTensor ConvTransposeInferMeta(int axes, const MetaTensor& x, const MetaTensor& filter,
                                  const std::vector<const MetaTensor*>& operands, const SymIntArray& output_size,
                                  const WindowAttributes& window, const std::vector<int64_t>& output_padding,
                                  int groups, const Epilogue& epilogue) {
  const auto count = static_cast<size_t>(axes);
  WHERRY_ENFORCE(output_padding.empty() || output_padding.size() == count, kInvalidArgument, "output_padding is [",
                 Join(output_padding, ", "), "], expected a number for each of ", axes, " axes or nothing");
  for (const int64_t padding : output_padding) {
    WHERRY_ENFORCE(padding >= 0 && padding < (int64_t{1} << 31), kInvalidArgument, "output_padding is [",
                   Join(output_padding, ", "), "], expected numbers from 0");
  }
  if (!CheckConvTensors(axes, x, filter, groups, "in channels, out channels / groups"))
    return MetaTensor::UnknownRank(x.dtype);
  WHERRY_ENFORCE(!Conflict(x.dims[1], filter.dims[0]), kInvalidArgument, "x ", DimsText(x.dims), " has ",
                 x.dims[1].DebugString(), " channels, filter ", DimsText(filter.dims), " takes ",
                 filter.dims[0].DebugString());
  WHERRY_ENFORCE(!filter.dims[0].known() || filter.dims[0].value() % groups == 0, kInvalidArgument, "filter ",
                 DimsText(filter.dims), " has ", filter.dims[0].DebugString(), " in channels, not a multiple of ",
                 groups, " groups");
  if (!output_size.known()) return MetaTensor::UnknownRank(x.dtype);
  const std::vector<Dim>& wanted = *output_size.values;
  WHERRY_ENFORCE(wanted.empty() || wanted.size() == count, kInvalidArgument, "output_size is ", DimsText(wanted),
                 ", expected a number for each of ", axes, " axes or nothing");
  MetaTensor out(x.dtype, {x.dims[0], filter.dims[1] * Dim(groups)});
  for (size_t i = 0; i < count; ++i) {
    const int64_t padding = output_padding.empty() ? 0 : output_padding[i];
    if (wanted.empty()) {
      out.dims.push_back(TransposedOutput(window, static_cast<int>(i), x.dims[2 + i], filter.dims[2 + i], padding));
      continue;
    }
    WHERRY_ENFORCE(!wanted[i].known() || wanted[i].value() >= 0, kInvalidArgument, "output_size is ", DimsText(wanted),
                   ", expected sizes from 0");
    out.dims.push_back(wanted[i]);
  }
  out.layout = x.layout;
  CheckEpilogue(epilogue, operands, out, 1);
  return out;
}

// What every pool gives along its spatial axes.
struct PoolWindow {
  int axes;
  WindowAttributes window;
  bool ceil_mode;
  bool global_pooling;
  bool adaptive;
};

MetaTensor PoolInferMeta(const PoolWindow& pool, const MetaTensor& x, const SymIntArray& kernel_size) {
  WHERRY_ENFORCE(!x.rank_known || x.rank() == pool.axes + 2, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected batch, channels and ", pool.axes, " axes");
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  const auto count = static_cast<size_t>(pool.axes);
  MetaTensor out(x.dtype, {x.dims[0], x.dims[1]});
  out.dims.resize(count + 2, Dim(1));
  out.layout = x.layout;
  if (pool.global_pooling) return out;
  if (!kernel_size.known()) return MetaTensor::UnknownRank(x.dtype);
  const std::vector<Dim>& kernel = *kernel_size.values;
  WHERRY_ENFORCE(kernel.size() == count, kInvalidArgument, "kernel_size is ", DimsText(kernel),
                 ", expected a number for each of ", pool.axes, " axes");
  for (size_t i = 0; i < count; ++i) {
    if (pool.adaptive) {
      WHERRY_ENFORCE(!kernel[i].known() || kernel[i].value() >= 0, kInvalidArgument,
                     "kernel_size, the size of the result, is ", DimsText(kernel));
      out.dims[2 + i] = kernel[i];
    } else {
      out.dims[2 + i] = WindowOutput(pool.window, static_cast<int>(i), x.dims[2 + i], kernel[i], pool.ceil_mode);
    }
  }
  return out;
}

void CheckPoolingType(const std::string& type) {
  WHERRY_ENFORCE(type == "max" || type == "avg" || type == "sum", kInvalidArgument, "pooling_type is '", type,
                 "', expected 'max', 'avg' or 'sum'");
}

}  // namespace

MetaTensor Conv2dInferMeta(const MetaTensor& x, const MetaTensor& filter,
                           const std::vector<const MetaTensor*>& operands, const std::vector<int64_t>& strides,
                           const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                           const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue) {
  return ConvInferMeta(2, x, filter, operands, ParseWindow(2, strides, paddings, padding_algorithm, dilations), groups,
                       epilogue);
}

MetaTensor Conv3dInferMeta(const MetaTensor& x, const MetaTensor& filter,
                           const std::vector<const MetaTensor*>& operands, const std::vector<int64_t>& strides,
                           const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                           const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue) {
  return ConvInferMeta(3, x, filter, operands, ParseWindow(3, strides, paddings, padding_algorithm, dilations), groups,
                       epilogue);
}

MetaTensor Conv2dTransposeInferMeta(const MetaTensor& x, const MetaTensor& filter,
                                    const std::vector<const MetaTensor*>& operands, const SymIntArray& output_size,
                                    const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                                    const std::vector<int64_t>& output_padding, const std::string& padding_algorithm,
                                    const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue) {
  return ConvTransposeInferMeta(2, x, filter, operands, output_size,
                                ParseWindow(2, strides, paddings, padding_algorithm, dilations), output_padding, groups,
                                epilogue);
}

MetaTensor Conv3dTransposeInferMeta(const MetaTensor& x, const MetaTensor& filter,
                                    const std::vector<const MetaTensor*>& operands, const SymIntArray& output_size,
                                    const std::vector<int64_t>& strides, const std::vector<int64_t>& paddings,
                                    const std::vector<int64_t>& output_padding, const std::string& padding_algorithm,
                                    const std::vector<int64_t>& dilations, int groups, const Epilogue& epilogue) {
  return ConvTransposeInferMeta(3, x, filter, operands, output_size,
                                ParseWindow(3, strides, paddings, padding_algorithm, dilations), output_padding, groups,
                                epilogue);
}

MetaTensor Pool2dInferMeta(const MetaTensor& x, const SymIntArray& kernel_size, const std::vector<int64_t>& strides,
                           const std::vector<int64_t>& paddings, bool ceil_mode, bool /*exclusive*/,
                           const std::string& pooling_type, bool global_pooling, bool adaptive,
                           const std::string& padding_algorithm, const std::vector<int64_t>& dilations) {
  CheckPoolingType(pooling_type);
  return PoolInferMeta(
      {2, ParseWindow(2, strides, paddings, padding_algorithm, dilations), ceil_mode, global_pooling, adaptive}, x,
      kernel_size);
}

MetaTensor Pool3dInferMeta(const MetaTensor& x, const SymIntArray& kernel_size, const std::vector<int64_t>& strides,
                           const std::vector<int64_t>& paddings, bool ceil_mode, bool /*exclusive*/,
                           const std::string& pooling_type, bool global_pooling, bool adaptive,
                           const std::string& padding_algorithm, const std::vector<int64_t>& dilations) {
  CheckPoolingType(pooling_type);
  return PoolInferMeta(
      {3, ParseWindow(3, strides, paddings, padding_algorithm, dilations), ceil_mode, global_pooling, adaptive}, x,
      kernel_size);
}

MetaTensor DeformableConvInferMeta(const MetaTensor& x, const MetaTensor& offset, const MetaTensor& filter,
                                   const MetaTensor* mask, const std::vector<int64_t>& strides,
                                   const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                                   const std::vector<int64_t>& dilations, int groups, int deformable_groups) {
  const MetaTensor out = Conv2dInferMeta(x, filter, {}, strides, paddings, padding_algorithm, dilations, groups, {});
  WHERRY_ENFORCE(deformable_groups >= 1, kInvalidArgument, "deformable_groups is ", deformable_groups,
                 ", expected at least 1");
  if (!out.rank_known) return out;
  WHERRY_ENFORCE(!x.dims[1].known() || x.dims[1].value() % deformable_groups == 0, kInvalidArgument, "x ",
                 DimsText(x.dims), " has ", x.dims[1].DebugString(), " channels, not a multiple of ", deformable_groups,
                 " deformable_groups");
  const Dim taps = filter.dims[2] * filter.dims[3] * Dim(deformable_groups);
  const auto check = [&](const MetaTensor& moved, const Dim& channels, const char* name) {
    WHERRY_ENFORCE(moved.dtype == x.dtype, kInvalidArgument, name, " is ", moved.DebugString(), ", x is ",
                   x.DebugString(), ": expected one type");
    if (!moved.rank_known) return;
    const std::vector<Dim> wanted = {out.dims[0], channels, out.dims[2], out.dims[3]};
    bool fits = moved.rank() == 4;
    for (size_t i = 0; fits && i < 4; ++i) fits = !Conflict(moved.dims[i], wanted[i]);
    WHERRY_ENFORCE(fits, kInvalidArgument, name, " is ", DimsText(moved.dims), ", expected ", DimsText(wanted));
  };
  check(offset, taps * Dim(2), "offset");
  if (mask != nullptr) check(*mask, taps, "mask");
  return out;
}

std::vector<MetaTensor> MaxPoolWithIndexInferMeta(const MetaTensor& x, const SymIntArray& kernel_size,
                                                  const std::vector<int64_t>& strides,
                                                  const std::vector<int64_t>& paddings, bool ceil_mode,
                                                  bool global_pooling, bool adaptive,
                                                  const std::string& padding_algorithm,
                                                  const std::vector<int64_t>& dilations, const std::string& index,
                                                  DataType dtype) {
  const int axes = static_cast<int>(strides.size());
  WHERRY_ENFORCE(axes == 2 || axes == 3, kInvalidArgument, "strides are [", Join(strides, ", "),
                 "], expected two numbers or three");
  WHERRY_ENFORCE(index == "plane" || index == "tensor" || index == "column_major", kInvalidArgument, "index is '",
                 index, "', expected 'plane', 'tensor' or 'column_major'");
  WHERRY_ENFORCE(dtype == DataType::kInt32 || dtype == DataType::kInt64, kInvalidArgument, "dtype is ", ToString(dtype),
                 ", expected i32 or i64");
  MetaTensor out = PoolInferMeta(
      {axes, ParseWindow(axes, strides, paddings, padding_algorithm, dilations), ceil_mode, global_pooling, adaptive},
      x, kernel_size);
  MetaTensor mask = out;
  mask.dtype = dtype;
  return {std::move(out), std::move(mask)};
}

MetaTensor UnpoolInferMeta(const MetaTensor& x, const MetaTensor& indices, const SymIntArray& output_size,
                           const std::string& index) {
  WHERRY_ENFORCE(index == "plane" || index == "tensor", kInvalidArgument, "index is '", index,
                 "', expected 'plane' or 'tensor'");
  WHERRY_ENFORCE(!x.rank_known || x.rank() >= 3, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected batch, channels and at least one axis");
  if (x.rank_known && indices.rank_known) {
    bool same = x.rank() == indices.rank();
    for (size_t i = 0; same && i < x.dims.size(); ++i) same = !Conflict(x.dims[i], indices.dims[i]);
    WHERRY_ENFORCE(same, kInvalidArgument, "x is ", x.DebugString(), ", indices are ", indices.DebugString(),
                   ": expected one shape");
  }
  if (!x.rank_known || !output_size.known()) return MetaTensor::UnknownRank(x.dtype);
  const std::vector<Dim>& size = *output_size.values;
  WHERRY_ENFORCE(size.size() + 2 == x.dims.size(), kInvalidArgument, "output_size is ", DimsText(size), ", x is ",
                 x.DebugString());
  MetaTensor out(x.dtype, {x.dims[0], x.dims[1]});
  for (const Dim& dim : size) {
    WHERRY_ENFORCE(!dim.known() || dim.value() >= 0, kInvalidArgument, "output_size is ", DimsText(size));
    out.dims.push_back(dim);
  }
  return out;
}

}  // namespace wherry
