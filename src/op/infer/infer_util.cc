#include "op/infer/infer_util.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/strings.h"

namespace wherry {

int NormalizeAxis(int64_t axis, int rank, const char* what) {
  WHERRY_ENFORCE(axis >= -rank && axis < rank, kInvalidArgument, what, " is ", axis, ", outside [", -rank, ", ", rank,
                 ") of rank ", rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::vector<int> NormalizeAxes(const std::vector<int64_t>& axes, int rank, const char* what) {
  std::vector<int> result;
  result.reserve(axes.size());
  for (const int64_t axis : axes) {
    const int normalized = NormalizeAxis(axis, rank, what);
    WHERRY_ENFORCE(std::find(result.begin(), result.end(), normalized) == result.end(), kInvalidArgument, what,
                   " has axis ", normalized, " twice: [", Join(axes, ", "), "]");
    result.push_back(normalized);
  }
  return result;
}

std::optional<std::vector<int64_t>> KnownNumbers(const SymIntArray& array) {
  if (!array.known()) return std::nullopt;
  std::vector<int64_t> numbers;
  numbers.reserve(array.values->size());
  for (const Dim& dim : *array.values) {
    if (!dim.known()) return std::nullopt;
    numbers.push_back(dim.value());
  }
  return numbers;
}

std::string DimsText(const std::vector<Dim>& dims) {
  std::string text = "[";
  for (const Dim& dim : dims) text += (text.size() > 1 ? "," : "") + dim.DebugString();
  return text + "]";
}

std::vector<Dim> BroadcastDims(const MetaTensor& x, const MetaTensor& y, const char* a, const char* b) {
  const size_t rank = std::max(x.dims.size(), y.dims.size());
  std::vector<Dim> result(rank);
  for (size_t i = 0; i < rank; ++i) {
    const size_t from_end = rank - i;
    const Dim left = from_end <= x.dims.size() ? x.dims[x.dims.size() - from_end] : Dim(1);
    const Dim right = from_end <= y.dims.size() ? y.dims[y.dims.size() - from_end] : Dim(1);
    const std::optional<Dim> dim = BroadcastDim(left, right);
    WHERRY_ENFORCE(dim.has_value(), kInvalidArgument, a, " ", DimsText(x.dims), " and ", b, " ", DimsText(y.dims),
                   " do not broadcast: ", left.DebugString(), " against ", right.DebugString(), " at axis ", i,
                   " of the result");
    result[i] = *dim;
  }
  return result;
}

bool Conflict(const Dim& a, const Dim& b) { return a.known() && b.known() && a != b; }

Dim MergeDims(const Dim& a, const Dim& b) { return a.known() ? a : b; }

namespace {

bool Fits(DataType dtype, int64_t value) {
  switch (dtype) {
    case DataType::kBool: return value == 0 || value == 1;
    case DataType::kInt8: return value >= INT8_MIN && value <= INT8_MAX;
    case DataType::kUInt8: return value >= 0 && value <= UINT8_MAX;
    case DataType::kInt16: return value >= INT16_MIN && value <= INT16_MAX;
    case DataType::kUInt16: return value >= 0 && value <= UINT16_MAX;
    case DataType::kInt32: return value >= INT32_MIN && value <= INT32_MAX;
    case DataType::kUInt32: return value >= 0 && value <= static_cast<int64_t>(UINT32_MAX);
    case DataType::kUInt64: return value >= 0;
    default: return true;
  }
}

}  // namespace

bool MayHaveValues(const MetaTensor& meta) {
  if (!meta.rank_known || !(IsInteger(meta.dtype) || meta.dtype == DataType::kBool)) return false;
  int64_t count = 1;
  for (const Dim& dim : meta.dims) {
    // The order matters: 0 * huge must not be computed before the 0 is seen, so the product stays below kMaxValues at
    // every step.
    if (!dim.known() || dim.value() > MetaTensor::kMaxValues) return false;
    count *= dim.value();
    if (count > MetaTensor::kMaxValues) return false;
  }
  return true;
}

void SetValues(MetaTensor* meta, std::optional<std::vector<Dim>> values) {
  meta->values.reset();
  if (!values || !MayHaveValues(*meta)) return;
  for (const Dim& value : *values) {
    if (value.known() && !Fits(meta->dtype, value.value())) return;
  }
  WHERRY_CHECK(static_cast<int64_t>(values->size()) == meta->shape().numel(), values->size(), " values for ",
               meta->DebugString());
  meta->values = std::move(values);
}

std::vector<size_t> BroadcastIndices(const std::vector<Dim>& out, const std::vector<Dim>& dims) {
  size_t count = 1;
  for (const Dim& dim : out) count *= static_cast<size_t>(dim.value());
  std::vector<size_t> indices(count, 0);
  size_t out_stride = 1;
  size_t stride = 1;
  for (size_t from_end = 1; from_end <= out.size() && from_end <= dims.size(); ++from_end) {
    const size_t extent = static_cast<size_t>(out[out.size() - from_end].value());
    const size_t own = static_cast<size_t>(dims[dims.size() - from_end].value());
    if (own != 1) {
      for (size_t i = 0; i < count; ++i) indices[i] += (i / out_stride) % extent * stride;
    }
    out_stride *= extent;
    stride *= own;
  }
  return indices;
}

int EpilogueChannelAxis(std::string_view op) { return op.substr(0, 4) == "conv" ? 1 : -1; }

void CheckEpilogue(const Epilogue& epilogue, const std::vector<const MetaTensor*>& operands, const MetaTensor& out,
                   int channel_axis) {
  WHERRY_ENFORCE(epilogue.steps.size() <= static_cast<size_t>(Epilogue::kMaxSteps), kInvalidArgument,
                 "the epilogue has ", epilogue.steps.size(), " steps, at most ", Epilogue::kMaxSteps, " are allowed");
  for (const EpilogueStep& step : epilogue.steps) {
    if (step.kind == EpilogueStep::Kind::kAct) continue;
    WHERRY_ENFORCE(step.operand >= 0 && static_cast<size_t>(step.operand) < operands.size(), kInvalidArgument,
                   "the epilogue '", ToString(epilogue), "' uses operand ", step.operand, ", but there are ",
                   operands.size());
    const MetaTensor& operand = *operands[static_cast<size_t>(step.operand)];
    if (!operand.rank_known || !out.rank_known) continue;
    if (step.kind == EpilogueStep::Kind::kAdd) {
      bool fits = operand.dims.size() == out.dims.size();
      for (size_t i = 0; fits && i < out.dims.size(); ++i) fits = !Conflict(operand.dims[i], out.dims[i]);
      WHERRY_ENFORCE(fits, kInvalidArgument, "operand ", step.operand, " ", DimsText(operand.dims),
                     " is added to a result of shape ", DimsText(out.dims));
      continue;
    }
    const Dim channels = out.dims.empty()
                             ? Dim(1)
                             : out.dims[channel_axis < 0 ? out.dims.size() - 1 : static_cast<size_t>(channel_axis)];
    WHERRY_ENFORCE(!Conflict(operand.numel(), channels), kInvalidArgument, "operand ", step.operand, " ",
                   DimsText(operand.dims), " is a scale or bias for ", channels.DebugString(), " channels");
  }
}

}  // namespace wherry
