// A program that registers names that Wherry has.
#include "checks.h"
#include "wherry/extend.h"
#include "wherry/ops.h"

namespace {

template <typename T>
void Nothing(const wherry::CpuContext& /*context*/, const wherry::DenseTensor& /*x*/, wherry::DenseTensor* /*out*/) {}

class NoPass : public wherry::mir::ProgramPass {
 public:
  void Apply(const std::unique_ptr<wherry::mir::SSAGraph>& /*graph*/) override {}
};

}  // namespace

REGISTER_KERNEL(relu, ref, kHost, kNCHW, Nothing, float);
REGISTER_MIR_PASS(fc_fuse_pass, NoPass);
REGISTER_MIR_PASS(no_pass, NoPass);

int main(int argc, char** argv) {
  using wherry::ErrorCode;
  CheckError(ErrorCode::kAlreadyExists, "a taken kernel", [] { wherry::KernelFactory::Instance(); });
  CheckError(ErrorCode::kAlreadyExists, "a taken pass", [] { wherry::PassManager::Global(); });
  Check(wherry::PassManager::Global().Has("no_pass"), "the other pass is there");
  Check(wherry::relu(wherry::Tensor::From<float>({1}, {-1})).data<float>()[0] == 0, "Wherry's kernel stays");
  if (argc > 1) {  // linked with the static library
    CheckError(ErrorCode::kUnsupported, "a plug-in without the shared library", [&] { wherry::LoadPlugin(argv[1]); });
  }
  return Failures() == 0 ? 0 : 1;
}
