#include "runtime/numeric_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace wherry {

namespace {

// Calls fn with each element as a double, in any order: padding between pixels is left out.
template <typename T, typename Fn>
void ForEach(const DenseTensor& tensor, const Fn& fn) {
  if (tensor.numel() == 0) return;
  const auto* data = static_cast<const T*>(tensor.raw_data());
  const bool padded = tensor.meta().pixel_stride != 0;
  const int64_t run = padded ? tensor.shape()[1] : tensor.numel();
  for (int64_t begin = 0, runs = tensor.numel() / run; runs > 0; --runs, begin += tensor.meta().pixel_stride) {
    for (int64_t i = 0; i < run; ++i) {
      if constexpr (std::is_same_v<T, double>) {
        fn(data[begin + i]);
      } else {
        fn(static_cast<double>(static_cast<float>(data[begin + i])));
      }
    }
  }
}

}  // namespace

NumericCheck::Range NumericCheck::RangeOf(const DenseTensor& tensor) {
  Range range;
  range.text = tensor.meta().DebugString();
  const bool readable = tensor.has_data() && IsHostMemory(tensor.target());
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const auto look = [&](double value) {
    if (std::isnan(value)) {
      ++range.nans;
    } else if (std::isinf(value)) {
      ++range.infinities;
    } else {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  };
  if (!readable) return range;
  switch (tensor.dtype()) {
    case DataType::kFloat: ForEach<float>(tensor, look); break;
    case DataType::kFP64: ForEach<double>(tensor, look); break;
    case DataType::kFP16: ForEach<Float16>(tensor, look); break;
    case DataType::kBF16: ForEach<BFloat16>(tensor, look); break;
    default: return range;
  }
  if (low <= high) range.text += StrCat(" in [", low, ", ", high, "]");
  if (range.nans > 0) range.text += StrCat(", ", range.nans, " NaN");
  if (range.infinities > 0) range.text += StrCat(", ", range.infinities, " infinite");
  return range;
}

void NumericCheck::Look(const ShapePlan& plan, const PlannedCall& call) {
  const Instruction& instruction = *call.instruction;
  bool nan_before = false;
  bool infinity_before = false;
  std::string args;
  for (size_t i = 0; i < instruction.args.size(); ++i) {
    const std::vector<std::string>& names = instruction.desc->Input(instruction.schema->args[i].name);
    for (size_t j = 0; j < names.size(); ++j) {
      const auto seen = seen_.find(names[j]);
      const Range range =
          seen != seen_.end() ? seen->second : RangeOf(plan.tensors[call.Slot(instruction.args[i].slots[j])]);
      nan_before = nan_before || range.nans > 0;
      infinity_before = infinity_before || range.infinities > 0;
      args += StrCat(args.empty() ? "" : "; ", instruction.schema->args[i].name, " '", names[j], "' is ", range.text);
    }
  }
  for (size_t i = 0; i < instruction.outputs.size(); ++i) {
    const std::vector<std::string>& names = instruction.desc->Output(instruction.schema->outputs[i].name);
    for (size_t j = 0; j < names.size(); ++j) {
      Range range = RangeOf(plan.tensors[call.Slot(instruction.outputs[i][j])]);
      const bool first = (range.nans > 0 && !nan_before) || (range.infinities > 0 && !infinity_before);
      WHERRY_ENFORCE(!first, kInvalidArgument, "the numeric check found that '", names[j], "' is ", range.text, "; ",
                     args);
      seen_[names[j]] = std::move(range);
    }
  }
}

}  // namespace wherry
