#include "conformance/runner.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>

#include "base/check.h"
#include "conformance/compare.h"
#include "conformance/make_tensor.h"
#include "kernel/invoke.h"
#include "kernel/kernel_registry.h"
#include "kernel/layout_rule.h"

namespace wherry::conformance {

namespace {

using Outputs = std::vector<std::vector<DenseTensor>>;

// The arguments of one call and the tensors that they point to.
struct Call {
  std::deque<DenseTensor> tensors;  // those in args, in order
  std::vector<size_t> arg_of;       // the argument that each belongs to
  std::vector<CallArg> args;
};

uint64_t Seed(const OpCases& op, size_t case_index, size_t tensor) {
  uint64_t hash = 1469598103934665603U;
  for (const char* c = op.op->name; *c != 0; ++c) hash = (hash ^ static_cast<uint64_t>(*c)) * 1099511628211U;
  return hash + case_index * 1000003U + tensor;
}

bool IsElementwise(const OpSchema& schema) { return schema.Has(kTraitUnary) || schema.Has(kTraitBinary); }

Call MakeCall(const OpCases& op, size_t case_index, bool special_values) {
  Call call;
  call.args.resize(op.op->args.size());
  for (const CaseArg& given : op.cases[case_index].args) {
    CallArg& arg = call.args[static_cast<size_t>(given.arg)];
    if (given.attribute != nullptr) {
      arg.attribute = ParseAttribute(op.op->args[static_cast<size_t>(given.arg)].type, given.attribute);
      continue;
    }
    for (const CaseTensor& spec : given.tensors) {
      const uint64_t seed = Seed(op, case_index, call.tensors.size());
      DenseTensor& tensor = call.tensors.emplace_back(MakeTensor(spec, seed));
      if (special_values && IsFloating(spec.dtype) && spec.values.empty()) InjectSpecialValues(&tensor, seed);
      call.arg_of.push_back(static_cast<size_t>(given.arg));
      arg.tensors.push_back(&tensor);
    }
  }
  return call;
}

void ApplyLayout(const OpSchema& schema, const Variant& variant, Call* call) {
  if (variant.layout != DataLayout::kNHWC) return;
  for (size_t i = 0; i < call->tensors.size(); ++i) {
    DenseTensor& tensor = call->tensors[i];
    const size_t arg = call->arg_of[i];
    const bool image = schema.args[arg].is_tensor() && tensor.shape().rank() >= 3 && FollowsLayout(schema, arg);
    if (image) tensor = ConvertTensor(tensor, tensor.dtype(), DataLayout::kNHWC, variant.pixel_padding);
  }
}

std::vector<int8_t> ConstantArgs(const OpSchema& schema) {
  std::vector<int8_t> constants;
  bool first = true;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (!schema.args[i].is_tensor()) continue;
    if (!first) constants.push_back(static_cast<int8_t>(i));
    first = false;
  }
  return constants;
}

constexpr unsigned char kUntouched = 0x5A;

class GuardedAllocator : public Allocator {
 public:
  std::shared_ptr<Buffer> Allocate(size_t bytes) override {
    std::shared_ptr<Buffer> buffer = GuardedBuffer(bytes, 1);
    std::memset(buffer->data(), kUntouched, bytes);
    return buffer;
  }
  Target target() const override { return Target::kHost; }
};

// Outputs end at a guard page too, so a kernel that writes behind them is found.
class GuardedContext : public CpuContext {
 public:
  using CpuContext::CpuContext;
  Allocator& allocator() override { return allocator_; }

