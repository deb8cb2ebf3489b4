// Integers with a scale, and the operators on them.
#include <algorithm>
#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

bool IsByte(DataType dtype) { return dtype == DataType::kInt8 || dtype == DataType::kUInt8; }

// A scale, a bias or a zero point of one element or, if `channels` is given, one per channel.
void CheckParameter(const MetaTensor* parameter, const char* name, DataType dtype, const Dim* channels) {
  if (parameter == nullptr) return;
  WHERRY_ENFORCE(parameter->dtype == dtype, kInvalidArgument, name, " is ", parameter->DebugString(), ", expected ",
                 ToString(dtype));
  if (!parameter->rank_known) return;
  const Dim count = parameter->numel();
  const bool fits = !Conflict(count, Dim(1)) || (channels != nullptr && !Conflict(count, *channels));
  WHERRY_ENFORCE(fits, kInvalidArgument, name, " is ", parameter->DebugString(), ", expected one element",
                 channels == nullptr ? "" : " or one per channel of the result");
}

struct Product {
  const MetaTensor& x;
  const MetaTensor& y;
  const MetaTensor* scale;
  const MetaTensor* bias;
  const MetaTensor* x_zero;
  const MetaTensor* y_zero;
  const MetaTensor* out_zero;
  DataType dtype;
};

// `channels`: null if not known.
void CheckProduct(const Product& p, const char* y_name, const Dim* channels) {
  WHERRY_ENFORCE(IsByte(p.x.dtype), kInvalidArgument, "x is ", p.x.DebugString(), ", expected i8 or u8");
  WHERRY_ENFORCE(IsByte(p.y.dtype), kInvalidArgument, y_name, " is ", p.y.DebugString(), ", expected i8 or u8");
  WHERRY_ENFORCE(IsByte(p.dtype) || p.dtype == DataType::kFloat || p.dtype == DataType::kInt32, kInvalidArgument,
                 "dtype is ", ToString(p.dtype), ", expected i8, u8, f32 or i32");
  WHERRY_ENFORCE(p.dtype == DataType::kInt32 ? p.scale == nullptr && p.bias == nullptr : p.scale != nullptr,
                 kInvalidArgument, "a result of ", ToString(p.dtype), p.scale == nullptr ? " needs" : " takes no",
                 " scale and no bias without one");
  WHERRY_ENFORCE(IsByte(p.dtype) || p.out_zero == nullptr, kInvalidArgument, "a result of ", ToString(p.dtype),
                 " has no out_zero");
  if (channels == nullptr) return;
  CheckParameter(p.scale, "scale", DataType::kFloat, channels);
  CheckParameter(p.bias, "bias", DataType::kInt32, channels);
  CheckParameter(p.x_zero, "x_zero", p.x.dtype, nullptr);
  CheckParameter(p.y_zero, y_name == nullptr ? "" : "the zero point of the weights", p.y.dtype, channels);
  CheckParameter(p.out_zero, "out_zero", p.dtype, nullptr);
}

// The scales of a weight stored small for its rows of `columns` integers: as many in each row.
void CheckGroups(const MetaTensor& weight, const MetaTensor& scale, const Dim& columns, int bits, int64_t group_size) {
  if (!scale.rank_known) return;
  const int rank = group_size > 0 ? 2 : 1;
  WHERRY_ENFORCE(scale.rank() == rank && !Conflict(scale.dims[0], weight.dims[0]), kInvalidArgument, "weight_scale is ",
                 scale.DebugString(), " and group_size ", group_size, ", expected one per ",
                 rank == 1 ? "row" : "group", " of weight ", weight.DebugString());
  if (!columns.known()) return;
  const int64_t size = group_size > 0 ? group_size : std::max<int64_t>(1, columns.value());
  const int64_t groups = columns.value() / size + (columns.value() % size != 0 ? 1 : 0);
  WHERRY_ENFORCE(rank == 1 || !Conflict(scale.dims[1], Dim(groups)), kInvalidArgument, "weight_scale is ",
                 scale.DebugString(), ", expected ", groups, " groups of ", group_size, " along ", columns.value(),
                 " columns of x");
  if (!weight.dims[1].known()) return;
  // Rows of whole bytes, which may hold the last group whole.
  const int64_t stored = weight.dims[1].value();
  const int64_t most = stored > INT64_MAX / 8 ? INT64_MAX : stored * 8 / bits;
  WHERRY_ENFORCE(
      most >= columns.value() && (most - columns.value() < 8 / bits || (most % size == 0 && most / size == groups)),
      kInvalidArgument, "weight ", weight.DebugString(), " has rows of ", most, " integers of ", bits, " bits, x has ",
      columns.value(), " columns");
}

// Integers as another type of the same shape: what infers shapes of floats serves both.
MetaTensor As(MetaTensor meta, DataType dtype) {
  meta.dtype = dtype;
  meta.values.reset();
  return meta;
}

}  // namespace

