#include <algorithm>

#include "base/check.h"
#include "base/strings.h"
#include "op/infer/infer_meta.h"
#include "op/infer/infer_util.h"

namespace wherry {

namespace {

void RequireStrings(const MetaTensor& x, const char* name) {
  WHERRY_ENFORCE(x.dtype == DataType::kString || x.dtype == DataType::kUndefined, kInvalidArgument, name, " is ",
                 x.DebugString(), ", expected strings");
}

}  // namespace

MetaTensor StringConcatInferMeta(const MetaTensor& x, const MetaTensor& y) {
  RequireStrings(x, "x");
  RequireStrings(y, "y");
  if (!x.rank_known || !y.rank_known) return MetaTensor::UnknownRank(DataType::kString);
  return MetaTensor(DataType::kString, BroadcastDims(x, y, "x", "y"));
}

std::vector<MetaTensor> StringSplitInferMeta(const MetaTensor& x) {
  RequireStrings(x, "x");
  MetaTensor count = x.WithoutValues();
  count.dtype = DataType::kInt64;
  return {MetaTensor::UnknownRank(DataType::kString), count};
}

MetaTensor StringNormalizeInferMeta(const MetaTensor& x, const std::string& letter_case) {
  RequireStrings(x, "x");
  WHERRY_ENFORCE(letter_case == "none" || letter_case == "lower" || letter_case == "upper", kInvalidArgument,
                 "letter_case is ", Quote(letter_case), ", expected none, lower or upper");
  const bool row = x.rank_known && x.rank() == 2 && (!x.dims[0].known() || x.dims[0] == Dim(1));
  WHERRY_ENFORCE(!x.rank_known || x.rank() == 1 || row, kInvalidArgument, "x is ", x.DebugString(),
                 ", expected [n] or [1,n]");
  return MetaTensor::UnknownRank(DataType::kString);
}

MetaTensor TfIdfInferMeta(const MetaTensor& x, const MetaTensor& pool, const std::vector<int64_t>& counts,
                          const std::vector<int64_t>& indexes, int64_t shortest, int64_t longest, int64_t max_skips,
                          const std::string& mode, const std::vector<double>& weights) {
  WHERRY_ENFORCE(mode == "TF" || mode == "IDF" || mode == "TFIDF", kInvalidArgument, "mode is ", Quote(mode),
                 ", expected TF, IDF or TFIDF");
  WHERRY_ENFORCE(1 <= shortest && shortest <= longest && longest <= static_cast<int64_t>(counts.size()),
                 kInvalidArgument, "grams of ", shortest, " to ", longest, " elements, there are pools for 1 to ",
                 counts.size());
  WHERRY_ENFORCE(max_skips >= 0, kInvalidArgument, "max_skips is ", max_skips);
  if (pool.rank_known && pool.known()) {
    WHERRY_ENFORCE(pool.rank() == 1 && pool.dtype == x.dtype, kInvalidArgument, "pool is ", pool.DebugString(),
                   ", x is ", x.DebugString());
    // Every gram has an index.
    int64_t grams = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      const int64_t end = i + 1 < counts.size() ? counts[i + 1] : pool.dims[0].value();
      const auto length = static_cast<int64_t>(i) + 1;
      WHERRY_ENFORCE(counts[i] >= 0 && counts[i] <= end && end <= pool.dims[0].value(), kInvalidArgument,
                     "counts are [", Join(counts, ","), "] in a pool of ", pool.dims[0].value());
      WHERRY_ENFORCE((end - counts[i]) % length == 0, kInvalidArgument, "the grams of ", length, " elements are ",
                     end - counts[i], " elements");
      grams += (end - counts[i]) / length;
    }
    WHERRY_ENFORCE(static_cast<int64_t>(indexes.size()) == grams, kInvalidArgument, indexes.size(), " indexes for ",
                   grams, " grams");
  }
  WHERRY_ENFORCE(weights.empty() || weights.size() == indexes.size(), kInvalidArgument, weights.size(), " weights for ",
                 indexes.size(), " indexes");
  int64_t width = 0;
  for (const int64_t index : indexes) {
    constexpr int64_t kMost = int64_t{1} << 40;
    WHERRY_ENFORCE(index >= 0 && index < kMost, kInvalidArgument, "an index is ", index);
    width = std::max(width, index + 1);
  }
  if (!x.rank_known) return MetaTensor::UnknownRank(DataType::kFloat);
  WHERRY_ENFORCE(x.rank() == 1 || x.rank() == 2, kInvalidArgument, "x is ", x.DebugString(), ", expected [c] or [n,c]");
  MetaTensor out(DataType::kFloat, {Dim(width)});
  if (x.rank() == 2) out.dims.insert(out.dims.begin(), x.dims[0]);
  return out;
}

MetaTensor MapValuesInferMeta(const MetaTensor& x, const MetaTensor& keys, const MetaTensor& values,
                              const MetaTensor& fallback) {
  if (keys.known() && values.known()) {
    WHERRY_ENFORCE(keys.rank_known && keys.rank() == 1 && keys.dtype == x.dtype && values.dims == keys.dims,
                   kInvalidArgument, "x is ", x.DebugString(), ", keys are ", keys.DebugString(), ", values ",
                   values.DebugString());
  }
  if (fallback.known()) {
    WHERRY_ENFORCE(fallback.dtype == values.dtype && fallback.tensor_meta().shape.numel() == 1, kInvalidArgument,
                   "fallback is ", fallback.DebugString(), ", expected one ", ToString(values.dtype));
  }
  MetaTensor out = x.WithoutValues();
  out.dtype = values.dtype;
  return out;
}

}  // namespace wherry
