#include "op/control_flow.h"

#include "base/check.h"

namespace wherry {

void CarriedType::SetAnyDims(SymbolTable* symbols) {
  for (size_t i = 0; i < type_.dims.size(); ++i) {
    if (!any_[i]) type_.dims[i] = symbols->FreshSymbol("d");
    any_[i] = true;
  }
}

bool CarriedType::Admits(const MetaTensor& next, int pass, SymbolTable* symbols) {
  constexpr int kExactPasses = 2;
  const bool says_type = next.dtype != DataType::kUndefined;
  WHERRY_ENFORCE(next.dtype == type_.dtype || !says_type || type_.dtype == DataType::kUndefined, kInvalidArgument,
                 "a carried value is ", type_.DebugString(), ", and ", next.DebugString(), " after an iteration");
  bool same = true;
  if (type_.dtype == DataType::kUndefined && says_type && pass < kExactPasses) {
    type_.dtype = next.dtype;
    same = false;
  }
  if (!type_.rank_known) return same;
  if (pass >= kExactPasses || !next.rank_known || next.rank() != type_.rank()) {
    type_ = MetaTensor::UnknownRank(type_.dtype);
    return false;
  }
  for (size_t i = 0; i < next.dims.size(); ++i) {
    if (any_[i] || next.dims[i] == type_.dims[i]) continue;
    type_.dims[i] = symbols->FreshSymbol("d");
    any_[i] = true;
    same = false;
  }
  return same;
}

}  // namespace wherry
