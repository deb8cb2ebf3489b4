// The provider and its kernels. What they do is in a library of its own, opened when the first is asked: see
// onednn_primitives/functions.h.
#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "base/check.h"
#include "base/strings.h"
#include "kernel/kernel_registrar.h"
#include "kernel/provider.h"
#include "kernels/onednn_primitives/functions.h"

namespace wherry::onednn {

namespace {

REGISTER_PROVIDER(onednn, "convolutions and matrix products by oneDNN, with its OpenMP threads (a plug-in)", kNative,
                  nullptr, nullptr);

// `functions`, or why there are none.
struct Primitives {
  const Functions* functions = nullptr;
  std::string problem;
};

Primitives Open() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&Open), &info) == 0 || info.dli_fname == nullptr) {
    return {nullptr, "the folder of the oneDNN plug-in is not known"};
  }
  // Beside this library.
  const std::string path = std::filesystem::path(info.dli_fname).replace_filename(kPrimitivesLibrary).string();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, kFunctionsSymbol);
  if (symbol == nullptr) {
    const char* words = dlerror();
    return {nullptr, StrCat(Quote(path), " cannot be loaded: ", words != nullptr ? words : "unknown reason")};
  }
  return {reinterpret_cast<decltype(&WherryOnednnFunctions)>(symbol)(), ""};
}

const Primitives& Opened() {
  static const Primitives primitives = Open();
  return primitives;
}

using Which = KernelFunctions Functions::*;

const KernelFunctions& Of(Which which) {
  const Primitives& primitives = Opened();
  WHERRY_ENFORCE(primitives.functions != nullptr, kUnavailable, primitives.problem);
  return primitives.functions->*which;
}

template <Which kWhich>
Support Supports(const KernelProblem& problem) {
  if (Opened().functions == nullptr) return Support::No(Opened().problem);
  return Of(kWhich).supports(problem);
}

template <Which kWhich>
std::shared_ptr<const KernelPlan> Plan(const KernelProblem& problem) {
  return Of(kWhich).plan(problem);
}

template <Which kWhich>
size_t PackedBytes(const TensorMeta& weight, std::string_view format) {
  return Of(kWhich).packed_bytes(weight, format);
}

template <Which kWhich>
void Pack(const DenseTensor& weight, std::string_view format, void* packed) {
  Of(kWhich).pack(weight, format, packed);
}

template <Which kWhich>
void Run(KernelContext* context) {
  Of(kWhich).run(context);
}

}  // namespace

// Below Wherry's own kernels, which are as fast or faster where they exist. No pixel strides: for images with gaps
// oneDNN often has its reference implementation only, and that is known only when memory is planned.
REGISTER_KERNEL_VARIANT(conv2d, onednn, direct, kNative, kFloat, kNHWC)
    .Supports(&Supports<&Functions::conv2d>)
    .Plan(&Plan<&Functions::conv2d>)
    .Pack(&PackedBytes<&Functions::conv2d>, &Pack<&Functions::conv2d>)
    .Run(&Run<&Functions::conv2d>)
    .Priority(-10)
    .OwnThreads();
REGISTER_KERNEL_VARIANT(matmul_v2, onednn, matmul, kNative, kFloat, kNCHW)
    .Supports(&Supports<&Functions::matmul>)
    .Plan(&Plan<&Functions::matmul>)
    .Pack(&PackedBytes<&Functions::matmul>, &Pack<&Functions::matmul>)
    .Run(&Run<&Functions::matmul>)
    .Priority(-10)
    .OwnThreads();
REGISTER_KERNEL_VARIANT(fused_matmul, onednn, matmul, kNative, kFloat, kNCHW)
    .Supports(&Supports<&Functions::fused_matmul>)
    .Plan(&Plan<&Functions::fused_matmul>)
    .Pack(&PackedBytes<&Functions::fused_matmul>, &Pack<&Functions::fused_matmul>)
    .Run(&Run<&Functions::fused_matmul>)
    .Priority(-10)
    .OwnThreads();
REGISTER_KERNEL_VARIANT(fc, onednn, matmul, kNative, kFloat, kNCHW)
    .Supports(&Supports<&Functions::fc>)
    .Plan(&Plan<&Functions::fc>)
    .Pack(&PackedBytes<&Functions::fc>, &Pack<&Functions::fc>)
    .Run(&Run<&Functions::fc>)
    .Priority(-10)
    .OwnThreads();

}  // namespace wherry::onednn
