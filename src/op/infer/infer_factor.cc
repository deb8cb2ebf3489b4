// Matrices as products of simpler ones.
#include <initializer_list>
#include <string>
#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

// The dimensions before the matrices, then these.
std::vector<Dim> WithMatrix(const MetaTensor& x, std::initializer_list<Dim> last) {
  std::vector<Dim> dims(x.dims.begin(), x.dims.end() - 2);
  dims.insert(dims.end(), last);
  return dims;
}

void CheckMatrices(const MetaTensor& x, const char* name) {
  WHERRY_ENFORCE(x.rank() >= 2, kInvalidArgument, name, " is ", x.DebugString(), ", expected matrices");
}

}  // namespace

std::vector<MetaTensor> QrInferMeta(const MetaTensor& x, const std::string& mode) {
  const bool known = mode == "reduced" || mode == "complete" || mode == "r";
  WHERRY_ENFORCE(known, kInvalidArgument, "mode is '", mode, "', expected reduced, complete or r");
  if (!x.rank_known) return {MetaTensor::UnknownRank(x.dtype), MetaTensor::UnknownRank(x.dtype)};
  CheckMatrices(x, "x");
  const Dim m = x.dims[x.dims.size() - 2];
  const Dim n = x.dims.back();
  const Dim k = mode == "complete" ? m : Min(m, n);
  const std::vector<Dim> q = mode == "r" ? std::vector<Dim>{Dim(0)} : WithMatrix(x, {m, k});
  return {MetaTensor(x.dtype, q), MetaTensor(x.dtype, WithMatrix(x, {k, n}))};
}

std::vector<MetaTensor> SvdInferMeta(const MetaTensor& x, bool full_matrices) {
  if (!x.rank_known) return std::vector<MetaTensor>(3, MetaTensor::UnknownRank(x.dtype));
  CheckMatrices(x, "x");
  const Dim m = x.dims[x.dims.size() - 2];
  const Dim n = x.dims.back();
  const Dim k = Min(m, n);
  return {MetaTensor(x.dtype, WithMatrix(x, {m, full_matrices ? m : k})), MetaTensor(x.dtype, WithMatrix(x, {k})),
          MetaTensor(x.dtype, WithMatrix(x, {full_matrices ? n : k, n}))};
}

std::vector<MetaTensor> LuInferMeta(const MetaTensor& x) {
  const MetaTensor unknown = MetaTensor::UnknownRank(DataType::kInt32);
  if (!x.rank_known) return {MetaTensor::UnknownRank(x.dtype), unknown, unknown};
  CheckMatrices(x, "x");
  const std::vector<Dim> pivots = WithMatrix(x, {Min(x.dims[x.dims.size() - 2], x.dims.back())});
  const std::vector<Dim> infos = x.rank() == 2 ? std::vector<Dim>{Dim(1)} : WithMatrix(x, {});
  return {MetaTensor(x.dtype, x.dims), MetaTensor(DataType::kInt32, pivots), MetaTensor(DataType::kInt32, infos)};
}

MetaTensor LuPermutationInferMeta(const MetaTensor& lu, const MetaTensor& pivots) {
  WHERRY_ENFORCE(pivots.dtype == DataType::kInt32, kInvalidArgument, "pivots are ", pivots.DebugString(),
                 ", expected i32");
  if (!lu.rank_known) return MetaTensor::UnknownRank(lu.dtype);
  CheckMatrices(lu, "lu");
  WHERRY_ENFORCE(!pivots.rank_known || pivots.rank() == lu.rank() - 1, kInvalidArgument, "pivots are ",
                 pivots.DebugString(), " for lu ", lu.DebugString());
  for (size_t i = 0; pivots.rank_known && i + 1 < pivots.dims.size(); ++i) {
    const bool differ = pivots.dims[i].known() && lu.dims[i].known() && pivots.dims[i] != lu.dims[i];
    WHERRY_ENFORCE(!differ, kInvalidArgument, "pivots are ", pivots.DebugString(), " for lu ", lu.DebugString());
  }
  const Dim m = lu.dims[lu.dims.size() - 2];
  return MetaTensor(lu.dtype, WithMatrix(lu, {m, m}));
}

std::vector<MetaTensor> EighInferMeta(const MetaTensor& x) { return {EigenvaluesInferMeta(x), MatrixInferMeta(x)}; }

}  // namespace wherry
