#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"
#include "op/recurrent.h"

namespace wherry {
namespace {

// An argument that must have these dimensions; returns what is known about them from it.
void CheckDims(const MetaTensor* arg, const char* name, const std::vector<Dim>& expected) {
  if (arg == nullptr || !arg->rank_known) return;
  bool fits = arg->rank() == static_cast<int>(expected.size());
  for (size_t i = 0; fits && i < expected.size(); ++i) fits = !Conflict(arg->dims[i], expected[i]);
  WHERRY_ENFORCE(fits, kInvalidArgument, name, " is ", arg->DebugString(), ", expected ", DimsText(expected));
}

// A dimension of an argument of rank 3; `fallback` where its rank is not known.
Dim DimOf(const MetaTensor* arg, const char* name, size_t axis, const Dim& fallback) {
  if (arg == nullptr || !arg->rank_known) return fallback;
  WHERRY_ENFORCE(arg->rank() == 3, kInvalidArgument, name, " is ", arg->DebugString(), ", expected three dimensions");
  return arg->dims[axis];
}

}  // namespace

std::vector<MetaTensor> RnnInferMeta(const MetaTensor& x, const MetaTensor& w, const MetaTensor& r,
                                     const MetaTensor* bias, const MetaTensor* sequence_lens,
                                     const MetaTensor* initial_h, const MetaTensor* initial_c,
                                     const MetaTensor* peephole, const std::string& cell, const std::string& direction,
                                     const std::vector<std::string>& activations, const std::vector<double>& alphas,
                                     const std::vector<double>& betas, float clip, bool linear_before_reset,
                                     bool input_forget) {
  const RnnSpec spec({cell, direction, activations, alphas, betas, clip, linear_before_reset, input_forget});
  WHERRY_ENFORCE(spec.cell == RnnCell::kLstm || (initial_c == nullptr && peephole == nullptr), kInvalidArgument,
                 "initial_c and peephole are for cell lstm, this is ", cell);
  if (sequence_lens != nullptr) {
    WHERRY_ENFORCE(sequence_lens->dtype == DataType::kInt32 || sequence_lens->dtype == DataType::kInt64 ||
                       sequence_lens->dtype == DataType::kUndefined,
                   kInvalidArgument, "sequence_lens is ", sequence_lens->DebugString(), ", expected i32 or i64");
  }
  const MetaTensor unknown = MetaTensor::UnknownRank(x.dtype);
  if (!x.rank_known || !r.rank_known) return {unknown, unknown, unknown};
  const Dim hidden = DimOf(&r, "r", 2, Dim(0));
  const Dim steps = DimOf(&x, "x", 0, Dim(0));
  const Dim batch = MergeDims(DimOf(&x, "x", 1, Dim(0)), DimOf(initial_h, "initial_h", 1, x.dims[1]));
  const Dim directions(spec.directions);
  const Dim rows = Product({Dim(spec.gates()), hidden});
  CheckDims(&w, "w", {directions, rows, x.dims[2]});
  CheckDims(&r, "r", {directions, rows, hidden});
  CheckDims(bias, "bias", {directions, Product({Dim(2), rows})});
  CheckDims(sequence_lens, "sequence_lens", {batch});
  CheckDims(initial_h, "initial_h", {directions, batch, hidden});
  CheckDims(initial_c, "initial_c", {directions, batch, hidden});
  CheckDims(peephole, "peephole", {directions, Product({Dim(3), hidden})});
  const MetaTensor state(x.dtype, {directions, batch, hidden});
  // last_c of a cell that has none is empty.
  const MetaTensor no_state(x.dtype, {directions, Dim(0), hidden});
  return {MetaTensor(x.dtype, {steps, directions, batch, hidden}), state,
          spec.cell == RnnCell::kLstm ? state : no_state};
}

}  // namespace wherry
