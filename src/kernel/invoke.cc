#include "kernel/invoke.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "base/check.h"
#include "base/stopwatch.h"
#include "kernel/cost.h"
#include "kernel/default_attributes.h"
#include "kernel/empty_extents.h"
#include "kernel/kernel_context.h"
#include "kernel/kernel_registry.h"
#include "kernel/layout_rule.h"
#include "kernel/plan_cache.h"
#include "kernel/provider.h"
#include "wherry/tensor.h"

namespace wherry {

namespace {

bool Names(std::span<const int8_t> list, size_t arg) {
  for (int8_t index : list) {
    if (static_cast<size_t>(index) == arg) return true;
  }
  return false;
}

bool FitsDevice(Target kernel, Target device) {
  return kernel == device || kernel == Target::kAny || (IsHostMemory(kernel) && IsHostMemory(device));
}

// One call of InvokeOp, step by step.
class Invocation {
 public:
  Invocation(const OpSchema& schema, const std::vector<CallArg>& args, DeviceContext* device,
             const InvokeOptions& options)
      : schema_(schema), args_(args), options_(options), device_(device) {}

  std::vector<std::vector<DenseTensor>> Run() {
    CheckArguments();
    ResolveKey();
    if (std::string_view(schema_.name) == "io_copy" && !KernelFactory::Instance().Has(schema_.kernel))
      return CopyToTarget();
    BindTensors();
    InferOutputs();
    const Kernel& kernel = options_.kernel != nullptr ? CheckedKernel() : SelectKernel();
    if (options_.budget_us != nullptr) Spend(kernel);
    TransformInputs();
    AllocateOutputs();
    if (!NothingToCompute()) Execute(kernel);
    RestoreLayout(kernel.key.layout());
    if (options_.inplace != nullptr) WriteBack();
    return std::move(outputs_);
  }

 private:
  std::string Named(size_t i) const { return StrCat("argument '", schema_.args[i].name, "'"); }

  void CheckArguments() {
    WHERRY_ENFORCE(!schema_.RunByRuntime(), kUnsupported, schema_.name, " runs in a predictor only");
    WHERRY_ENFORCE(args_.size() == schema_.args.size(), kInvalidArgument, "expected ", schema_.args.size(),
                   " arguments, got ", args_.size());
    bound_.resize(args_.size());
    for (size_t i = 0; i < args_.size(); ++i) {
      const ArgDef& def = schema_.args[i];
      const size_t count = args_[i].tensors.size();
      const bool is_attribute = !def.is_tensor() && count == 0;
      WHERRY_ENFORCE(def.kind != ArgKind::kTensor || count == 1, kInvalidArgument, Named(i), " is one tensor, got ",
                     count);
      WHERRY_ENFORCE(def.kind == ArgKind::kTensorList || count <= 1, kInvalidArgument, Named(i),
                     " is at most one tensor, got ", count);
      WHERRY_ENFORCE(def.is_tensor() || is_attribute || def.may_be_tensor(), kInvalidArgument, Named(i), " of type ",
                     ToString(def.type), " cannot be given as a tensor");
      for (const DenseTensor* tensor : args_[i].tensors) {
        WHERRY_ENFORCE(tensor != nullptr && tensor->has_data(), kInvalidArgument, Named(i),
                       " is a tensor without data");
      }
      if (is_attribute) bound_[i].attribute = &BindAttribute(i);
    }
  }

  const Attribute& BindAttribute(size_t i) {
    const ArgDef& def = schema_.args[i];
    const Attribute& given = args_[i].attribute;
    if (TypeOf(given) == def.type) return given;
    if (TypeOf(given) == AttrType::kNone) {
      WHERRY_ENFORCE(def.default_text != nullptr, kInvalidArgument, Named(i), " must be given");
      return DefaultAttributes(schema_)[i];
    }
    return converted_.emplace_back(ConvertAttribute(given, def.type, Named(i)));
  }

