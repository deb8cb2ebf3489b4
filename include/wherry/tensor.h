// Tensor: the user's handle on a multi-dimensional array.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wherry/scalar.h"
#include "wherry/types.h"

namespace wherry {

class DenseTensor;

// A shared handle: copies refer to the same data. Not thread-safe for writing; reading from several threads is fine.
// Shapes are in logical order; host data read or written through this class is plain (row-major).
// A default-constructed Tensor is undefined: only Resize, mutable_data, ShareExternalMemory, CopyFromCpu and set_impl
// are allowed.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<DenseTensor> impl) : impl_(std::move(impl)) {}

  // A new host tensor of this shape and type, its content a copy of `data` (numel elements).
  template <typename T>
  static Tensor From(const Shape& shape, const std::vector<T>& data) {
    Tensor tensor;
    tensor.Resize(shape);
    tensor.CheckCount(data.size());
    T* out = tensor.mutable_data<T>();
    for (size_t i = 0; i < data.size(); ++i) out[i] = data[i];
    return tensor;
  }

  bool defined() const { return impl_ != nullptr; }
  Shape shape() const;
  DataType dtype() const;
  DataType precision() const { return dtype(); }  // Paddle-Lite's name
  DataLayout layout() const;
  Target target() const;
  int64_t numel() const { return shape().numel(); }
  size_t nbytes() const;

  // Sets the shape; the data is kept (in plain order) while the new shape fits its memory, else dropped.
  void Resize(const Shape& shape);
  void Resize(const std::vector<int64_t>& shape) { Resize(Shape(shape)); }
  void Resize(std::initializer_list<int64_t> shape) { Resize(Shape(shape)); }  // Resize({1, 3, 48, 320})

  // Host pointer to numel() elements, 64-byte aligned unless it is the user's memory. Error(kInvalidArgument) if the
  // type is another one, there is no data, it does not lie on the host or is not in plain order (CopyTo(Target::kHost)
  // makes it so).
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(RawData(DataTypeOf<T>()));
  }
  // Host pointer to write to; allocates when there is no data of that type and size. Data of that type that lies on a
  // device or in another layout is brought to the host in plain order.
  template <typename T>
  T* mutable_data() {
    return static_cast<T*>(MutableRawData(DataTypeOf<T>()));
  }
  const void* raw_data() const { return RawData(DataType::kAny); }
  void* mutable_raw_data(DataType dtype) { return MutableRawData(dtype); }

  // Uses `bytes` bytes of the caller's memory without a copy. The caller keeps it alive and unchanged in place while
  // any handle uses it, or gives a `release` that is called when the last one is gone. It may be unaligned; it is never
  // read past its end. The present shape must fit (kInvalidArgument); an undefined tensor becomes one-dimensional.
  // Strings cannot be shared.
  void ShareExternalMemory(void* data, size_t bytes, DataType dtype, std::function<void()> release = nullptr);

  // Whole tensor, numel() elements of type T in plain order; CopyFromCpu makes the tensor one of that type on the host.
  template <typename T>
  void CopyFromCpu(const T* data) {
    CopyBytesFrom(data, DataTypeOf<T>());
  }
  template <typename T>
  void CopyToCpu(T* data) const {
    CopyBytesTo(data, DataTypeOf<T>());
  }

  // A value of type kSequence is a list of tensors, in which a model's optional value is a list of none or one. The
  // elements share their memory with it. Elements(): Error(kInvalidArgument) for any other value.
  void SetElements(const std::vector<Tensor>& elements);
  std::vector<Tensor> Elements() const;

  // A copy on `target` (the same handle when it already lies there), in plain layout.
  Tensor CopyTo(Target target) const;

  const std::shared_ptr<DenseTensor>& impl() const { return impl_; }
  void set_impl(std::shared_ptr<DenseTensor> impl) { impl_ = std::move(impl); }

  std::string DebugString(int max_elements = 16) const;  // "f32[2,3] = 1, 2, 3, ..."

 private:
  const void* RawData(DataType dtype) const;
  void* MutableRawData(DataType dtype);
  void CopyBytesFrom(const void* data, DataType dtype);
  void CopyBytesTo(void* data, DataType dtype) const;
  void CheckCount(size_t count) const;

  std::shared_ptr<DenseTensor> impl_;
};

}  // namespace wherry
