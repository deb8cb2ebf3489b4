#include "kernel/call_by_context.h"

#include <deque>
#include <vector>

#include "base/check.h"
#include "kernel/default_attributes.h"
#include "kernel/kernel_registry.h"
#include "kernel/plan_cache.h"
#include "op/schema_registry.h"

namespace wherry {

namespace {

const OpSchema& SchemaOfKernel(std::string_view kernel_name) {
  for (const OpSchema* schema : SchemaRegistry::Global().List()) {
    if (schema->kernel == kernel_name) return *schema;
  }
  Throw(ErrorCode::kNotFound, "no operator has kernels named ", kernel_name);
}

// What KernelProblem wants, read back from the context.
class Problem {
 public:
  Problem(const OpSchema& schema, const KernelContext& context) : schema_(schema), bound_(schema.args.size()) {
    for (size_t i = 0; i < bound_.size(); ++i) {
      if (!schema.args[i].is_tensor()) bound_[i].attribute = &DefaultAttributes(schema)[i];
    }
    size_t input = 0;
    size_t attribute = 0;
    for (int8_t param : schema.kernel_params) {
      BoundArg& arg = bound_[static_cast<size_t>(param)];
      const ArgDef& def = schema.args[static_cast<size_t>(param)];
      if (!def.is_tensor()) {
        WHERRY_ENFORCE(attribute < context.attr_count(), kInvalidArgument, schema.kernel, ": attribute ", def.name,
                       " is missing");
        arg.attribute = &converted_.emplace_back(ConvertAttribute(context.AttributeAt(attribute++), def.type,
                                                                  StrCat(schema.kernel, ": attribute ", def.name)));
        continue;
      }
      WHERRY_ENFORCE(input < context.input_count(), kInvalidArgument, schema.kernel, ": input ", def.name,
                     " is missing");
      for (const DenseTensor* tensor : context.InputAt(input++)) {
        if (tensor != nullptr) arg.tensors.push_back(&metas_.emplace_back(tensor->meta()));
      }
    }
    WHERRY_ENFORCE(context.output_count() == schema.outputs.size(), kInvalidArgument, schema.kernel, ": expected ",
                   schema.outputs.size(), " outputs, got ", context.output_count());
    for (size_t i = 0; i < context.output_count(); ++i) {
      for (const DenseTensor* tensor : context.OutputAt(i)) {
        WHERRY_ENFORCE(tensor != nullptr, kInvalidArgument, schema.kernel, ": an output is missing");
        outputs_.push_back(&metas_.emplace_back(tensor->meta()));
      }
    }
    const auto* cpu = dynamic_cast<const CpuContext*>(context.device());
    threads_ = cpu != nullptr ? cpu->threads() : 1;
  }

  KernelProblem problem() const { return KernelProblem(schema_, bound_, outputs_, {}, threads_); }
  std::shared_ptr<const KernelPlan> Plan(const Kernel& kernel) const {
    return PlanCache::Global().Get(kernel, schema_, bound_, outputs_, {}, threads_);
  }

 private:
  const OpSchema& schema_;
  std::vector<BoundArg> bound_;
  std::deque<Attribute> converted_;
  std::deque<MetaTensor> metas_;
  std::vector<const MetaTensor*> outputs_;
  int threads_ = 1;
};

}  // namespace

void CallByContext(std::string_view kernel_name, const KernelKey& key, KernelContext* context) {
  const Problem call(SchemaOfKernel(kernel_name), *context);
  const KernelProblem problem = call.problem();
  const Kernel& kernel = KernelFactory::Instance().SelectKernelOrThrowError(kernel_name, key, &problem);
  if (kernel.plan != nullptr) context->SetPlan(call.Plan(kernel), {});
  kernel(context);
}

}  // namespace wherry