  void ResolveKey() {
    KernelKey fixed = options_.key;
    if (options_.kernel != nullptr) {
      // A part that the kernel leaves open is found as ever.
      const KernelKey& key = options_.kernel->key;
      fixed = KernelKey(fixed.target(), key.dtype() != DataType::kAny ? key.dtype() : fixed.dtype(),
                        key.layout() != DataLayout::kAny ? key.layout() : fixed.layout());
    }
    if (device_ != nullptr && fixed.target() == Target::kUndefined) {
      fixed = KernelKey(device_->target(), fixed.dtype(), fixed.layout());
    }
    key_ = ResolveKernelKey(schema_, args_, fixed);
    if (device_ == nullptr) device_ = GetDeviceContextByBackend(key_.target());
    WHERRY_ENFORCE(FitsDevice(key_.target(), device_->target()), kInvalidArgument, "a kernel for the target ",
                   ToString(key_.target()), " cannot run with a context of the target ", ToString(device_->target()));
  }

  std::vector<std::vector<DenseTensor>> CopyToTarget() {
    const int target = schema_.FindArg("target");
    WHERRY_CHECK(target >= 0, "io_copy has no argument target");
    const Target to = std::get<Target>(*bound_[static_cast<size_t>(target)].attribute);
    DeviceContext* context = FitsDevice(to, device_->target()) ? device_ : GetDeviceContextByBackend(to);
    return {{TransformTensor(*args_[0].tensors.at(0), DataType::kUndefined, DataLayout::kUndefined, context)}};
  }

  // The type that the kernel will see.
  DataType TypeFor(size_t arg, const DenseTensor& tensor) const {
    const bool open = key_.dtype() == DataType::kAny || key_.dtype() == DataType::kUndefined;
    return !open && Names(schema_.support_trans_dtype, arg) ? key_.dtype() : tensor.dtype();
  }

  // What InferMeta and the kernels are asked with: the tensors as they will be after the transforms.
  void BindTensors() {
    for (size_t i = 0; i < args_.size(); ++i) {
      for (const DenseTensor* tensor : args_[i].tensors) {
        if (!schema_.args[i].is_tensor()) {
          bound_[i].attribute = &converted_.emplace_back(ReadAttribute(*tensor, schema_.args[i].type));
          continue;
        }
        MetaTensor& meta = metas_.emplace_back(tensor->meta());
        meta.dtype = TypeFor(i, *tensor);
        tensors_.push_back({i, tensor, &meta});
        bound_[i].tensors.push_back(&meta);
      }
    }
  }

  // An attribute that is given as a tensor.
  static Attribute ReadAttribute(const DenseTensor& tensor, AttrType type) {
    const Tensor value(std::make_shared<DenseTensor>(tensor));
    if (type == AttrType::kScalar) return Scalar(value);
    return IntArray(value);
  }

  void InferOutputs() {
    const std::vector<size_t>& counts = options_.output_counts;
    WHERRY_ENFORCE(counts.empty() || counts.size() == schema_.outputs.size(), kInvalidArgument,
                   "expected the counts of ", schema_.outputs.size(), " outputs, got ", counts.size());
    inferred_ = InferMeta(schema_, bound_, counts);
    for (const std::vector<MetaTensor>& group : inferred_) {
      for (const MetaTensor& meta : group) {
        output_metas_.push_back(&meta);
        inferred_layouts_.push_back(meta.layout);
      }
    }
  }

  // Gives all metas the layouts that they have for a kernel of this layout.
  void SetLayouts(DataLayout kernel_layout) {
    for (const TensorArg& arg : tensors_) {
      if (Names(schema_.skip_transform, arg.index)) continue;
      const DataLayout layout =
          LayoutForKernel(kernel_layout, key_.layout(), FollowsLayout(schema_, arg.index), arg.meta->rank());
      arg.meta->pixel_stride = layout == arg.tensor->layout() ? arg.tensor->meta().pixel_stride : 0;
      arg.meta->layout = layout;
    }
    const bool elementwise = schema_.Has(kTraitUnary) || schema_.Has(kTraitBinary);
    size_t output = 0;
    for (std::vector<MetaTensor>& group : inferred_) {
      for (MetaTensor& meta : group) {
        // A kernel for any layout keeps the call's if the op is elementwise, else InferMeta knows (the op `layout`).
        meta.layout = kernel_layout != DataLayout::kAny || elementwise
                          ? LayoutForKernel(kernel_layout, key_.layout(), true, meta.rank())
                          : inferred_layouts_[output];
        const bool padded =
            options_.pixel_padding > 0 && meta.layout == DataLayout::kNHWC && meta.rank() > 2 && meta.dims[1].known();
        meta.pixel_stride = padded ? meta.dims[1].value() + options_.pixel_padding : 0;
        ++output;
      }
    }
  }

