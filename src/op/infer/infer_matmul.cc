#include <utility>
#include <vector>

#include "base/check.h"
#include "core/promote.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

std::vector<Dim> MatmulDims(const MetaTensor& x, const MetaTensor& y, bool transpose_x, bool transpose_y) {
  WHERRY_ENFORCE(!x.dims.empty() && !y.dims.empty(), kInvalidArgument, "x ", DimsText(x.dims), " and y ",
                 DimsText(y.dims), ": a scalar has no matrix product");
  std::vector<Dim> left = x.dims;
  std::vector<Dim> right = y.dims;
  const bool x_is_vector = left.size() == 1;
  const bool y_is_vector = right.size() == 1;
  if (x_is_vector) left.insert(left.begin(), Dim(1));
  if (y_is_vector) right.emplace_back(1);
  if (transpose_x && !x_is_vector) std::swap(left[left.size() - 1], left[left.size() - 2]);
  if (transpose_y && !y_is_vector) std::swap(right[right.size() - 1], right[right.size() - 2]);
  WHERRY_ENFORCE(!Conflict(left.back(), right[right.size() - 2]), kInvalidArgument, "x ", DimsText(x.dims),
                 transpose_x ? " transposed" : "", " and y ", DimsText(y.dims), transpose_y ? " transposed" : "",
                 " have inner dimensions ", left.back().DebugString(), " and ", right[right.size() - 2].DebugString());
  const Dim rows = left[left.size() - 2];
  const Dim columns = right.back();
  left.resize(left.size() - 2);
  right.resize(right.size() - 2);
  const MetaTensor batch_x(x.dtype, std::move(left));
  const MetaTensor batch_y(y.dtype, std::move(right));
  std::vector<Dim> out = BroadcastDims(batch_x, batch_y, "the batch axes of x", "of y");
  if (!x_is_vector) out.push_back(rows);
  if (!y_is_vector) out.push_back(columns);
  return out;
}

// x as a matrix of its first `x_rows` axes by the others, times y likewise.
std::vector<Dim> FlattenedDims(const MetaTensor& x, const MetaTensor& y, int x_rows, int y_rows, const char* a,
                               const char* b, const char* x_rows_name) {
  WHERRY_ENFORCE(x_rows >= 1 && x_rows < x.rank(), kInvalidArgument, x_rows_name, " is ", x_rows, " for ", a, " ",
                 DimsText(x.dims), ", expected 1 to ", x.rank() - 1);
  WHERRY_ENFORCE(y_rows >= 1 && y_rows < y.rank(), kInvalidArgument, "y_num_col_dims is ", y_rows, " for ", b, " ",
                 DimsText(y.dims), ", expected 1 to ", y.rank() - 1);
  const Dim inner_x = Product(std::vector<Dim>(x.dims.begin() + x_rows, x.dims.end()));
  const Dim inner_y = Product(std::vector<Dim>(y.dims.begin(), y.dims.begin() + y_rows));
  WHERRY_ENFORCE(!Conflict(inner_x, inner_y), kInvalidArgument, a, " ", DimsText(x.dims), " has ",
                 inner_x.DebugString(), " columns from axis ", x_rows, " on, ", b, " ", DimsText(y.dims), " has ",
                 inner_y.DebugString(), " rows");
  std::vector<Dim> out(x.dims.begin(), x.dims.begin() + x_rows);
  out.insert(out.end(), y.dims.begin() + y_rows, y.dims.end());
  return out;
}

void CheckSameType(const MetaTensor& x, const MetaTensor& y, const char* a, const char* b) {
  WHERRY_ENFORCE(x.dtype == y.dtype, kInvalidArgument, a, " is ", x.DebugString(), ", ", b, " is ", y.DebugString(),
                 ": expected one type");
}

}  // namespace

MetaTensor MatmulInferMeta(const MetaTensor& x, const MetaTensor& y, bool transpose_x, bool transpose_y) {
  const DataType dtype = PromoteTypes(x.dtype, y.dtype);
  if (!x.rank_known || !y.rank_known) return MetaTensor::UnknownRank(dtype);
  return MetaTensor(dtype, MatmulDims(x, y, transpose_x, transpose_y));
}

MetaTensor FusedMatmulInferMeta(const MetaTensor& x, const MetaTensor& y,
                                const std::vector<const MetaTensor*>& operands, bool transpose_x, bool transpose_y,
                                float /*alpha*/, const Epilogue& epilogue) {
  CheckSameType(x, y, "x", "y");
  MetaTensor out = MatmulInferMeta(x, y, transpose_x, transpose_y);
  CheckEpilogue(epilogue, operands, out, -1);
  return out;
}

MetaTensor MulInferMeta(const MetaTensor& x, const MetaTensor& y, int x_num_col_dims, int y_num_col_dims) {
  const DataType dtype = PromoteTypes(x.dtype, y.dtype);
  if (!x.rank_known || !y.rank_known) return MetaTensor::UnknownRank(dtype);
  return MetaTensor(dtype, FlattenedDims(x, y, x_num_col_dims, y_num_col_dims, "x", "y", "x_num_col_dims"));
}

MetaTensor FcInferMeta(const MetaTensor& input, const MetaTensor& w, const std::vector<const MetaTensor*>& operands,
                       int in_num_col_dims, const Epilogue& epilogue) {
  CheckSameType(input, w, "input", "w");
  if (!input.rank_known || !w.rank_known) return MetaTensor::UnknownRank(input.dtype);
  WHERRY_ENFORCE(w.rank() == 2, kInvalidArgument, "w is ", w.DebugString(), ", expected a matrix");
  MetaTensor out(input.dtype, FlattenedDims(input, w, in_num_col_dims, 1, "input", "w", "in_num_col_dims"));
  CheckEpilogue(epilogue, operands, out, -1);
  return out;
}

}  // namespace wherry