MetaTensor QuantizeLinearInferMeta(const MetaTensor& x, const MetaTensor& scale, const MetaTensor* zero_point, int axis,
                                   int64_t block_size, DataType dtype) {
  const bool quantizes = IsFloating(x.dtype);
  const DataType integer = quantizes ? dtype : x.dtype;
  const bool fits = IsByte(integer) || integer == DataType::kInt16 || integer == DataType::kUInt16 ||
                    (!quantizes && integer == DataType::kInt32);
  WHERRY_ENFORCE(fits && IsFloating(quantizes ? x.dtype : dtype), kInvalidArgument, "x is ", x.DebugString(),
                 " and dtype ", ToString(dtype), ", expected floats to or from integers of 8 or 16 bits");
  WHERRY_ENFORCE(IsFloating(scale.dtype), kInvalidArgument, "scale is ", scale.DebugString(), ", expected floats");
  WHERRY_ENFORCE(zero_point == nullptr || zero_point->dtype == integer, kInvalidArgument, "zero_point is ",
                 zero_point == nullptr ? "" : zero_point->DebugString(), ", expected ", ToString(integer));
  WHERRY_ENFORCE(block_size >= 0, kInvalidArgument, "block_size is ", block_size);
  MetaTensor out = As(x, dtype);
  out.pixel_stride = 0;
  if (!x.rank_known || !scale.rank_known) return out;
  if (zero_point != nullptr && zero_point->rank_known) {
    bool same = zero_point->numel() == scale.numel() || zero_point->rank() == scale.rank();
    for (int i = 0; same && i < scale.rank() && zero_point->rank() == scale.rank(); ++i) {
      same = !Conflict(scale.dims[static_cast<size_t>(i)], zero_point->dims[static_cast<size_t>(i)]);
    }
    WHERRY_ENFORCE(same, kInvalidArgument, "zero_point is ", zero_point->DebugString(), ", scale is ",
                   scale.DebugString(), ": expected one shape");
  }
  if (block_size == 0) {
    if (scale.rank() <= 1 && scale.numel() == Dim(1)) return out;
    const auto at = static_cast<size_t>(NormalizeAxis(axis, x.rank(), "axis"));
    WHERRY_ENFORCE(scale.rank() == 1 && !Conflict(scale.dims[0], x.dims[at]), kInvalidArgument, "scale is ",
                   scale.DebugString(), ", expected one element or one per place along axis ", at, " of x ",
                   DimsText(x.dims));
    return out;
  }
  const int at = NormalizeAxis(axis, x.rank(), "axis");
  WHERRY_ENFORCE(scale.rank() == x.rank(), kInvalidArgument, "scale is ", scale.DebugString(), " and block_size ",
                 block_size, ", expected the rank of x ", DimsText(x.dims));
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& of_x = x.dims[static_cast<size_t>(i)];
    const Dim& of_scale = scale.dims[static_cast<size_t>(i)];
    if (!of_x.known() || !of_scale.known()) continue;
    const int64_t expected =
        i == at ? of_x.value() / block_size + (of_x.value() % block_size != 0 ? 1 : 0) : of_x.value();
    WHERRY_ENFORCE(of_scale.value() == expected, kInvalidArgument, "scale is ", scale.DebugString(),
                   ", expected one per ", block_size, " places along axis ", at, " of x ", DimsText(x.dims));
  }
  return out;
}

std::vector<MetaTensor> DynamicQuantizeInferMeta(const MetaTensor& x) {
  WHERRY_ENFORCE(x.dtype == DataType::kFloat, kInvalidArgument, "x is ", x.DebugString(), ", expected f32");
  MetaTensor out = As(x, DataType::kUInt8);
  out.pixel_stride = 0;
  return {std::move(out), MetaTensor(DataType::kFloat, {}), MetaTensor(DataType::kUInt8, {})};
}

MetaTensor QuantizedConv2dInferMeta(const MetaTensor& x, const MetaTensor& filter, const MetaTensor* scale,
                                    const MetaTensor* bias, const MetaTensor* x_zero, const MetaTensor* filter_zero,
                                    const MetaTensor* out_zero, const std::vector<int64_t>& strides,
                                    const std::vector<int64_t>& paddings, const std::string& padding_algorithm,
                                    const std::vector<int64_t>& dilations, int groups, DataType dtype) {
  const MetaTensor out = Conv2dInferMeta(As(x, dtype), As(filter, dtype), {}, strides, paddings, padding_algorithm,
                                         dilations, groups, Epilogue());
  CheckProduct({x, filter, scale, bias, x_zero, filter_zero, out_zero, dtype}, "filter",
               filter.rank_known ? &filter.dims[0] : nullptr);
  return out;
}

MetaTensor QuantizedMatmulInferMeta(const MetaTensor& x, const MetaTensor& y, const MetaTensor* scale,
                                    const MetaTensor* bias, const MetaTensor* x_zero, const MetaTensor* y_zero,
                                    const MetaTensor* out_zero, bool transpose_y, DataType dtype) {
  const MetaTensor out = MatmulInferMeta(As(x, dtype), As(y, dtype), false, transpose_y);
  const Dim one(1);
  const Dim* channels = nullptr;
  if (y.rank_known) channels = y.rank() < 2 ? &one : &y.dims[y.dims.size() - (transpose_y ? 2 : 1)];
  CheckProduct({x, y, scale, bias, x_zero, y_zero, out_zero, dtype}, "y", channels);
  return out;
}