  void Spend(const Kernel& kernel) const {
    const KernelProblem problem(schema_, bound_, output_metas_, options_.constants, /*threads=*/1);
    const double us = EstimateCost(kernel, problem).microseconds;
    WHERRY_ENFORCE(us <= *options_.budget_us, kResourceExhausted, "kernel ", kernel.id(), " would take some ",
                   std::ceil(us / 1000), " ms, of which ", std::floor(*options_.budget_us / 1000), " are left");
    *options_.budget_us -= us;
  }

  KernelProblem Problem() const { return KernelProblem(schema_, bound_, output_metas_, options_.constants, threads()); }
  int threads() const {
    const auto* cpu = dynamic_cast<const CpuContext*>(&device_->implementation());
    return cpu != nullptr ? cpu->threads() : 1;
  }

  const Kernel* TrySelect(DataLayout layout) {
    SetLayouts(layout);
    const KernelProblem problem = Problem();
    return KernelFactory::Instance().SelectKernel(schema_.kernel, KernelKey(key_.target(), key_.dtype(), layout),
                                                  &problem);
  }

  const Kernel& SelectKernel() {
    const Kernel* kernel = TrySelect(key_.layout());
    const bool fallback =
        kernel == nullptr || (kernel->key.target() == Target::kHost && key_.target() == Target::kNative);
    const bool open = options_.key.layout() == DataLayout::kUndefined && HasImage();
    if (fallback && open) {
      const DataLayout other = key_.layout() == DataLayout::kNHWC ? DataLayout::kNCHW : DataLayout::kNHWC;
      const Kernel* better = TrySelect(other);
      if (better != nullptr && (kernel == nullptr || better->key.target() == key_.target())) kernel = better;
    }
    if (kernel == nullptr) {
      SetLayouts(key_.layout());
      const KernelProblem problem = Problem();
      kernel = &KernelFactory::Instance().SelectKernelOrThrowError(schema_.kernel, key_, &problem);
    }
    SetLayouts(kernel->key.layout());
    return *kernel;
  }

  const Kernel& CheckedKernel() {
    const Kernel& kernel = *options_.kernel;
    WHERRY_ENFORCE(FitsDevice(kernel.key.target(), device_->target()), kInvalidArgument, "kernel ", kernel.id(),
                   " is for ", ToString(kernel.key.target()), ", the context for ", ToString(device_->target()));
    if (schema_.support_trans_dtype.empty() && kernel.key.dtype() != DataType::kAny) {
      const DataType dtype = ResolveKernelKey(schema_, args_, KernelKey()).dtype();
      WHERRY_ENFORCE(dtype == kernel.key.dtype(), kInvalidArgument, "kernel ", kernel.id(), " is for ",
                     ToString(kernel.key.dtype()), ", the call is of ", ToString(dtype));
    }
    SetLayouts(kernel.key.layout());
    const KernelProblem problem = Problem();
    const Support support = kernel.Supports(problem);
    if (!support.ok && options_.or_another)
      return KernelFactory::Instance().SelectKernelOrThrowError(schema_.kernel, kernel.key, &problem);
    WHERRY_ENFORCE(support.ok, kUnsupported, "kernel ", kernel.id(), " refuses this call: ", support.reason);
    return kernel;
  }

  // Whether the layout is a question at all.
  bool HasImage() const {
    for (const TensorArg& arg : tensors_) {
      if (arg.meta->rank() >= 3 && FollowsLayout(schema_, arg.index)) return true;
    }
    return false;
  }

  void TransformInputs() {
    for (TensorArg& arg : tensors_) {
      if (Names(schema_.skip_transform, arg.index)) continue;
      DataLayout layout = arg.meta->layout;
      // Relabelling is not worth a copy.
      if (arg.meta->rank() < 3 && arg.tensor->meta().pixel_stride == 0) layout = arg.tensor->layout();
      if (arg.tensor->dtype() == arg.meta->dtype && arg.tensor->layout() == layout &&
          FitsDevice(arg.tensor->target(), device_->target())) {
        continue;
      }
      arg.tensor = &moved_.emplace_back(TransformTensor(*arg.tensor, arg.meta->dtype, layout, device_));
    }
  }