 private:
  GuardedAllocator allocator_;
};

DeviceContext* CpuWithThreads(int threads) {
  static std::map<int, std::unique_ptr<CpuContext>> contexts;
  std::unique_ptr<CpuContext>& context = contexts[threads];
  if (context == nullptr) {
    context = std::make_unique<GuardedContext>(threads == 1 ? nullptr : std::make_shared<ThreadPool>(threads));
  }
  return context.get();
}

// The reference kernel for exactly this type; null when there is none.
const Kernel* ReferenceKernel(const OpSchema& schema, DataType dtype) {
  for (const Kernel* kernel : KernelFactory::Instance().Kernels(schema.kernel)) {
    const KernelKey& key = kernel->key;
    const bool type_fits = key.dtype() == dtype || key.dtype() == DataType::kAny;
    if (kernel->provider == "ref" && type_fits && key.layout() != DataLayout::kNHWC) return kernel;
  }
  return nullptr;
}

// Gives all floating tensors the type f64.
void ToDouble(Call* call) {
  for (DenseTensor& tensor : call->tensors) {
    if (IsFloating(tensor.dtype())) tensor = ConvertTensor(tensor, DataType::kFP64, DataLayout::kNCHW);
  }
}

DataType KeyType(const OpSchema& schema, const Call& call) {
  return ResolveKernelKey(schema, call.args, KernelKey()).dtype();
}

// What the case should give. The last few are kept: all kernels and variants of a case ask for the same.
const Outputs& Expected(const OpCases& op, size_t case_index, bool special_values) {
  using Key = std::tuple<const OpDescriptor*, size_t, bool>;
  static std::map<Key, Outputs> cache;
  const Key key{op.op, case_index, special_values};
  if (const auto found = cache.find(key); found != cache.end()) return found->second;

  Call call = MakeCall(op, case_index, special_values);
  // What is computed on integers takes its scales as they are.
  if (IsFloating(KeyType(*op.op, call))) ToDouble(&call);
  const Kernel* reference = ReferenceKernel(*op.op, KeyType(*op.op, call));
  if (reference == nullptr) {
    call = MakeCall(op, case_index, special_values);
    const DataType dtype = KeyType(*op.op, call);
    reference = ReferenceKernel(*op.op, dtype);
    WHERRY_ENFORCE(reference != nullptr, kNotFound, "ref has no kernel ", op.op->kernel, " for ", ToString(dtype));
  }
  InvokeOptions options;
  options.kernel = reference;
  return cache[key] = InvokeOp(*op.op, call.args, CpuWithThreads(1), options);
}

std::string Compare(const OpCases& op, const Outputs& got, const Outputs& expected) {
  if (got.size() != expected.size()) return StrCat(got.size(), " outputs instead of ", expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].size() != expected[i].size()) return StrCat(got[i].size(), " tensors instead of ", expected[i].size());
    for (size_t j = 0; j < got[i].size(); ++j) {
      const DenseTensor host =
          TransformTensor(got[i][j], DataType::kUndefined, DataLayout::kUndefined, CpuWithThreads(1));
      const double tolerance = ToleranceFor(op.tolerance, host.dtype());
      std::string difference = Difference(host, expected[i][j], tolerance, IsElementwise(*op.op));
      if (!difference.empty()) return StrCat("output ", op.op->outputs[i].name, " [", j, "]: ", difference);
    }
  }
  return "";
}

// Whether what lies between the pixels of the results, which may be others', was left alone.
bool GapsUntouched(const Outputs& outputs) {
  for (const std::vector<DenseTensor>& group : outputs) {
    for (const DenseTensor& tensor : group) {
      const TensorMeta& meta = tensor.meta();
      if (meta.pixel_stride == 0) continue;
      const auto* pixel = static_cast<const unsigned char*>(tensor.raw_data());
      const size_t size = SizeOf(meta.dtype);
      const size_t used = static_cast<size_t>(meta.shape[1]) * size;
      const size_t stride = static_cast<size_t>(meta.pixel_stride) * size;
      for (const unsigned char* const end = pixel + tensor.nbytes(); pixel < end; pixel += stride) {
        if (std::any_of(pixel + used, pixel + stride, [](unsigned char byte) { return byte != kUntouched; }))
          return false;
      }
    }
  }
  return true;
}

}  // namespace

