// What decoders make of sequences of labels.
#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

void CheckRank(const MetaTensor& x, int rank, const char* name) {
  WHERRY_ENFORCE(!x.rank_known || x.rank() == rank, kInvalidArgument, name, " is ", x.DebugString(), ", expected rank ",
                 rank);
}

void CheckLengths(const MetaTensor* lengths, const char* name) {
  if (lengths == nullptr) return;
  WHERRY_ENFORCE(lengths->dtype == DataType::kInt32 || lengths->dtype == DataType::kInt64, kInvalidArgument, name,
                 " is ", lengths->DebugString(), ", expected integers");
}

}  // namespace

std::vector<MetaTensor> CtcAlignInferMeta(const MetaTensor& x, const MetaTensor* lengths) {
  CheckRank(x, 2, "x");
  CheckLengths(lengths, "input_length");
  if (!x.rank_known) return {x, x};
  return {x.WithoutValues(), MetaTensor(x.dtype, {x.dims[0], Dim(1)})};
}

std::vector<MetaTensor> EditDistanceInferMeta(const MetaTensor& hyps, const MetaTensor& refs,
                                              const MetaTensor* hyps_length, const MetaTensor* refs_length) {
  CheckRank(hyps, 2, "hyps");
  CheckRank(refs, 2, "refs");
  CheckLengths(hyps_length, "hyps_length");
  CheckLengths(refs_length, "refs_length");
  WHERRY_ENFORCE(hyps.dtype == refs.dtype, kInvalidArgument, "hyps are ", hyps.DebugString(), ", refs ",
                 refs.DebugString(), ": expected one type");
  WHERRY_ENFORCE(!hyps.rank_known || !refs.rank_known || !Conflict(hyps.dims[0], refs.dims[0]), kInvalidArgument,
                 "hyps are ", hyps.DebugString(), ", refs ", refs.DebugString(), ": expected one number of rows");
  const MetaTensor count(DataType::kInt64, {Dim(1)});
  if (!hyps.rank_known) return {count, MetaTensor::UnknownRank(DataType::kFloat)};
  return {count, MetaTensor(DataType::kFloat, {hyps.dims[0], Dim(1)})};
}

std::vector<MetaTensor> ViterbiDecodeInferMeta(const MetaTensor& potentials, const MetaTensor& transitions,
                                               const MetaTensor& lengths) {
  CheckRank(potentials, 3, "potentials");
  CheckRank(transitions, 2, "transitions");
  CheckLengths(&lengths, "lengths");
  const MetaTensor path = MetaTensor::UnknownRank(DataType::kInt64);
  if (!potentials.rank_known) return {MetaTensor::UnknownRank(potentials.dtype), path};
  const bool fits = potentials.dtype == transitions.dtype &&
                    (!transitions.rank_known || (!Conflict(transitions.dims[0], potentials.dims[2]) &&
                                                 !Conflict(transitions.dims[1], potentials.dims[2])));
  WHERRY_ENFORCE(fits, kInvalidArgument, "transitions are ", transitions.DebugString(), " for potentials ",
                 potentials.DebugString());
  return {MetaTensor(potentials.dtype, {potentials.dims[0]}), path};
}

}  // namespace wherry