  void AllocateOutputs() {
    for (const std::vector<MetaTensor>& group : inferred_) {
      std::vector<DenseTensor>& tensors = outputs_.emplace_back();
      for (const MetaTensor& meta : group) {
        if (options_.inplace != nullptr) CheckInplace(meta);
        if (options_.inplace != nullptr && MayOverwrite(*options_.inplace) &&
            meta.tensor_meta() == options_.inplace->meta()) {
          tensors.push_back(*options_.inplace);
        } else if (meta.known()) {
          tensors.emplace_back(device_->allocator(), meta.tensor_meta());
        } else {
          WHERRY_ENFORCE(schema_.Has(kTraitDynamicOutput), kUnsupported, "the shape of output ", outputs_.size() - 1,
                         ", ", meta.DebugString(), ", does not follow from the arguments");
          TensorMeta unknown;  // the kernel allocates
          unknown.dtype = meta.dtype;
          tensors.emplace_back(unknown);
        }
      }
    }
  }

  void CheckInplace(const MetaTensor& result) const {
    WHERRY_ENFORCE(schema_.outputs.size() == 1 && schema_.inplace.size() == 1, kInvalidArgument,
                   "this operator cannot run in place");
    const auto arg = static_cast<size_t>(schema_.inplace[0].arg);
    const TensorMeta& meta = options_.inplace->meta();
    WHERRY_ENFORCE(result.known() && result.dtype == meta.dtype && result.shape() == meta.shape, kInvalidArgument,
                   Named(arg), ", ", meta.DebugString(), ", cannot be overwritten with the result, ",
                   result.DebugString());
  }

  // Whether the kernel reads this very tensor, not a transformed copy of it, and may overwrite it: what it reads in the
  // same memory as another argument must be the same elements of an elementwise operator.
  bool MayOverwrite(const DenseTensor& tensor) const {
    bool sees = false;
    for (const TensorArg& arg : tensors_) {
      if (arg.index == static_cast<size_t>(schema_.inplace[0].arg)) {
        sees = arg.tensor == &tensor;
      } else if (arg.tensor->buffer() == tensor.buffer()) {
        if (!schema_.Has(kTraitBinary) || arg.tensor->meta() != tensor.meta() ||
            arg.tensor->raw_data() != tensor.raw_data()) {
          return false;
        }
      }
    }
    return sees;
  }

  // The result lies elsewhere when the kernel could not work in the tensor's own memory: another device or layout.
  void WriteBack() {
    DenseTensor& result = outputs_[0][0];
    if (result.buffer() == options_.inplace->buffer()) return;
    DeviceContext* home = GetDeviceContextByBackend(options_.inplace->target());
    const DenseTensor moved = TransformTensor(result, DataType::kUndefined, options_.inplace->layout(), home);
    home->Copy(moved, options_.inplace);
    result = *options_.inplace;
  }

  // Shapes without an element may have any extents elsewhere, [0, 2^40]: a kernel that walks over those would not end.
  bool NothingToCompute() const {
    for (const std::vector<DenseTensor>& group : outputs_) {
      for (const DenseTensor& tensor : group) {
        if (!tensor.has_data() || tensor.numel() != 0) return false;
      }
    }
    return true;
  }

  void Execute(const Kernel& kernel) {
    for (const TensorArg& arg : tensors_) CheckEmptyExtents(arg.tensor->meta());
    KernelContext context(&device_->implementation());
    for (int8_t param : schema_.kernel_params) AddParameter(static_cast<size_t>(param), &context);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      std::vector<DenseTensor*> pointers;
      for (DenseTensor& tensor : outputs_[i]) pointers.push_back(&tensor);
      context.EmplaceBackOutputs(pointers);
    }
    if (kernel.plan != nullptr) SetPlan(kernel, &context);
    try {
      kernel(&context);
      if (options_.kernel_us != nullptr) *options_.kernel_us = Time(kernel, &context);
    } catch (Error& error) {
      error.AddContext("in kernel " + kernel.id());
      throw;
    }
    for (const std::vector<DenseTensor>& group : outputs_) {
      for (const DenseTensor& tensor : group)
        WHERRY_CHECK(tensor.has_data(), "kernel ", kernel.id(), " made no output");
    }
  }

