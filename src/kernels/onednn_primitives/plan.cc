#include "kernels/onednn_primitives/plan.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kernels/onednn_primitives/engine.h"
#include "kernels/onednn_primitives/memory_format.h"

namespace wherry::onednn {

namespace {

using dnnl::memory;

// One run's arguments. Making them allocates, telling them where the data lie does not.
struct Arguments {
  explicit Arguments(const Recipe& recipe)
      : source(recipe.source, Engine(), nullptr),
        weights_given(recipe.weights_given, Engine(), nullptr),
        weights(recipe.weights_wanted, Engine(), nullptr),
        destination(recipe.destination, Engine(), nullptr),
        scratchpad(recipe.scratchpad, Engine(), nullptr) {
    list = {{DNNL_ARG_SRC, source.get()},
            {DNNL_ARG_WEIGHTS, weights.get()},
            {DNNL_ARG_DST, destination.get()},
            {DNNL_ARG_SCRATCHPAD, scratchpad.get()}};
    for (const Operand& operand : recipe.operands) {
      operands.emplace_back(operand.desc, Engine(), nullptr);
      list.push_back({operand.argument, operands.back().get()});
    }
  }

  memory source;
  memory weights_given;
  memory weights;
  memory destination;
  memory scratchpad;
  std::vector<memory> operands;  // as in the recipe
  std::vector<dnnl_exec_arg_t> list;
};

// Arguments that no run uses; as many as there were runs at a time. Thread-safe.
class IdleArguments {
 public:
  std::unique_ptr<Arguments> Take(const Recipe& recipe) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Arguments> arguments = std::move(idle_.back());
        idle_.pop_back();
        return arguments;
      }
    }
    return std::make_unique<Arguments>(recipe);
  }
  void GiveBack(std::unique_ptr<Arguments> arguments) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(arguments));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Arguments>> idle_;
};

struct Plan : KernelPlan {
  Recipe recipe;
  bool reorders = false;  // the weights, at every run: they are neither packed nor as wanted
  dnnl::reorder reorder;
  size_t weights_offset = 0;  // of the reordered weights in the scratch memory
  mutable IdleArguments idle;
};

// What the wrapper's execute() does without its map of the arguments.
void Execute(const dnnl::primitive& primitive, const dnnl_exec_arg_t* list, size_t count) {
  dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive.get(), Stream().get(), static_cast<int>(count), list),
                          "could not execute a primitive");
}

bool HasZero(const MetaTensor& meta) {
  return std::any_of(meta.dims.begin(), meta.dims.end(), [](const Dim& dim) { return dim == Dim(0); });
}

memory View(const memory::desc& desc, const void* data) { return memory(desc, Engine(), const_cast<void*>(data)); }
// A memory's handle is not const, whatever the primitive does with it.
void* Mutable(const DenseTensor* tensor) { return const_cast<void*>(tensor->raw_data()); }

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

size_t PackedBytes(const TensorMeta& weight, std::string_view format) {
  const WeightFormat parsed = ParseFormatName(format);
  WHERRY_ENFORCE(parsed.given.get_size() == weight.nbytes(), kInvalidArgument, "oneDNN: a weight ",
                 weight.DebugString(), " is not what ", format, " packs");
  return parsed.wanted.get_size();
}

void Pack(const DenseTensor& weight, std::string_view format, void* packed) {
  const WeightFormat parsed = ParseFormatName(format);
  // Weights are packed on the pool's threads. Each of them would begin OpenMP threads of its own, of which there are
  // then more than processors, so that libgomp lets all of its threads sleep between primitives: with two threads
  // mobilenet_v2's took as long as with one.
  const ThreadScope one(1, nullptr);
  Translate("packing weights", [&] {
    memory from = View(parsed.given, weight.raw_data());
    memory to = View(parsed.wanted, packed);
    MakeReorder(parsed.given, parsed.wanted).execute(Stream(), from, to);
    Stream().wait();
  });
}

void Run(KernelContext* context) {
  const auto& plan = context->plan<Plan>();
  const Recipe& recipe = plan.recipe;
  const auto& device = context->device_as<CpuContext>();
  auto* scratch = static_cast<std::byte*>(plan.scratch_bytes > 0 ? device.Scratch(plan.scratch_bytes) : nullptr);
  const ThreadScope threads(device.threads(), device.pool());
  Translate("running a primitive", [&] {
    std::unique_ptr<Arguments> args = plan.idle.Take(recipe);
    if (context->packed_count() > 0) {
      args->weights.set_data_handle(context->Packed(0).buffer->data());
    } else if (plan.reorders) {
      args->weights_given.set_data_handle(Mutable(context->Input(1)));
      args->weights.set_data_handle(scratch + plan.weights_offset);
      const dnnl_exec_arg_t list[] = {{DNNL_ARG_FROM, args->weights_given.get()}, {DNNL_ARG_TO, args->weights.get()}};
      Execute(plan.reorder, list, std::size(list));
    } else {
      args->weights.set_data_handle(Mutable(context->Input(1)));
    }
    args->source.set_data_handle(Mutable(context->Input(0)));
    args->destination.set_data_handle(context->Output(0)->mutable_raw_data());
    args->scratchpad.set_data_handle(scratch);
    for (size_t i = 0; i < recipe.operands.size(); ++i) {
      args->operands[i].set_data_handle(Mutable(context->InputAt(2)[recipe.operands[i].index]));
    }
    Execute(recipe.primitive, args->list.data(), args->list.size());
    Stream().wait();
    plan.idle.GiveBack(std::move(args));
  });
}

}  // namespace wherry::onednn
