// The same elements: under another shape, in another memory order, in another axis order.
#include <algorithm>
#include <concepts>
#include <cstring>
#include <string>

#include "base/check.h"
#include "core/device_context.h"
#include "kernel/kernel_impl.h"
#include "kernel/kernel_registrar.h"
#include "kernels/ref/element.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {
namespace {

// For reshape, squeeze, unsqueeze, flatten and assign, whose output may be the input's memory.
template <typename T>
void Copy(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  WHERRY_CHECK(x.numel() == out->numel(), x.meta().DebugString(), " copied to ", out->meta().DebugString());
  if (from == to) return;
  if constexpr (std::same_as<T, std::string>) {
    std::copy_n(from, x.numel(), to);
  } else if (x.numel() > 0) {
    std::memmove(to, from, static_cast<size_t>(x.numel()) * sizeof(T));
  }
}

// The same for types that exist only as storage, which have no C++ type.
void CopyBytes(const CpuContext& /*context*/, const DenseTensor& x, DenseTensor* out) {
  void* to = out->mutable_raw_data();
  if (to != x.raw_data() && x.nbytes() > 0) std::memmove(to, x.raw_data(), x.nbytes());
}

template <typename T>
void Transpose(const CpuContext& /*context*/, const DenseTensor& x, const std::vector<int64_t>& perm,
               DenseTensor* out) {
  const int rank = x.shape().rank();
  const Strides own = RowMajorStrides(x.shape());
  Strides strides{};
  for (int i = 0; i < rank; ++i) {
    const int64_t entry = perm.empty() ? rank - 1 - i : perm[static_cast<size_t>(i)];
    strides[static_cast<size_t>(i)] = own[static_cast<size_t>(entry < 0 ? entry + rank : entry)];
  }
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  Odometer<1> at(out->shape(), {strides});
  for (int64_t i = 0, count = out->numel(); i < count; ++i, at.Next()) to[i] = from[at.offset(0)];
}

template <typename T>
void Layout(const CpuContext& context, const DenseTensor& x, const std::vector<int64_t>& perm, DenseTensor* out) {
  if (perm.empty()) return CopyHostTensor(x, out);
  DenseTensor turned(HostAllocator(), {x.dtype(), out->shape(), DataLayout::kNCHW, 0});
  Transpose<T>(context, PlainHostCopy(x), perm, &turned);
  CopyHostTensor(turned, out);
}

}  // namespace

REGISTER_KERNEL(reshape, ref, kHost, kNCHW, Copy, WHERRY_REF_ALL, WHERRY_REF_COMPLEX, std::string);
REGISTER_KERNEL(squeeze, ref, kHost, kNCHW, Copy, WHERRY_REF_ALL, WHERRY_REF_COMPLEX, std::string);
REGISTER_KERNEL(unsqueeze, ref, kHost, kNCHW, Copy, WHERRY_REF_ALL, WHERRY_REF_COMPLEX, std::string);
REGISTER_KERNEL(flatten, ref, kHost, kNCHW, Copy, WHERRY_REF_ALL, WHERRY_REF_COMPLEX, std::string);
REGISTER_KERNEL(assign, ref, kHost, kNCHW, Copy, WHERRY_REF_ALL, WHERRY_REF_COMPLEX, std::string);
REGISTER_KERNEL_VARIANT(assign, ref, storage, kHost, kFP8E4M3FN, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(assign, ref, storage, kHost, kFP8E4M3FNUZ, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(assign, ref, storage, kHost, kFP8E5M2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(assign, ref, storage, kHost, kFP8E5M2FNUZ, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(assign, ref, storage, kHost, kFP8E8M0, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(assign, ref, storage, kHost, kFP4E2M1, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(assign, ref, storage, kHost, kInt4, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(assign, ref, storage, kHost, kUInt4, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(assign, ref, storage, kHost, kInt2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(assign, ref, storage, kHost, kUInt2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(reshape, ref, storage, kHost, kFP8E4M3FN, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(reshape, ref, storage, kHost, kFP8E4M3FNUZ, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(reshape, ref, storage, kHost, kFP8E5M2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(reshape, ref, storage, kHost, kFP8E5M2FNUZ, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(reshape, ref, storage, kHost, kFP8E8M0, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(reshape, ref, storage, kHost, kFP4E2M1, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(reshape, ref, storage, kHost, kInt4, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(reshape, ref, storage, kHost, kUInt4, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(reshape, ref, storage, kHost, kInt2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(reshape, ref, storage, kHost, kUInt2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(squeeze, ref, storage, kHost, kFP8E4M3FN, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(squeeze, ref, storage, kHost, kFP8E4M3FNUZ, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(squeeze, ref, storage, kHost, kFP8E5M2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(squeeze, ref, storage, kHost, kFP8E5M2FNUZ, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(squeeze, ref, storage, kHost, kFP8E8M0, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(squeeze, ref, storage, kHost, kFP4E2M1, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(squeeze, ref, storage, kHost, kInt4, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(squeeze, ref, storage, kHost, kUInt4, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(squeeze, ref, storage, kHost, kInt2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(squeeze, ref, storage, kHost, kUInt2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(unsqueeze, ref, storage, kHost, kFP8E4M3FN, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(unsqueeze, ref, storage, kHost, kFP8E4M3FNUZ, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(unsqueeze, ref, storage, kHost, kFP8E5M2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(unsqueeze, ref, storage, kHost, kFP8E5M2FNUZ, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(unsqueeze, ref, storage, kHost, kFP8E8M0, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(unsqueeze, ref, storage, kHost, kFP4E2M1, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(unsqueeze, ref, storage, kHost, kInt4, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(unsqueeze, ref, storage, kHost, kUInt4, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(unsqueeze, ref, storage, kHost, kInt2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(unsqueeze, ref, storage, kHost, kUInt2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(flatten, ref, storage, kHost, kFP8E4M3FN, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(flatten, ref, storage, kHost, kFP8E4M3FNUZ, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(flatten, ref, storage, kHost, kFP8E5M2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(flatten, ref, storage, kHost, kFP8E5M2FNUZ, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(flatten, ref, storage, kHost, kFP8E8M0, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(flatten, ref, storage, kHost, kFP4E2M1, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(flatten, ref, storage, kHost, kInt4, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(flatten, ref, storage, kHost, kUInt4, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(flatten, ref, storage, kHost, kInt2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL_VARIANT(flatten, ref, storage, kHost, kUInt2, kNCHW).Run(&KernelImpl<&CopyBytes>::Compute);
REGISTER_KERNEL(layout, ref, kHost, kAny, Layout, WHERRY_REF_ALL);
REGISTER_KERNEL(transpose, ref, kHost, kNCHW, Transpose, WHERRY_REF_ALL, WHERRY_REF_COMPLEX, std::string);

}  // namespace wherry::ref
