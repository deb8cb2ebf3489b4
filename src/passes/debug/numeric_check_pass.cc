// Reports weights that have a NaN or an infinity: what is wrong before a run begins, or what folding constants made so.
// What goes wrong in a run is found by the runtime (ConfigBase::set_numeric_check).
#include <cmath>

#include "base/check.h"
#include "pass/pass_registry.h"

namespace wherry::mir {
namespace {

class NumericCheckPass : public DebugPass {
 public:
  void Apply(const std::unique_ptr<SSAGraph>& graph) override {
    for (const Node* node : graph->nodes()) {
      const DenseTensor* weight = node->IsArg() ? graph->TryWeight(node) : nullptr;
      if (weight == nullptr) continue;
      int64_t bad = 0;
      if (weight->dtype() == DataType::kFloat) bad = CountBad<float>(*weight);
      if (weight->dtype() == DataType::kFP64) bad = CountBad<double>(*weight);
      if (weight->dtype() == DataType::kFP16) bad = CountBad<Float16>(*weight);
      if (weight->dtype() == DataType::kBF16) bad = CountBad<BFloat16>(*weight);
      if (bad > 0)
        Note(StrCat("weight ", node->AsArg().name, ", ", weight->meta().DebugString(), ", has ", bad,
                    " NaN or infinite"));
    }
  }

 private:
  // A weight has no padding: it lies plain, or as a cast of a constant left it, with all its elements in use.
  template <typename T>
  static int64_t CountBad(const DenseTensor& weight) {
    if (weight.meta().pixel_stride != 0) return 0;
    const auto* data = static_cast<const T*>(weight.raw_data());
    int64_t bad = 0;
    for (int64_t i = 0; i < weight.numel(); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        bad += std::isfinite(data[i]) ? 0 : 1;
      } else {
        bad += std::isfinite(static_cast<float>(data[i])) ? 0 : 1;
      }
    }
    return bad;
  }
};

}  // namespace
}  // namespace wherry::mir

REGISTER_MIR_PASS(numeric_check_pass, wherry::mir::NumericCheckPass).BindTargets({TARGET(kAny)});
