// The operator, kernel and pass in a plug-in: plugin_program MODEL OPTIMIZED PLUGIN.
#include <dlfcn.h>

#include "checks.h"
#include "wherry/extend.h"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  Check(wherry::SchemaRegistry::Global().Find("gain") == nullptr && !wherry::KernelFactory::Instance().Has("gain") &&
            !wherry::PassManager::Global().Has("gain_pair_fuse_pass"),
        "nothing is there before the plug-in is loaded");
  wherry::LoadPlugin(argv[3]);
  CheckKernel();
  CheckPass();
  CheckPredictor(argv[1], argv[2]);

  using Function = void (*)(const wherry::Tensor&, float, wherry::Tensor*);
  const auto call = reinterpret_cast<Function>(dlsym(dlopen(argv[3], RTLD_NOW | RTLD_NOLOAD), "CallGain"));
  wherry::Tensor out;
  if (call != nullptr) call(wherry::Tensor::From<float>({1}, {2}), 3, &out);
  Check(call != nullptr && out.data<float>()[0] == 6, "the function in the plug-in");
  return Failures() == 0 ? 0 : 1;
}
