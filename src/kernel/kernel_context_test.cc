#include "kernel/kernel_context.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "kernel/kernel_impl.h"
#include "kernel/test_ops_test_util.h"
#include "wherry/error.h"

namespace wherry {
namespace {

TEST(KernelContext, NumbersInputsAttributesAndOutputsApart) {
  CpuContext device;
  const DenseTensor a = HostTensor(Shape{1}, {1});
  const DenseTensor b = HostTensor(Shape{1}, {2});
  DenseTensor out;
  KernelContext context(&device);
  context.EmplaceBackInput(&a);
  context.EmplaceBackAttr(int64_t{3});
  context.EmplaceBackInput(static_cast<const DenseTensor*>(nullptr));
  const DenseTensor* list[] = {&a, &b};
  context.EmplaceBackInputs(list);
  context.EmplaceBackAttr(std::string("text"));
  context.EmplaceBackOutput(&out);
  context.EmplaceBackOutput(static_cast<DenseTensor*>(nullptr));

  EXPECT_EQ(context.input_count(), 3U);
  EXPECT_EQ(context.Input(0), &a);
  EXPECT_EQ(context.Input(1), nullptr);
  ASSERT_EQ(context.InputAt(2).size(), 2U);
  EXPECT_EQ(context.InputAt(2)[1], &b);
  EXPECT_EQ(context.attr_count(), 2U);
  EXPECT_EQ(context.AttrAt<int>(0), 3);
  EXPECT_EQ(context.AttrAt<std::string>(1), "text");
  EXPECT_EQ(context.output_count(), 2U);
  EXPECT_EQ(context.Output(0), &out);
  EXPECT_EQ(context.Output(1), nullptr);
}

TEST(KernelContext, RefusesPositionsAndTypesThatAreNotThere) {
  CpuContext device;
  KernelContext context(&device);
  context.EmplaceBackAttr(int64_t{3});
  EXPECT_THROW(static_cast<void>(context.Input(0)), Error);
  EXPECT_THROW(static_cast<void>(context.Output(0)), Error);
  EXPECT_THROW(static_cast<void>(context.AttrAt<int>(1)), Error);
  EXPECT_THROW(static_cast<void>(context.AttrAt<std::string>(0)), Error);
}

TEST(KernelContext, ReadsTensorAttributesAtEveryRefresh) {
  CpuContext device;
  TensorMeta meta;
  meta.dtype = DataType::kInt32;
  meta.shape = Shape{2};
  DenseTensor sizes(HostAllocator(), meta);
  sizes.mutable_data<int32_t>()[0] = 4;
  sizes.mutable_data<int32_t>()[1] = 5;
  DenseTensor factor = HostTensor(Shape{}, {0.5F});
  KernelContext context(&device);
  context.EmplaceBackAttr(&sizes, AttrType::kIntArray);
  context.EmplaceBackAttr(&factor, AttrType::kScalar);

  context.RefreshTensorAttributes();
  EXPECT_EQ(context.AttrAt<IntArray>(0), (IntArray{4, 5}));
  EXPECT_EQ(context.AttrAt<Scalar>(1).to<float>(), 0.5F);

  sizes.mutable_data<int32_t>()[1] = 6;
  context.RefreshTensorAttributes();
  EXPECT_EQ(context.AttrAt<IntArray>(0), (IntArray{4, 6}));
}

TEST(KernelContext, APlanWithPacksNeedsThem) {
  CpuContext device;
  KernelContext context(&device);
  auto plan = std::make_shared<KernelPlan>();
  plan->packs.push_back({1, "gemm64"});
  EXPECT_THROW(context.SetPlan(plan, {}), Error);
  auto packed = std::make_shared<PackedWeight>();
  packed->format = "gemm64";
  context.SetPlan(plan, {packed});
  EXPECT_EQ(context.Packed(0).format, "gemm64");
}

// What a plain typed function is called with.
struct Seen {
  const DenseTensor* x;
  const DenseTensor* optional;
  size_t list;
  float slope;
  std::vector<int64_t> sizes;
  DenseTensor* out;
};
Seen* g_seen = nullptr;
void Typed(const CpuContext& /*context*/, const DenseTensor& x, float slope, const DenseTensor* optional,
           std::span<const DenseTensor* const> list, const std::vector<int64_t>& sizes, DenseTensor* out) {
  *g_seen = {&x, optional, list.size(), slope, sizes, out};
}

TEST(KernelImpl, UnpacksTheContextByTheSignature) {
  constexpr KernelSignature kSignature = KernelImpl<&Typed>::Signature();
  ASSERT_EQ(kSignature.size, 6U);
  EXPECT_EQ(kSignature.params[0], ParamKind::kInput);
  EXPECT_EQ(kSignature.params[1], ParamKind::kAttribute);
  EXPECT_EQ(kSignature.params[2], ParamKind::kOptionalInput);
  EXPECT_EQ(kSignature.params[3], ParamKind::kInputList);
  EXPECT_EQ(kSignature.params[5], ParamKind::kOutput);

  CpuContext device;
  const DenseTensor x = HostTensor(Shape{1}, {1});
  DenseTensor out;
  KernelContext context(&device);
  context.EmplaceBackInput(&x);
  context.EmplaceBackInput(static_cast<const DenseTensor*>(nullptr));
  context.EmplaceBackInputs({});
  context.EmplaceBackAttr(0.25);
  context.EmplaceBackAttr(std::vector<int64_t>{7, 8});
  context.EmplaceBackOutput(&out);
  Seen seen{};
  g_seen = &seen;
  KernelImpl<&Typed>::Compute(&context);
  EXPECT_EQ(seen.x, &x);
  EXPECT_EQ(seen.optional, nullptr);
  EXPECT_EQ(seen.list, 0U);
  EXPECT_EQ(seen.slope, 0.25F);
  EXPECT_EQ(seen.sizes, (std::vector<int64_t>{7, 8}));
  EXPECT_EQ(seen.out, &out);
}

TEST(KernelImpl, AMissingInputIsAnError) {
  CpuContext device;
  KernelContext context(&device);
  context.EmplaceBackInput(static_cast<const DenseTensor*>(nullptr));
  EXPECT_THROW(KernelImpl<&Typed>::Compute(&context), Error);
}

}  // namespace
}  // namespace wherry
