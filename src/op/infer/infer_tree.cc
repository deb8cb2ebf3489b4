#include "base/check.h"
#include "base/strings.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {

MetaTensor TreeEnsembleInferMeta(const MetaTensor& x, const MetaTensor& splits, const MetaTensor& nodes,
                                 const MetaTensor& roots, const MetaTensor& leaves, const MetaTensor& targets,
                                 const MetaTensor& weights, const MetaTensor* members, int64_t target_count,
                                 const std::string& aggregate) {
  WHERRY_ENFORCE(aggregate == "SUM" || aggregate == "AVERAGE" || aggregate == "MIN" || aggregate == "MAX",
                 kInvalidArgument, "aggregate is ", Quote(aggregate), ", expected SUM, AVERAGE, MIN or MAX");
  WHERRY_ENFORCE(target_count >= 1, kInvalidArgument, "target_count is ", target_count);
  const auto require = [](const MetaTensor& list, const char* name, DataType dtype, int rank) {
    WHERRY_ENFORCE(!list.rank_known || list.rank() == rank, kInvalidArgument, name, " is ", list.DebugString(),
                   ", expected ", rank, rank == 1 ? " dimension" : " dimensions");
    WHERRY_ENFORCE(list.dtype == dtype || list.dtype == DataType::kUndefined || dtype == DataType::kUndefined,
                   kInvalidArgument, name, " is ", list.DebugString(), ", expected ", ToString(dtype));
  };
  const auto require_same = [](const MetaTensor& a, const MetaTensor& b, const char* what) {
    if (!a.rank_known || !b.rank_known || !a.dims[0].known() || !b.dims[0].known()) return;
    WHERRY_ENFORCE(a.dims[0] == b.dims[0], kInvalidArgument, a.DebugString(), " and ", b.DebugString(), " for ", what);
  };
  require(x, "x", x.dtype, 2);
  require(splits, "splits", x.dtype, 1);
  require(nodes, "nodes", DataType::kInt64, 2);
  require(roots, "roots", DataType::kInt64, 1);
  require(leaves, "leaves", DataType::kInt64, 1);
  require(targets, "targets", DataType::kInt64, 1);
  require(weights, "weights", x.dtype, 1);
  if (members != nullptr) require(*members, "members", x.dtype, 1);
  WHERRY_ENFORCE(!nodes.rank_known || !nodes.dims[1].known() || nodes.dims[1] == Dim(7), kInvalidArgument, "nodes is ",
                 nodes.DebugString(), ", expected 7 columns");
  require_same(splits, nodes, "splits and nodes");
  require_same(targets, weights, "targets and weights");
  if (!x.rank_known) return MetaTensor::UnknownRank(x.dtype);
  return MetaTensor(x.dtype, {x.dims[0], Dim(target_count)});
}

}  // namespace wherry
