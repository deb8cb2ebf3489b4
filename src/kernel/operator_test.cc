#include "kernel/operator.h"

#include <gtest/gtest.h>

#include "kernel/apart_device_test_util.h"
#include "kernel/test_ops_test_util.h"
#include "wherry/error.h"

namespace wherry {
namespace {

using Values = std::vector<float>;

OpDesc ScaleDesc() {
  OpDesc desc("kt_scale");
  desc.SetInput("x", {"a"});
  desc.SetOutput("out", {"b"});
  return desc;
}

TEST(OperatorBase, OneOperatorRunsOnTwoDevices) {
  const std::unique_ptr<OperatorBase> op = OpRegistry::CreateOp(ScaleDesc());
  auto scope = std::make_shared<Scope>();
  *scope->Tensor("a") = HostTensor(Shape{2}, {1, 2});
  CpuContext cpu;
  op->Run(scope, &cpu);
  EXPECT_EQ(HostValues(*scope->Tensor("b")), (Values{2, 4}));

  ApartContext device;
  op->Run(scope, &device);
  EXPECT_EQ(scope->Tensor("b")->target(), Target::kCustom);
  DenseTensor back(HostAllocator(), scope->Tensor("b")->meta());
  device.Copy(*scope->Tensor("b"), &back);
  EXPECT_EQ(HostValues(back), (Values{2, 4}));
}

TEST(OperatorBase, FillsInDefaultsAndReadsAttributesFromVariables) {
  OpDesc desc = ScaleDesc();
  desc.SetInput("factor", {"f"});
  const std::unique_ptr<OperatorBase> op = OpRegistry::CreateOp(desc);
  Scope scope;
  *scope.Tensor("a") = HostTensor(Shape{1}, {3});
  *scope.Tensor("f") = HostTensor(Shape{}, {5});
  CpuContext cpu;
  op->Run(&scope, &cpu);
  EXPECT_EQ(HostValues(*scope.Tensor("b")), (Values{15}));
  EXPECT_EQ(OpRegistry::CreateOp(ScaleDesc())->GetAttr<Scalar>("factor").to<int>(), 2);
}

TEST(OperatorBase, BindFixesTheKernel) {
  const std::unique_ptr<OperatorBase> op = OpRegistry::CreateOp(ScaleDesc());
  EXPECT_EQ(op->bound_kernel(), nullptr);
  op->Bind({Target::kCustom, DataType::kFloat, DataLayout::kNCHW});
  ASSERT_NE(op->bound_kernel(), nullptr);
  EXPECT_EQ(op->bound_kernel()->id(), "apart:kt_scale");
  Scope scope;
  *scope.Tensor("a") = HostTensor(Shape{1}, {3});
  ApartContext device;
  op->Run(&scope, &device);
  EXPECT_EQ(scope.Tensor("b")->target(), Target::kCustom);
  CpuContext cpu;
  try {
    op->Run(&scope, &cpu);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_THROW(op->Bind({Target::kOpenCL, DataType::kFloat, DataLayout::kNCHW}), Error);
}

TEST(OperatorBase, MissingVariablesAreNamed) {
  const std::unique_ptr<OperatorBase> op = OpRegistry::CreateOp(ScaleDesc());
  Scope scope;
  CpuContext cpu;
  try {
    op->Run(&scope, &cpu);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_NE(std::string(error.what()).find("'a'"), std::string::npos) << error.what();
  }
  scope.Var("a");
  EXPECT_THROW(op->Run(&scope, &cpu), Error);
  EXPECT_THROW(op->Run(&scope, nullptr), Error);
}

TEST(OperatorBase, ListOutputsFillTheirVariables) {
  OpDesc desc("kt_split");
  desc.SetInput("x", {"a"});
  desc.SetOutput("out", {"b", "c"});
  desc.SetAttr("parts", 2);
  Scope scope;
  *scope.Tensor("a") = HostTensor(Shape{1}, {3});
  CpuContext cpu;
  OpRegistry::CreateOp(desc)->Run(&scope, &cpu);
  EXPECT_EQ(HostValues(*scope.Tensor("c")), (Values{3}));
  desc.SetAttr("parts", 3);
  EXPECT_THROW(OpRegistry::CreateOp(desc)->Run(&scope, &cpu), Error);
}

// An operator with a class of its own, as in the sources.
class CountingOp : public OperatorBase {
 public:
  explicit CountingOp(int* runs) : runs_(runs) {}
  using OperatorBase::Run;
  void Run(OpContext* context) const override {
    *runs_ += context->op->GetAttr<int>("step");
    EXPECT_EQ(context->op, this);
  }

 private:
  int* runs_;
};

TEST(OpRegistry, CreatorsGoBeforeSchemas) {
  int runs = 0;
  OpRegistry::RegisterOp("kt_counting", [&runs] { return std::make_unique<CountingOp>(&runs); });
  EXPECT_THROW(OpRegistry::RegisterOp("kt_counting", [] { return std::make_unique<OperatorBase>(); }), Error);
  OpDesc desc("kt_counting");
  desc.SetAttr("step", 3);
  const std::unique_ptr<OperatorBase> op = OpRegistry::CreateOp(desc);
  EXPECT_EQ(op->Type(), "kt_counting");
  EXPECT_EQ(op->DebugString(), desc.DebugString());
  Scope scope;
  CpuContext cpu;
  op->Run(&scope, &cpu);
  op->Run(&scope, &cpu);
  EXPECT_EQ(runs, 6);
  EXPECT_THROW(op->Bind({Target::kHost}), Error);
}

TEST(OpRegistry, UnknownTypesAndBadDescriptionsAreErrors) {
  try {
    OpRegistry::CreateOp(OpDesc("kt_scael"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_NE(std::string(error.what()).find("'kt_scale'"), std::string::npos) << error.what();
  }
  OpDesc desc = ScaleDesc();
  desc.SetAttr("factr", 2);
  EXPECT_THROW(OpRegistry::CreateOp(desc), Error);
}

}  // namespace
}  // namespace wherry