std::string Variant::DebugString() const {
  std::string text = StrCat(threads, threads == 1 ? " thread" : " threads");
  if (layout == DataLayout::kNHWC) text += ", nhwc";
  if (pixel_padding != 0) text += StrCat(" padded by ", pixel_padding);
  if (constants) text += ", constant weights";
  if (inplace) text += ", in place";
  if (special_values) text += ", NaN and infinities";
  return text;
}

std::vector<Variant> VariantsOf(const OpSchema& schema, const Kernel& kernel) {
  std::vector<Variant> variants;
  std::vector<DataLayout> layouts = {kernel.key.layout()};
  if (kernel.key.layout() == DataLayout::kAny) layouts = {DataLayout::kNCHW, DataLayout::kNHWC};
  for (DataLayout layout : layouts) {
    Variant variant;
    variant.layout = layout;
    variants.push_back(variant);
    variant.threads = 2;
    variants.push_back(variant);
    if (layout == DataLayout::kNHWC && kernel.pixel_strides) {
      for (const int64_t padding : {16, 3}) {
        variant.pixel_padding = padding;
        variants.push_back(variant);
      }
      variant.pixel_padding = 0;
    }
    if (kernel.pack != nullptr) {
      variant.constants = true;
      variants.push_back(variant);
      variant.constants = false;
    }
    variant.threads = 1;
    if (schema.inplace.size() == 1 && schema.outputs.size() == 1) {
      variant.inplace = true;
      variants.push_back(variant);
      variant.inplace = false;
    }
    if (IsElementwise(schema) && (IsFloating(kernel.key.dtype()) || kernel.key.dtype() == DataType::kAny)) {
      variant.special_values = true;
      variants.push_back(variant);
    }
  }
  return variants;
}

Result RunCase(const OpCases& op, size_t case_index, const Kernel& kernel, const Variant& variant,
               DeviceContext* device) {
  try {
    Call call = MakeCall(op, case_index, variant.special_values);
    const DataType dtype = KeyType(*op.op, call);
    if (kernel.key.dtype() != DataType::kAny && kernel.key.dtype() != dtype) return {Outcome::kSkipped, ""};
    ApplyLayout(*op.op, variant, &call);

    InvokeOptions options;
    options.kernel = &kernel;
    options.pixel_padding = variant.pixel_padding;
    if (variant.constants) options.constants = ConstantArgs(*op.op);
    const Outputs& expected = Expected(op, case_index, variant.special_values);
    if (variant.inplace) {
      const auto arg = static_cast<size_t>(op.op->inplace[0].arg);
      if (call.args[arg].tensors.size() != 1) return {Outcome::kSkipped, ""};
      for (size_t i = 0; i < call.tensors.size(); ++i) {
        if (call.arg_of[i] == arg) options.inplace = &call.tensors[i];
      }
      const DenseTensor& result = expected.at(0).at(0);
      if (result.shape() != options.inplace->shape()) return {Outcome::kSkipped, ""};  // broadcast: cannot be in place
    }
    DeviceContext* context = device != nullptr ? device : CpuWithThreads(variant.threads);
    Outputs got;
    try {
      got = InvokeOp(*op.op, call.args, context, options);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kUnsupported) return {Outcome::kSkipped, error.message()};
      throw;
    }
    context->Synchronize();
    std::string difference = Compare(op, got, expected);
    if (difference.empty() && !GapsUntouched(got)) difference = "it wrote between the pixels of the result";
    if (difference.empty() && variant.inplace && got[0][0].buffer() != options.inplace->buffer()) {
      difference = "the result is not in the input's memory";
    }
    return {difference.empty() ? Outcome::kPassed : Outcome::kFailed, difference};
  } catch (const std::exception& error) {
    return {Outcome::kFailed, error.what()};
  }
}

}  // namespace wherry::conformance