  double Time(const Kernel& kernel, KernelContext* context) const {
    constexpr double kEnoughMilliseconds = 3;
    constexpr double kTooManyMilliseconds = 50;
    constexpr int kLeastRuns = 4;
    constexpr int kMostRuns = 15;
    double least = 0;
    const Stopwatch total;
    for (int runs = 0; runs < kMostRuns; ++runs) {
      const double enough = runs < kLeastRuns ? kTooManyMilliseconds : kEnoughMilliseconds;
      if (runs > 0 && total.Milliseconds() > enough) break;
      const Stopwatch run;
      kernel(context);
      device_->Synchronize();
      const double microseconds = run.Milliseconds() * 1e3;
      least = runs == 0 ? microseconds : std::min(least, microseconds);
    }
    return least;
  }

  void SetPlan(const Kernel& kernel, KernelContext* context) const {
    std::shared_ptr<const KernelPlan> plan =
        PlanCache::Global().Get(kernel, schema_, bound_, output_metas_, options_.constants, threads());
    WHERRY_CHECK(plan->packs.empty() || !options_.constants.empty(), "kernel ", kernel.id(),
                 " wants to pack an argument that is not constant");
    std::vector<std::shared_ptr<const PackedWeight>> packed;
    for (const PackRequest& request : plan->packs) {
      const DenseTensor* weight = context->Input(static_cast<size_t>(request.input));
      const bool as_given =
          std::none_of(moved_.begin(), moved_.end(), [weight](const DenseTensor& moved) { return &moved == weight; });
      packed.push_back(options_.pack && as_given
                           ? options_.pack(kernel, *weight, request.format)
                           : std::make_shared<PackedWeight>(kernel.Pack(*weight, request.format)));
    }
    context->SetPlan(std::move(plan), std::move(packed));
  }

  void AddParameter(size_t arg, KernelContext* context) {
    std::vector<const DenseTensor*> tensors;
    for (const TensorArg& entry : tensors_) {
      if (entry.index == arg) tensors.push_back(entry.tensor);
    }
    if (schema_.args[arg].is_tensor()) {
      context->EmplaceBackInputs(tensors);
    } else {
      context->EmplaceBackAttr(*bound_[arg].attribute);
    }
  }

  // A kernel for another layout was taken because it is better: the caller does not see that.
  void RestoreLayout(DataLayout kernel_layout) {
    const bool elementwise = schema_.Has(kTraitUnary) || schema_.Has(kTraitBinary);
    if (kernel_layout == DataLayout::kAny && !elementwise) return;
    for (std::vector<DenseTensor>& group : outputs_) {
      for (DenseTensor& tensor : group) {
        if (tensor.shape().rank() >= 3 && tensor.layout() != key_.layout()) {
          tensor = TransformTensor(tensor, DataType::kUndefined, key_.layout(), device_);
        }
      }
    }
  }

  struct TensorArg {
    size_t index;  // of the argument
    const DenseTensor* tensor;
    MetaTensor* meta;
  };

  const OpSchema& schema_;
  const std::vector<CallArg>& args_;
  const InvokeOptions& options_;
  DeviceContext* device_;
  KernelKey key_;
  std::vector<BoundArg> bound_;
  std::deque<Attribute> converted_;
  std::deque<DenseTensor> moved_;
  std::deque<MetaTensor> metas_;
  std::vector<TensorArg> tensors_;
  std::vector<std::vector<MetaTensor>> inferred_;
  std::vector<const MetaTensor*> output_metas_;
  std::vector<DataLayout> inferred_layouts_;  // of the outputs, as InferMeta gave them
  std::vector<std::vector<DenseTensor>> outputs_;
};

}  // namespace

std::vector<std::vector<DenseTensor>> InvokeOp(const OpSchema& schema, const std::vector<CallArg>& args,
                                               DeviceContext* device, const InvokeOptions& options) {
  try {
    return Invocation(schema, args, device, options).Run();
  } catch (Error& error) {
    error.AddContext(StrCat("running op ", schema.name));
    throw;
  }
}

}  // namespace wherry
