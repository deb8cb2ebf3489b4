// KernelImpl: calls a plain typed function as a kernel. Its signature says how the KernelContext is unpacked:
//
//   template <typename T> void Softmax(const CpuContext& context, const DenseTensor& x, int axis, DenseTensor* out);
//
// Parameters, in any order after the context: const DenseTensor& (input), const DenseTensor* (optional input),
// std::span<const DenseTensor* const> (list), attributes by their C++ type (IntArray, Scalar, std::vector<int64_t>,
// Epilogue by const reference), DenseTensor* (output), std::span<DenseTensor* const> (list output).
#pragma once

#include <span>
#include <tuple>
#include <type_traits>

#include "base/check.h"
#include "kernel/kernel_context.h"

namespace wherry {

// The parameter kinds of a kernel function, as stored in its descriptor and compared with the schema by a test.
enum class ParamKind : uint8_t { kInput, kOptionalInput, kInputList, kAttribute, kOutput, kOutputList };
struct KernelSignature {
  static constexpr size_t kMaxParams = 24;
  ParamKind params[kMaxParams] = {};
  size_t size = 0;
};

namespace internal {

struct KernelCursor {
  size_t input = 0;
  size_t attr = 0;
  size_t output = 0;
};

template <typename T>
struct KernelParam {  // attributes
  static constexpr ParamKind kKind = ParamKind::kAttribute;
  static decltype(auto) Get(const KernelContext& context, KernelCursor& cursor) {
    return context.AttrAt<std::decay_t<T>>(cursor.attr++);
  }
};
template <>
struct KernelParam<const DenseTensor&> {
  static constexpr ParamKind kKind = ParamKind::kInput;
  static const DenseTensor& Get(const KernelContext& context, KernelCursor& cursor) {
    const DenseTensor* tensor = context.Input(cursor.input++);
    WHERRY_ENFORCE(tensor != nullptr, kInvalidArgument, "input ", cursor.input - 1, " is missing");
    return *tensor;
  }
};
template <>
struct KernelParam<const DenseTensor*> {
  static constexpr ParamKind kKind = ParamKind::kOptionalInput;
  static const DenseTensor* Get(const KernelContext& context, KernelCursor& cursor) {
    return context.Input(cursor.input++);
  }
};
template <>
struct KernelParam<std::span<const DenseTensor* const>> {
  static constexpr ParamKind kKind = ParamKind::kInputList;
  static std::span<const DenseTensor* const> Get(const KernelContext& context, KernelCursor& cursor) {
    return context.InputAt(cursor.input++);
  }
};
template <>
struct KernelParam<DenseTensor*> {
  static constexpr ParamKind kKind = ParamKind::kOutput;
  static DenseTensor* Get(const KernelContext& context, KernelCursor& cursor) {
    return context.Output(cursor.output++);
  }
};
template <>
struct KernelParam<std::span<DenseTensor* const>> {
  static constexpr ParamKind kKind = ParamKind::kOutputList;
  static std::span<DenseTensor* const> Get(const KernelContext& context, KernelCursor& cursor) {
    return context.OutputAt(cursor.output++);
  }
};

}  // namespace internal

template <auto Fn>
struct KernelImpl;
template <typename Context, typename... A, void (*Fn)(const Context&, A...)>
struct KernelImpl<Fn> {
  static_assert(std::is_base_of_v<DeviceContext, Context>,
                "a kernel's first parameter is a const reference to a device context");

  static void Compute(KernelContext* context) {
    [[maybe_unused]] internal::KernelCursor cursor;
    // Braces evaluate left to right, which the cursor needs.
    std::tuple<decltype(internal::KernelParam<A>::Get(*context, cursor))...> args{
        internal::KernelParam<A>::Get(*context, cursor)...};
    std::apply([context](auto&&... arg) { Fn(context->device_as<Context>(), std::forward<decltype(arg)>(arg)...); },
               std::move(args));
  }
  static constexpr KernelSignature Signature() {
    static_assert(sizeof...(A) <= KernelSignature::kMaxParams, "a kernel function has too many parameters");
    return KernelSignature{{internal::KernelParam<A>::kKind...}, sizeof...(A)};
  }
};

}  // namespace wherry
