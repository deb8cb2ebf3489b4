#include "kernels/onednn/plan.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "kernels/onednn/engine.h"
#include "kernels/onednn/memory_format.h"

namespace wherry::onednn {

namespace {

using dnnl::memory;

struct Plan : KernelPlan {
  Recipe recipe;
  bool reorders = false;  // the weights, at every run: they are neither packed nor as wanted
  dnnl::reorder reorder;
  size_t weights_offset = 0;  // of the reordered weights in the scratch memory
};

bool HasZero(const MetaTensor& meta) {
  return std::any_of(meta.dims.begin(), meta.dims.end(), [](const Dim& dim) { return dim == Dim(0); });
}

memory View(const memory::desc& desc, const void* data) { return memory(desc, Engine(), const_cast<void*>(data)); }

dnnl::reorder MakeReorder(const memory::desc& from, const memory::desc& to) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::library);
  return dnnl::reorder(dnnl::reorder::primitive_desc(Engine(), from, Engine(), to, attributes));
}

}  // namespace

bool KnownAndNotEmpty(const KernelProblem& problem, std::string_view x, std::string_view weights, std::string* why) {
  const MetaTensor* tensors[] = {problem.Input(x), problem.Input(weights), &problem.Output()};
  bool known = true;
  for (const MetaTensor* tensor : tensors) {
    known = known && tensor->known();
    if (HasZero(*tensor)) *why = "a tensor is empty";
  }
  return known && why->empty();
}

std::string RefusalOf(const Recipe& recipe) {
  if (recipe.implementation.find("ref") == std::string::npos) return "";
  return StrCat("oneDNN has only its reference implementation for this (", recipe.implementation, ")");
}

std::shared_ptr<const KernelPlan> MakePlan(const KernelProblem& problem, std::string_view weights, Recipe recipe) {
  auto plan = std::make_shared<Plan>();
  plan->algorithm = recipe.implementation;
  plan->scratch_bytes = recipe.scratchpad.get_size();
  if (recipe.weights_given != recipe.weights_wanted) {
    std::optional<std::string> format;
    if (problem.IsConstant(weights)) format = FormatName({recipe.weights_given, recipe.weights_wanted});
    if (format.has_value()) {
      plan->packs.push_back({1, *format});
    } else {
      plan->reorders = true;
      plan->reorder = Translate("making a reorder of weights",
                                [&recipe] { return MakeReorder(recipe.weights_given, recipe.weights_wanted); });
      plan->weights_offset = (plan->scratch_bytes + 63) / 64 * 64;
      plan->scratch_bytes = plan->weights_offset + recipe.weights_wanted.get_size();
    }
  }
  plan->recipe = std::move(recipe);
  return plan;
}

PackedWeight Pack(const DenseTensor& weight, std::string_view format) {
  const WeightFormat parsed = ParseFormatName(format);
  WHERRY_ENFORCE(parsed.given.get_size() == weight.nbytes(), kInvalidArgument, "oneDNN: a weight ",
                 weight.meta().DebugString(), " is not what ", format, " packs");
  PackedWeight packed;
  packed.format = std::string(format);
  packed.buffer = HostAllocator().Allocate(parsed.wanted.get_size());
  Translate("packing weights", [&] {
    memory from = View(parsed.given, weight.raw_data());
    memory to = View(parsed.wanted, packed.buffer->data());
    MakeReorder(parsed.given, parsed.wanted).execute(Stream(), from, to);
    Stream().wait();
  });
  return packed;
}

void Run(KernelContext* context) {
  const auto& plan = context->plan<Plan>();
  const Recipe& recipe = plan.recipe;
  const auto& device = context->device_as<CpuContext>();
  auto* scratch = static_cast<std::byte*>(plan.scratch_bytes > 0 ? device.Scratch(plan.scratch_bytes) : nullptr);
  const ThreadScope threads(device.threads(), device.pool());
  Translate("running a primitive", [&] {
    memory weights;
    if (context->packed_count() > 0) {
      weights = View(recipe.weights_wanted, context->Packed(0).buffer->data());
    } else if (plan.reorders) {
      memory given = View(recipe.weights_given, context->Input(1)->raw_data());
      weights = View(recipe.weights_wanted, scratch + plan.weights_offset);
      plan.reorder.execute(Stream(), given, weights);
    } else {
      weights = View(recipe.weights_wanted, context->Input(1)->raw_data());
    }
    std::unordered_map<int, memory> args = {
        {DNNL_ARG_SRC, View(recipe.source, context->Input(0)->raw_data())},
        {DNNL_ARG_WEIGHTS, weights},
        {DNNL_ARG_DST, View(recipe.destination, context->Output(0)->mutable_raw_data())},
        {DNNL_ARG_SCRATCHPAD, View(recipe.scratchpad, scratch)},
    };
    for (const Operand& operand : recipe.operands) {
      args.emplace(operand.argument, View(operand.desc, context->InputAt(2)[operand.index]->raw_data()));
    }
    recipe.primitive.execute(Stream(), args);
    Stream().wait();
  });
}

}  // namespace wherry::onednn
