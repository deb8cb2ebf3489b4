// Attribute values of operators that are neither tensors nor plain C++ types.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "wherry/types.h"

namespace wherry {

class Tensor;

// One number together with its type: bool, any integer (kept as int64) or any float (kept as double). Value type.
class Scalar {
 public:
  Scalar() = default;  // int64 0
  Scalar(bool value) : dtype_(DataType::kBool), integer_(value) {}             // NOLINT: implicit by design
  Scalar(int value) : dtype_(DataType::kInt32), integer_(value) {}             // NOLINT
  Scalar(int64_t value) : dtype_(DataType::kInt64), integer_(value) {}         // NOLINT
  Scalar(float value) : dtype_(DataType::kFloat), floating_(value) {}          // NOLINT
  Scalar(double value) : dtype_(DataType::kFP64), floating_(value) {}          // NOLINT
  explicit Scalar(const Tensor& tensor);  // one element, host or device; Error(kInvalidArgument) otherwise

  DataType dtype() const { return dtype_; }
  bool is_floating() const { return dtype_ == DataType::kFloat || dtype_ == DataType::kFP64; }
  // The value as T, converted as C++ does, but out-of-range floats to integers saturate and NaN gives 0.
  template <typename T>
  T to() const {
    if (!is_floating()) return static_cast<T>(integer_);
    if constexpr (std::is_same_v<T, bool>) {
      return floating_ != 0.0;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(SaturatedInteger());
    } else {
      return static_cast<T>(floating_);
    }
  }
  std::string DebugString() const;

  friend bool operator==(const Scalar& a, const Scalar& b) {
    return a.dtype_ == b.dtype_ && a.integer_ == b.integer_ &&
           (a.floating_ == b.floating_ || (a.floating_ != a.floating_ && b.floating_ != b.floating_));
  }

 private:
  int64_t SaturatedInteger() const;

  DataType dtype_ = DataType::kInt64;
  int64_t integer_ = 0;
  double floating_ = 0.0;
};

// A list of integers that a caller gives as a list or as a one-dimensional integer tensor (a shape, axes, sizes).
class IntArray {
 public:
  IntArray() = default;
  IntArray(std::initializer_list<int64_t> values) : values_(values) {}     // NOLINT: implicit by design
  IntArray(std::vector<int64_t> values) : values_(std::move(values)) {}    // NOLINT
  IntArray(const Shape& shape) : values_(shape.vector()) {}                // NOLINT
  explicit IntArray(const Tensor& tensor);  // int32 or int64, rank 0 or 1

  const std::vector<int64_t>& values() const { return values_; }
  size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  int64_t operator[](size_t i) const { return values_[i]; }
  std::vector<int64_t>::const_iterator begin() const { return values_.begin(); }
  std::vector<int64_t>::const_iterator end() const { return values_.end(); }
  friend bool operator==(const IntArray& a, const IntArray& b) { return a.values_ == b.values_; }

 private:
  std::vector<int64_t> values_;
};

}  // namespace wherry
