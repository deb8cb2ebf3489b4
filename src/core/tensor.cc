#include "wherry/tensor.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/strings.h"
#include "core/dense_tensor.h"
#include "core/number_text.h"
#include "core/tensor_copy.h"

namespace wherry {
namespace {

const DenseTensor& Defined(const std::shared_ptr<DenseTensor>& impl) {
  WHERRY_ENFORCE(impl != nullptr, kInvalidArgument, "the tensor is undefined: it has neither a shape nor data");
  return *impl;
}

TensorMeta PlainMeta(DataType dtype, const Shape& shape) { return {dtype, shape, DataLayout::kNCHW, 0}; }

// Whether `tensor`'s memory, from its offset, has room for `meta`.
bool Fits(const DenseTensor& tensor, const TensorMeta& meta) {
  return tensor.has_data() && tensor.buffer()->size() - tensor.offset() >= meta.nbytes() &&
         tensor.buffer()->holds_strings() == (meta.dtype == DataType::kString);
}

template <typename T>
T ReadElement(const void* data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(data) + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

std::string ElementText(DataType dtype, const void* data, int64_t i) {
  switch (dtype) {
    case DataType::kBool: return ReadElement<uint8_t>(data, i) != 0 ? "true" : "false";
    case DataType::kInt8: return std::to_string(ReadElement<int8_t>(data, i));
    case DataType::kUInt8: return std::to_string(ReadElement<uint8_t>(data, i));
    case DataType::kInt16: return std::to_string(ReadElement<int16_t>(data, i));
    case DataType::kUInt16: return std::to_string(ReadElement<uint16_t>(data, i));
    case DataType::kInt32: return std::to_string(ReadElement<int32_t>(data, i));
    case DataType::kUInt32: return std::to_string(ReadElement<uint32_t>(data, i));
    case DataType::kInt64: return std::to_string(ReadElement<int64_t>(data, i));
    case DataType::kUInt64: return std::to_string(ReadElement<uint64_t>(data, i));
    case DataType::kFP16: return NumberText(static_cast<float>(ReadElement<Float16>(data, i)));
    case DataType::kBF16: return NumberText(static_cast<float>(ReadElement<BFloat16>(data, i)));
    case DataType::kFloat: return NumberText(ReadElement<float>(data, i));
    case DataType::kFP64: return NumberText(ReadElement<double>(data, i));
    case DataType::kComplex64: {
      const auto value = ReadElement<std::complex<float>>(data, i);
      return StrCat("(", NumberText(value.real()), ", ", NumberText(value.imag()), ")");
    }
    case DataType::kComplex128: {
      const auto value = ReadElement<std::complex<double>>(data, i);
      return StrCat("(", NumberText(value.real()), ", ", NumberText(value.imag()), ")");
    }
    case DataType::kString: return Quote(static_cast<const std::string*>(data)[i]);
    default: return "?";  // storage only
  }
}

}  // namespace

DenseTensor ToPlainHost(const DenseTensor& tensor) {
  WHERRY_ENFORCE(tensor.has_data(), kInvalidArgument, "tensor ", tensor.meta().DebugString(), " has no data");
  if (!IsHostMemory(tensor.target())) return CopyAcrossDevices(tensor, Target::kHost);
  if (!tensor.meta().is_plain()) return PlainHostCopy(tensor);
  DenseTensor same = tensor;
  same.set_meta(PlainMeta(tensor.dtype(), tensor.shape()));
  return same;
}

Shape Tensor::shape() const { return Defined(impl_).shape(); }
DataType Tensor::dtype() const { return Defined(impl_).dtype(); }
DataLayout Tensor::layout() const { return Defined(impl_).layout(); }
Target Tensor::target() const { return Defined(impl_).target(); }
size_t Tensor::nbytes() const { return Defined(impl_).nbytes(); }

void Tensor::Resize(const Shape& shape) {
  static_cast<void>(shape.numel());  // throws for a shape that cannot be
  if (impl_ == nullptr) {
    impl_ = std::make_shared<DenseTensor>(PlainMeta(DataType::kUndefined, shape));
    return;
  }
  if (shape == impl_->shape()) return;
  const TensorMeta meta = PlainMeta(impl_->dtype(), shape);
  if (impl_->has_data() && !impl_->meta().is_plain()) {
    *impl_ = IsHostMemory(impl_->target()) ? PlainHostCopy(*impl_) : CopyAcrossDevices(*impl_, impl_->target());
  }
  if (!Fits(*impl_, meta)) impl_->set_buffer(nullptr);
  impl_->set_meta(meta);
}

void Tensor::ShareExternalMemory(void* data, size_t bytes, DataType dtype, std::function<void()> release) {
  const size_t size = SizeOf(dtype);
  WHERRY_ENFORCE(size != 0, kInvalidArgument, "elements of type ", ToString(dtype), " cannot be shared");
  WHERRY_ENFORCE(data != nullptr || bytes == 0, kInvalidArgument, bytes, " bytes at a null pointer");
  const Shape shape = impl_ != nullptr ? impl_->shape() : Shape{static_cast<int64_t>(bytes / size)};
  const TensorMeta meta = PlainMeta(dtype, shape);
  WHERRY_ENFORCE(meta.nbytes() <= bytes, kInvalidArgument, "tensor ", meta.DebugString(), " needs ", meta.nbytes(),
                 " bytes, the shared memory has ", bytes);
  // A std::function never throws once it is moved, so `release` runs exactly when this call has succeeded.
  std::function<void(void*)> deleter;
  if (release) deleter = [release = std::move(release)](void* /*data*/) { release(); };
  auto buffer = std::make_shared<Buffer>(data, bytes, Target::kHost, std::move(deleter));
  if (impl_ == nullptr) {
    impl_ = std::make_shared<DenseTensor>(meta, std::move(buffer));
  } else {
    *impl_ = DenseTensor(meta, std::move(buffer));
  }
}

Tensor Tensor::CopyTo(Target target) const {
  const DenseTensor& tensor = Defined(impl_);
  WHERRY_ENFORCE(target > Target::kAny && target <= Target::kCustom, kInvalidArgument,
                 "cannot copy a tensor to target ", ToString(target), " (", static_cast<int>(target), ")");
  WHERRY_ENFORCE(tensor.has_data(), kInvalidArgument, "tensor ", tensor.meta().DebugString(), " has no data");
  const bool there = tensor.target() == target || (IsHostMemory(tensor.target()) && IsHostMemory(target));
  if (there && tensor.meta().is_plain()) return *this;
  return Tensor(
      std::make_shared<DenseTensor>(IsHostMemory(target) ? ToPlainHost(tensor) : CopyAcrossDevices(tensor, target)));
}

const void* Tensor::RawData(DataType dtype) const {
  const DenseTensor& tensor = Defined(impl_);
  WHERRY_ENFORCE(dtype == DataType::kAny || dtype == tensor.dtype(), kInvalidArgument, "tensor ",
                 tensor.meta().DebugString(), " is read as ", ToString(dtype));
  WHERRY_ENFORCE(tensor.meta().is_plain(), kInvalidArgument, "tensor ", tensor.meta().DebugString(),
                 " is not in plain order; CopyTo(Target::kHost) makes it so");
  return tensor.raw_data();
}

void* Tensor::MutableRawData(DataType dtype) {
  WHERRY_ENFORCE(dtype != DataType::kUndefined && dtype != DataType::kAny, kInvalidArgument, "elements of type ",
                 ToString(dtype));
  if (impl_ == nullptr) impl_ = std::make_shared<DenseTensor>(PlainMeta(dtype, Shape()));
  if (dtype == impl_->dtype() && impl_->has_data()) {
    if (!IsHostMemory(impl_->target()) || !impl_->meta().is_plain()) *impl_ = ToPlainHost(*impl_);
    if (Fits(*impl_, impl_->meta())) return impl_->mutable_raw_data();
  }
  // Not Allocate: memory that the user shared for another type is not ours to reuse.
  *impl_ = DenseTensor(HostAllocator(), PlainMeta(dtype, impl_->shape()));
  return impl_->mutable_raw_data();
}

void Tensor::CopyBytesFrom(const void* data, DataType dtype) {
  void* to = MutableRawData(dtype);
  const auto count = impl_->numel();
  if (count == 0) return;
  if (dtype == DataType::kString) {
    std::copy_n(static_cast<const std::string*>(data), count, static_cast<std::string*>(to));
  } else {
    std::memcpy(to, data, impl_->nbytes());
  }
}

void Tensor::CopyBytesTo(void* data, DataType dtype) const {
  const DenseTensor& tensor = Defined(impl_);
  WHERRY_ENFORCE(dtype == tensor.dtype(), kInvalidArgument, "tensor ", tensor.meta().DebugString(), " is copied as ",
                 ToString(dtype));
  const DenseTensor plain = ToPlainHost(tensor);
  const void* from = plain.raw_data();
  const auto count = plain.numel();
  if (count == 0) return;
  if (dtype == DataType::kString) {
    std::copy_n(static_cast<const std::string*>(from), count, static_cast<std::string*>(data));
  } else {
    std::memcpy(data, from, plain.nbytes());
  }
}

void Tensor::SetElements(const std::vector<Tensor>& elements) {
  std::vector<DenseTensor> tensors;
  tensors.reserve(elements.size());
  for (const Tensor& element : elements) tensors.push_back(Defined(element.impl_));
  DenseTensor sequence = SequenceOf(std::move(tensors));
  if (impl_ == nullptr) {
    impl_ = std::make_shared<DenseTensor>(std::move(sequence));
  } else {
    *impl_ = std::move(sequence);
  }
}

std::vector<Tensor> Tensor::Elements() const {
  std::vector<Tensor> elements;
  for (const DenseTensor& tensor : TensorsOf(Defined(impl_)))
    elements.emplace_back(std::make_shared<DenseTensor>(tensor));
  return elements;
}

void Tensor::CheckCount(size_t count) const {
  WHERRY_ENFORCE(static_cast<uint64_t>(numel()) == count, kInvalidArgument, "shape ", shape().DebugString(), " has ",
                 numel(), " elements, but there are ", count);
}

std::string Tensor::DebugString(int max_elements) const {
  if (impl_ == nullptr) return "undefined";
  std::string text = impl_->meta().DebugString();
  if (!impl_->has_data()) return text;
  if (!IsHostMemory(impl_->target())) text += StrCat(" on ", ToString(impl_->target()));
  if (impl_->dtype() == DataType::kSequence) return text + StrCat(" of ", TensorsOf(*impl_).size());
  const DenseTensor plain = ToPlainHost(*impl_);
  const void* data = plain.raw_data();
  const int64_t count = plain.numel();
  const int64_t shown = std::min<int64_t>(count, std::max(max_elements, 0));
  text += " = ";
  for (int64_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + ElementText(plain.dtype(), data, i);
  if (shown < count) text += shown == 0 ? "..." : ", ...";
  return text;
}

}  // namespace wherry
