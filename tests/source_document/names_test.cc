// Lines of the other documents that no example shows: declarations that the header has already, beside it.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>

#include "wherry/compat.h"

// Clang warns of the second; it is what is to be shown.
#pragma GCC diagnostic ignored "-Wshadow"

namespace paddle::framework {
typedef std::function<void(OpContext*)> ComputeFun;
}

using namespace paddle::framework;                   // NOLINT: as a reader of the document writes
typedef std::function<void(OpContext*)> ComputeFun;  // beside paddle::framework's

namespace {

template <typename T>
void CosineCPU(OpContext* ctx) {
  EXPECT_EQ(ctx->op->GetAttr<T>("scale"), T{0.5});
  EXPECT_NE(ctx->op->DebugString().find("scale"), std::string::npos);
}

class CosOp : public OperatorBase {
 public:
  explicit CosOp() { kernels_["CPU"] = CosineCPU<float>; }

  void Run(OpContext* ctx) const override {
    auto dev_ctx = dynamic_cast<CPUDeviceContext*>(ctx->device_context);
    ASSERT_NE(dev_ctx, nullptr);
    kernels_.at("CPU")(ctx);
  }

 private:
  std::map<std::string, ComputeFun> kernels_;
};

TEST(OperatorDocument, ItsNamesWithoutANamespace) {
  wherry::OpRegistry::RegisterOp("document_cosine", [] { return std::make_unique<CosOp>(); });
  OpDesc op_desc("document_cosine");
  op_desc.SetAttr("scale", 0.5F);
  DeviceContext* cpu_ctx = new CPUDeviceContext();
  auto scope = std::make_shared<Scope>();
  OperatorBase* op = paddle::framework::OpRegistry::CreateOp(op_desc);
  op->Run(scope, cpu_ctx);
  delete op;
  delete cpu_ctx;
}

}  // namespace
