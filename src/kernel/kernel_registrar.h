// Registering kernels.
//
// A plain typed function, instantiated for a list of element types:
//   REGISTER_KERNEL(softmax, ref, kHost, kNCHW, Softmax, float, double);
//   REGISTER_KERNEL(relu, cpu, kNative, kAny, Relu, float).PixelStrides();
// A kernel with its own Supports, Plan or Pack, one element type:
//   REGISTER_KERNEL_VARIANT(conv2d, cpu, winograd4, kNative, kFloat, kNHWC)
//       .Supports(&Supports).Plan(&Plan).Pack(&PackedBytes, &Pack).Run(&Run).Priority(20);
//
// In the tree (WHERRY_BUILTIN) a registration is constant data whose address a generated table takes, so the linker
// cannot lose it and a missing or doubled one is a link error. Elsewhere (a program or plug-in) the same line also puts
// itself on the pending list.
#pragma once

#include <cstddef>
#include <utility>

#include "kernel/kernel.h"
#include "kernel/kernel_impl.h"
#include "op/pending.h"

namespace wherry {

// Constant data with everything about one registration.
struct KernelDescriptor {
  static constexpr size_t kMaxTypes = 16;
  struct Instance {
    DataType dtype = DataType::kUndefined;
    KernelFn run = nullptr;
  };

  const char* op = nullptr;
  const char* provider = nullptr;
  const char* variant = "";
  Target target = Target::kUndefined;
  DataLayout layout = DataLayout::kUndefined;
  Instance instances[kMaxTypes] = {};
  size_t instance_count = 0;
  KernelSignature signature = {};  // size 0 when run directly on the KernelContext
  int priority = 0;
  SupportsFn supports = nullptr;
  PlanFn plan = nullptr;
  PackedBytesFn packed_bytes = nullptr;
  PackFn pack = nullptr;
  bool pixel_strides = false;
  bool own_threads = false;

  // Kernels instantiated for Types by `instantiate`, a generic lambda that gives {function, signature} for a type.
  template <typename... Types, typename Instantiate>
  static consteval KernelDescriptor Make(const char* op, const char* provider, Target target, DataLayout layout,
                                         Instantiate instantiate) {
    static_assert(sizeof...(Types) > 0 && sizeof...(Types) <= kMaxTypes,
                  "a kernel is registered for 1 to 16 element types");
    KernelDescriptor descriptor;
    descriptor.op = op;
    descriptor.provider = provider;
    descriptor.target = target;
    descriptor.layout = layout;
    size_t i = 0;
    ((descriptor.instances[i++] = Instance{DataTypeOf<Types>(), instantiate.template operator()<Types>().first}), ...);
    descriptor.instance_count = i;
    using First = std::tuple_element_t<0, std::tuple<Types...>>;
    descriptor.signature = instantiate.template operator()<First>().second;
    return descriptor;
  }
  static consteval KernelDescriptor MakeVariant(const char* op, const char* provider, const char* variant,
                                                Target target, DataType dtype, DataLayout layout) {
    KernelDescriptor descriptor;
    descriptor.op = op;
    descriptor.provider = provider;
    descriptor.variant = variant;
    descriptor.target = target;
    descriptor.layout = layout;
    descriptor.instances[0].dtype = dtype;
    descriptor.instance_count = 1;
    return descriptor;
  }

  // Written out, and constexpr: clang 14 cannot evaluate a template that is instantiated only while the constant is,
  // and crashes on consteval members after Make's generic lambda. The registration is constinit, so all is constant
  // anyhow.
  constexpr KernelDescriptor Supports(SupportsFn fn) const {
    KernelDescriptor copy = *this;
    copy.supports = fn;
    return copy;
  }
  constexpr KernelDescriptor Plan(PlanFn fn) const {
    KernelDescriptor copy = *this;
    copy.plan = fn;
    return copy;
  }
  constexpr KernelDescriptor Pack(PackedBytesFn bytes, PackFn fn) const {
    KernelDescriptor copy = *this;
    copy.packed_bytes = bytes;
    copy.pack = fn;
    return copy;
  }
  constexpr KernelDescriptor Run(KernelFn fn) const {
    KernelDescriptor copy = *this;
    copy.instances[0].run = fn;
    return copy;
  }
  constexpr KernelDescriptor Priority(int value) const {
    KernelDescriptor copy = *this;
    copy.priority = value;
    return copy;
  }
  // See Kernel::pixel_strides.
  constexpr KernelDescriptor PixelStrides() const {
    KernelDescriptor copy = *this;
    copy.pixel_strides = true;
    return copy;
  }
  // See Kernel::own_threads.
  constexpr KernelDescriptor OwnThreads() const {
    KernelDescriptor copy = *this;
    copy.own_threads = true;
    return copy;
  }
};

}  // namespace wherry

#define REGISTER_KERNEL(op, provider, target, layout, fn, ... /* element types */)                              \
  WHERRY_DESCRIPTOR_(KernelDescriptor, wherry_kernel_##op##_##provider##_##target##_##layout) =                 \
      ::wherry::KernelDescriptor::Make<__VA_ARGS__>(                                                            \
          #op, #provider, ::wherry::Target::target, ::wherry::DataLayout::layout, []<typename T>() {            \
            using Impl = ::wherry::KernelImpl<&fn<T>>;                                                          \
            return std::pair<::wherry::KernelFn, ::wherry::KernelSignature>{&Impl::Compute, Impl::Signature()}; \
          })

#define REGISTER_KERNEL_VARIANT(op, provider, variant, target, dtype, layout)                                         \
  WHERRY_DESCRIPTOR_(KernelDescriptor, wherry_kernel_##op##_##provider##_##variant##_##target##_##dtype##_##layout) = \
      ::wherry::KernelDescriptor::MakeVariant(#op, #provider, #variant, ::wherry::Target::target,                     \
                                              ::wherry::DataType::dtype, ::wherry::DataLayout::layout)

// Keeps a kernel that was registered out of the tree, in a static library: the arguments that name it.
#define USE_KERNEL(op, provider, target, layout) WHERRY_USE_(wherry_kernel_##op##_##provider##_##target##_##layout)
#define USE_KERNEL_VARIANT(op, provider, variant, target, dtype, layout) \
  WHERRY_USE_(wherry_kernel_##op##_##provider##_##variant##_##target##_##dtype##_##layout)
