#include <array>
#include <vector>

#include "base/check.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {
namespace {

// An operand as [batch, heads, sequence, size].
struct Heads {
  Dim batch;
  Dim heads;
  Dim sequence;
  Dim size;
};

Heads HeadsOf(const MetaTensor& x, const char* name, int64_t heads, int64_t size, int64_t first) {
  WHERRY_ENFORCE(x.rank() == 3 || x.rank() == 4, kInvalidArgument, name, " is ", x.DebugString(),
                 ", expected 3 or 4 dimensions");
  if (x.rank() == 4) {
    WHERRY_ENFORCE(first == 0, kInvalidArgument, name, " ", x.DebugString(), " has no columns to begin at ", first);
    WHERRY_ENFORCE(!Conflict(x.dims[1], Dim(heads)), kInvalidArgument, name, " is ", x.DebugString(), ", expected ",
                   heads, " heads");
    return {x.dims[0], Dim(heads), x.dims[2], x.dims[3]};
  }
  const Dim& columns = x.dims[2];
  WHERRY_ENFORCE(first >= 0, kInvalidArgument, "the heads of ", name, " begin at column ", first);
  if (size > 0) {
    WHERRY_ENFORCE(!columns.known() || (first <= columns.value() && heads <= (columns.value() - first) / size),
                   kInvalidArgument, name, " is ", x.DebugString(), ", expected ", heads, " heads of ", size,
                   " columns from column ", first, " on");
    return {x.dims[0], Dim(heads), x.dims[1], Dim(size)};
  }
  WHERRY_ENFORCE(first == 0, kInvalidArgument, "the heads of ", name, " begin at column ", first,
                 ", but their size is not given");
  WHERRY_ENFORCE(!columns.known() || columns.value() % heads == 0, kInvalidArgument, name, " is ", x.DebugString(),
                 ", whose columns are not those of ", heads, " heads");
  return {x.dims[0], Dim(heads), x.dims[1], FloorDiv(columns, Dim(heads))};
}

void CheckMask(const MetaTensor& mask, const std::array<Dim, 4>& scores) {
  if (!mask.rank_known) return;
  WHERRY_ENFORCE(mask.rank() <= 4, kInvalidArgument, "mask is ", mask.DebugString(), ", expected at most 4 dimensions");
  for (int i = 1; i <= mask.rank(); ++i) {
    const Dim& have = mask.dims[static_cast<size_t>(mask.rank() - i)];
    const Dim& want = scores[static_cast<size_t>(4 - i)];
    WHERRY_ENFORCE(have == Dim(1) || !Conflict(have, want), kInvalidArgument, "mask is ", mask.DebugString(),
                   ", the scores are ", DimsText({scores.begin(), scores.end()}));
  }
}

}  // namespace

MetaTensor AttentionInferMeta(const MetaTensor& query, const MetaTensor& key, const MetaTensor& value,
                              const MetaTensor* mask, int heads, int key_heads, int size,
                              const std::vector<int64_t>& columns, bool merged) {
  const int own = key_heads == 0 ? heads : key_heads;
  WHERRY_ENFORCE(heads >= 1 && own >= 1 && heads % own == 0, kInvalidArgument, "heads is ", heads, ", key_heads is ",
                 key_heads, ": expected a number of heads and a divisor of it");
  WHERRY_ENFORCE(size >= 0, kInvalidArgument, "size is ", size, ", expected 0 or more");
  WHERRY_ENFORCE(columns.empty() || columns.size() == 3, kInvalidArgument, "columns has ", columns.size(),
                 " entries, expected one each for query, key and value");
  WHERRY_ENFORCE(key.dtype == query.dtype && value.dtype == query.dtype, kInvalidArgument, "query is ",
                 query.DebugString(), ", key ", key.DebugString(), ", value ", value.DebugString(),
                 ": expected one type");
  WHERRY_ENFORCE(mask == nullptr || mask->dtype == query.dtype || mask->dtype == DataType::kBool, kInvalidArgument,
                 "mask is ", mask->DebugString(), ", expected bool or the type of query ", query.DebugString());
  if (!query.rank_known || !key.rank_known || !value.rank_known) return MetaTensor::UnknownRank(query.dtype);
  const auto column = [&](size_t i) { return columns.empty() ? int64_t{0} : columns[i]; };
  const Heads q = HeadsOf(query, "query", heads, size, column(0));
  const Heads k = HeadsOf(key, "key", own, size, column(1));
  const Heads v = HeadsOf(value, "value", own, size, column(2));
  const bool fit = !Conflict(q.batch, k.batch) && !Conflict(q.batch, v.batch) && !Conflict(k.sequence, v.sequence) &&
                   !Conflict(q.size, k.size);
  WHERRY_ENFORCE(fit, kInvalidArgument, "query ", query.DebugString(), ", key ", key.DebugString(), " and value ",
                 value.DebugString(), " do not fit one another");
  const Dim batch = MergeDims(MergeDims(q.batch, k.batch), v.batch);
  if (mask != nullptr) CheckMask(*mask, {batch, q.heads, q.sequence, MergeDims(k.sequence, v.sequence)});
  if (merged) return MetaTensor(query.dtype, {batch, q.sequence, q.heads * v.size});
  return MetaTensor(query.dtype, {batch, q.heads, q.sequence, v.size});
}

}  // namespace wherry
