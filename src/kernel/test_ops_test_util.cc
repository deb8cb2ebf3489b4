#include "kernel/test_ops_test_util.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"
#include "kernel/apart_device_test_util.h"
#include "kernel/kernel_registrar.h"
#include "op/infer_meta_context.h"
#include "op/pending.h"
#include "op/schema_registry.h"

namespace wherry {

namespace {

MetaTensor SameInferMeta(const MetaTensor& x) { return x; }
MetaTensor AddInferMeta(const MetaTensor& x, const MetaTensor& y) {
  WHERRY_ENFORCE(x.dims == y.dims, kInvalidArgument, "shapes differ");
  return x;
}
MetaTensor PositiveInferMeta(const MetaTensor& x) { return MetaTensor::UnknownRank(x.dtype); }
MetaTensor FullInferMeta(const SymIntArray& shape, DataType dtype) {
  WHERRY_ENFORCE(shape.known(), kInvalidArgument, "the shape is not known");
  return MetaTensor(dtype, *shape.values);
}
std::vector<MetaTensor> SplitInferMeta(const MetaTensor& x, int parts) {
  return std::vector<MetaTensor>(static_cast<size_t>(parts), x);
}

template <typename T>
void Scale(const CpuContext& /*context*/, const DenseTensor& x, const Scalar& factor, DenseTensor* out) {
  for (int64_t i = 0; i < x.numel(); ++i) out->mutable_data<T>()[i] = x.data<T>()[i] * factor.to<T>();
}
template <typename T>
void ScaleApart(const ApartContext& /*context*/, const DenseTensor& x, const Scalar& factor, DenseTensor* out) {
  for (int64_t i = 0; i < x.numel(); ++i) ApartContext::Data<T>(*out)[i] = ApartContext::Data<T>(x)[i] * factor.to<T>();
}
template <typename T>
void Add(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  for (int64_t i = 0; i < x.numel(); ++i) out->mutable_data<T>()[i] = x.data<T>()[i] + y.data<T>()[i];
}
template <typename T>
void Image(const CpuContext& /*context*/, const DenseTensor& x, const DenseTensor& filter,
           std::span<const DenseTensor* const> /*operands*/, const Epilogue& /*epilogue*/, DenseTensor* out) {
  WHERRY_CHECK(x.layout() == out->layout() && filter.layout() == DataLayout::kNCHW, "layouts");
  for (int64_t i = 0; i < x.numel(); ++i) out->mutable_data<T>()[i] = x.data<T>()[i] * filter.data<T>()[0];
}
Support SingleSupports(const KernelProblem& problem) {
  return problem.Input("x")->dims[0] == Dim(1) ? Support::Yes() : Support::No("needs one image");
}
template <typename T>
void Positive(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  const T* values = x.data<T>();
  const int64_t count = std::count_if(values, values + x.numel(), [](T value) { return value > T{0}; });
  TensorMeta meta = x.meta();
  meta.shape = Shape{count};
  out->Allocate(HostAllocator(), meta);
  std::copy_if(values, values + x.numel(), out->mutable_data<T>(), [](T value) { return value > T{0}; });
}
template <typename T>
void Full(const CpuContext& /*context*/, const Scalar& value, DenseTensor* out) {
  std::fill_n(out->mutable_data<T>(), out->numel(), value.to<T>());
}
template <typename T>
void Split(const CpuContext& /*context*/, const DenseTensor& x, std::span<DenseTensor* const> out) {
  for (DenseTensor* part : out) CopyHostTensor(x, part);
}

struct TestPlan : KernelPlan {
  int64_t step = 0;
};
std::atomic<int>& PlanCounter() {
  static std::atomic<int> counter{0};
  return counter;
}
Support PlannedSupports(const KernelProblem& problem) {
  const int step = problem.Attr<int>("step");
  return step >= 1 ? Support::Yes() : Support::No(StrCat("needs a step of 1 or more, got ", step));
}
std::shared_ptr<const KernelPlan> MakePlan(const KernelProblem& problem) {
  ++PlanCounter();
  auto plan = std::make_shared<TestPlan>();
  plan->step = problem.Attr<int64_t>("step");
  return plan;
}
void RunPlanned(KernelContext* context) {
  const DenseTensor& x = *context->Input(0);
  for (int64_t i = 0; i < x.numel(); ++i) {
    context->Output(0)->mutable_data<float>()[i] =
        x.data<float>()[i] + static_cast<float>(context->plan<TestPlan>().step);
  }
}

REGISTER_KERNEL(kt_scale, ref, kHost, kNCHW, Scale, float, double);
REGISTER_KERNEL(kt_scale, apart, kCustom, kNCHW, ScaleApart, float);
REGISTER_KERNEL(kt_add, ref, kHost, kNCHW, Add, float, double);
REGISTER_KERNEL(kt_image, ref, kHost, kNCHW, Image, float);
REGISTER_KERNEL_VARIANT(kt_image, cpu, fast, kNative, kFloat, kNHWC)
    .Run(&KernelImpl<&Image<float>>::Compute)
    .Priority(10);
REGISTER_KERNEL_VARIANT(kt_image, ref, single, kHost, kFloat, kNCHW)
    .Supports(&SingleSupports)
    .Run(&KernelImpl<&Image<float>>::Compute)
    .Priority(-1);
REGISTER_KERNEL(kt_positive, ref, kHost, kNCHW, Positive, float);
REGISTER_KERNEL(kt_full, ref, kHost, kNCHW, Full, float, int64_t);
REGISTER_KERNEL_VARIANT(kt_planned, ref, counted, kHost, kFloat, kNCHW)
    .Supports(&PlannedSupports)
    .Plan(&MakePlan)
    .Run(&RunPlanned);
REGISTER_KERNEL(kt_split, ref, kHost, kNCHW, Split, float);

constexpr ArgDef kScaleArgs[] = {{"x", ArgKind::kTensor}, {"factor", ArgKind::kAttribute, AttrType::kScalar, "2"}};
constexpr ArgDef kAddArgs[] = {{"x", ArgKind::kTensor}, {"y", ArgKind::kTensor}};
constexpr ArgDef kImageArgs[] = {{"x", ArgKind::kTensor},
                                 {"filter", ArgKind::kTensor},
                                 {"operands", ArgKind::kTensorList},
                                 {"epilogue", ArgKind::kAttribute, AttrType::kEpilogue, ""}};
constexpr ArgDef kOneArg[] = {{"x", ArgKind::kTensor}};
constexpr ArgDef kFullArgs[] = {{"shape", ArgKind::kAttribute, AttrType::kIntArray},
                                {"value", ArgKind::kAttribute, AttrType::kScalar},
                                {"dtype", ArgKind::kAttribute, AttrType::kDataType, "f32"},
                                {"place", ArgKind::kAttribute, AttrType::kTarget, "undefined"}};
constexpr ArgDef kPlannedArgs[] = {{"x", ArgKind::kTensor}, {"step", ArgKind::kAttribute, AttrType::kInt, "1"}};
constexpr ArgDef kSplitArgs[] = {{"x", ArgKind::kTensor}, {"parts", ArgKind::kAttribute, AttrType::kInt}};
constexpr OutputDef kOut[] = {{"out"}};
constexpr OutputDef kListOut[] = {{"out", true}};
constexpr int8_t k0[] = {0};
constexpr int8_t k1[] = {1};
constexpr int8_t k2[] = {2};
constexpr int8_t k3[] = {3};
constexpr int8_t k01[] = {0, 1};
constexpr int8_t k02[] = {0, 2};
constexpr int8_t k0123[] = {0, 1, 2, 3};

// name, args, outputs, InferMeta and its parameters, the kernel's parameters; the rest is set below.
constexpr OpDescriptor Op(const char* name, std::span<const ArgDef> args, std::span<const OutputDef> outputs,
                          InferMetaFn infer_meta, std::span<const int8_t> infer_params,
                          std::span<const int8_t> kernel_params) {
  OpDescriptor op{};
  op.name = name;
  op.doc = "";
  op.args = args;
  op.outputs = outputs;
  op.infer_meta = infer_meta;
  op.infer_meta_params = infer_params;
  op.kernel = name;
  op.kernel_params = kernel_params;
  return op;
}
constexpr OpDescriptor kScaleOp = [] {
  OpDescriptor op = Op("kt_scale", kScaleArgs, kOut, &InferMetaImpl<&SameInferMeta>::Call, k0, k01);
  op.traits = kTraitUnary;
  return op;
}();
constexpr OpDescriptor kAddOp = [] {
  OpDescriptor op = Op("kt_add", kAddArgs, kOut, &InferMetaImpl<&AddInferMeta>::Call, k01, k01);
  op.promote = true;
  op.support_trans_dtype = k01;
  return op;
}();
constexpr OpDescriptor kImageOp = [] {
  OpDescriptor op = Op("kt_image", kImageArgs, kOut, &InferMetaImpl<&SameInferMeta>::Call, k0, k0123);
  op.data_type_rule = k0;
  op.layout_rule = k0;
  return op;
}();
constexpr OpDescriptor kPositiveOp = [] {
  OpDescriptor op = Op("kt_positive", kOneArg, kOut, &InferMetaImpl<&PositiveInferMeta>::Call, k0, k0);
  op.traits = kTraitDynamicOutput;
  return op;
}();
constexpr OpDescriptor kFullOp = [] {
  OpDescriptor op = Op("kt_full", kFullArgs, kOut, &InferMetaImpl<&FullInferMeta>::Call, k02, k1);
  op.data_type_rule = k2;
  op.backend_rule = k3;
  return op;
}();
constexpr OpDescriptor kPlannedOp = Op("kt_planned", kPlannedArgs, kOut, &InferMetaImpl<&SameInferMeta>::Call, k0, k01);
constexpr OpDescriptor kSplitOp = Op("kt_split", kSplitArgs, kListOut, &InferMetaImpl<&SplitInferMeta>::Call, k01, k0);

const PendingNode<OpDescriptor> kNodes[] = {
    PendingNode<OpDescriptor>(&kScaleOp), PendingNode<OpDescriptor>(&kAddOp),
    PendingNode<OpDescriptor>(&kImageOp), PendingNode<OpDescriptor>(&kPositiveOp),
    PendingNode<OpDescriptor>(&kFullOp),  PendingNode<OpDescriptor>(&kPlannedOp),
    PendingNode<OpDescriptor>(&kSplitOp)};

}  // namespace

const OpSchema& TestOp(const char* name) { return SchemaRegistry::Global().Get(name); }

int TestPlanCount() { return PlanCounter(); }

DenseTensor HostTensor(const Shape& shape, const std::vector<float>& values) {
  TensorMeta meta;
  meta.dtype = DataType::kFloat;
  meta.shape = shape;
  DenseTensor tensor(HostAllocator(), meta);
  WHERRY_CHECK(static_cast<size_t>(tensor.numel()) == values.size(), "values of a test tensor");
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

std::vector<float> HostValues(const DenseTensor& tensor) {
  const float* data = tensor.data<float>();
  return {data, data + tensor.numel()};
}

}  // namespace wherry