MetaTensor QuantizedBinaryInferMeta(const MetaTensor& x, const MetaTensor& y, int x_zero, int y_zero, int out_zero) {
  WHERRY_ENFORCE(IsByte(x.dtype) && x.dtype == y.dtype, kInvalidArgument, "x is ", x.DebugString(), ", y is ",
                 y.DebugString(), ": expected i8 or u8, both the same");
  const bool is_signed = x.dtype == DataType::kInt8;
  for (const int zero : {x_zero, y_zero, out_zero}) {
    WHERRY_ENFORCE(zero >= (is_signed ? -128 : 0) && zero <= (is_signed ? 127 : 255), kInvalidArgument,
                   "a zero point is ", zero, ", which ", ToString(x.dtype), " does not have");
  }
  return BinaryInferMeta(x, y);
}

MetaTensor QuantizedMapInferMeta(const MetaTensor& x, const MetaTensor& table) {
  const bool fits = !table.rank_known || (table.rank() == 1 && !Conflict(table.dims[0], Dim(256)));
  WHERRY_ENFORCE(IsByte(x.dtype) && IsByte(table.dtype) && fits, kInvalidArgument, "x is ", x.DebugString(),
                 ", the table is ", table.DebugString(), ": expected i8 or u8, and 256 elements");
  MetaTensor out = As(x, table.dtype);
  out.pixel_stride = 0;
  return out;
}

MetaTensor WeightOnlyLinearInferMeta(const MetaTensor& x, const MetaTensor& weight, const MetaTensor* weight_scale,
                                     const MetaTensor* zero_point, const std::vector<const MetaTensor*>& operands,
                                     int bits, int64_t group_size, const Epilogue& epilogue, DataType out_dtype) {
  const bool is_byte = IsByte(weight.dtype);
  if (out_dtype == DataType::kUndefined) out_dtype = x.dtype;
  WHERRY_ENFORCE(out_dtype == x.dtype || out_dtype == DataType::kFloat, kInvalidArgument, "out_dtype is ",
                 ToString(out_dtype), " for x ", x.DebugString(), ", expected the same or f32");
  WHERRY_ENFORCE(IsFloating(x.dtype), kInvalidArgument, "x is ", x.DebugString(), ", expected floats");
  WHERRY_ENFORCE(is_byte || IsFloating(weight.dtype), kInvalidArgument, "weight is ", weight.DebugString(),
                 ", expected i8, u8 or floats");
  WHERRY_ENFORCE(bits == 8 || (bits == 4 && weight.dtype == DataType::kUInt8), kInvalidArgument, "bits is ", bits,
                 " for weight ", weight.DebugString(), ", expected 8, or 4 of u8");
  WHERRY_ENFORCE(group_size > 0 || group_size == -1, kInvalidArgument, "group_size is ", group_size,
                 ", expected 1 or more, or -1");
  WHERRY_ENFORCE(is_byte == (weight_scale != nullptr) && (is_byte || (zero_point == nullptr && group_size == -1)),
                 kInvalidArgument, "weight is ", weight.DebugString(),
                 ": integers need a weight_scale, floats take none");
  WHERRY_ENFORCE(weight_scale == nullptr || IsFloating(weight_scale->dtype), kInvalidArgument, "weight_scale is ",
                 weight_scale->DebugString(), ", expected floats");
  if (zero_point != nullptr) {
    const bool fits = zero_point->dtype == weight.dtype &&
                      (!zero_point->rank_known || !weight_scale->rank_known || zero_point->dims == weight_scale->dims);
    WHERRY_ENFORCE(fits, kInvalidArgument, "zero_point is ", zero_point->DebugString(), ", expected ",
                   ToString(weight.dtype), " in the shape of weight_scale ", weight_scale->DebugString());
  }
  if (!x.rank_known || !weight.rank_known) return MetaTensor::UnknownRank(out_dtype);
  WHERRY_ENFORCE(x.rank() >= 1 && weight.rank() == 2, kInvalidArgument, "x is ", x.DebugString(), " and weight ",
                 weight.DebugString(), ", expected an axis of columns and a matrix");
  if (is_byte) {
    CheckGroups(weight, *weight_scale, x.dims.back(), bits, group_size);
  } else {
    WHERRY_ENFORCE(!Conflict(x.dims.back(), weight.dims[1]), kInvalidArgument, "x is ", x.DebugString(), " and weight ",
                   weight.DebugString(), ": columns of both must be as many");
  }
  MetaTensor out(out_dtype, x.dims);
  out.dims.back() = weight.dims[0];
  CheckEpilogue(epilogue, operands, out, -1);
  return out;
}

}  // namespace wherry
