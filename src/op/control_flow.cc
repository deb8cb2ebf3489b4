#include "op/control_flow.h"

#include "base/check.h"

namespace wherry {

void CarriedType::SetAny(size_t dim, SymbolTable* symbols) {
  if (any_[dim]) return;
  any_[dim] = true;
  const bool named = before_.rank_known && before_.rank() == type_.rank() && !before_.dims[dim].known() &&
                     before_.dims[dim] != type_.dims[dim];
  type_.dims[dim] = named ? before_.dims[dim] : symbols->FreshSymbol("d");
}

void CarriedType::SetAnyDims(SymbolTable* symbols) {
  for (size_t i = 0; i < type_.dims.size(); ++i) SetAny(i, symbols);
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
    SetAny(i, symbols);
    same = false;
  }
  return same;
}

}  // namespace wherry
