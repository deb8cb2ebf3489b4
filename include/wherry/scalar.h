// Attribute values of operators that are neither tensors nor plain C++ types.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "wherry/types.h"

namespace wherry {

class Tensor;

// One number together with its type: bool, any integer (kept as int64; uint64 as its bits) or any float (kept as
// double). Value type.
class Scalar {
 public:
  Scalar() = default;                                                   // int64 0
  Scalar(bool value) : dtype_(DataType::kBool), integer_(value) {}      // NOLINT: implicit by design
  Scalar(int value) : dtype_(DataType::kInt32), integer_(value) {}      // NOLINT
  Scalar(int64_t value) : dtype_(DataType::kInt64), integer_(value) {}  // NOLINT
  Scalar(float value) : dtype_(DataType::kFloat), floating_(value) {}   // NOLINT
  Scalar(double value) : dtype_(DataType::kFP64), floating_(value) {}   // NOLINT
  explicit Scalar(const Tensor& tensor);  // one element, host or device; Error(kInvalidArgument) otherwise
  // A number of any type of its family (i8, u64, f16...), rounded or wrapped to that type. Error(kInvalidArgument) for
  // a type of the other family, or one that is no number.
  static Scalar OfType(DataType dtype, int64_t value);
  static Scalar OfType(DataType dtype, double value);

  DataType dtype() const { return dtype_; }
  bool is_floating() const { return IsFloating(dtype_); }
  // The value as T, converted as C++ does, but out-of-range floats to integers saturate and NaN gives 0.
  template <typename T>
  T to() const {
    if (!is_floating()) {
      if (dtype_ == DataType::kUInt64) return static_cast<T>(static_cast<uint64_t>(integer_));
      return static_cast<T>(integer_);
    }
    if constexpr (std::is_same_v<T, bool>) {
      return floating_ != 0.0;
    } else if constexpr (std::is_integral_v<T>) {
      return Saturate<T>(floating_);
    } else {
      return static_cast<T>(floating_);
    }
  }
  std::string DebugString()
      const;  // "3", "true", "0.5"; other types than bool, i64 and f64 by name: "f32(0.5)", "i32(3)"

  friend bool operator==(const Scalar& a, const Scalar& b) {
    return a.dtype_ == b.dtype_ && a.integer_ == b.integer_ &&
           (a.floating_ == b.floating_ || (a.floating_ != a.floating_ && b.floating_ != b.floating_));
  }

 private:
  template <typename T>
  static T Saturate(double value) {
    using Limits = std::numeric_limits<T>;
    if (value != value) return 0;
    // The maximum may round up to a power of two, which is out of range itself.
    if (value >= static_cast<double>(Limits::max())) return Limits::max();
    if (value <= static_cast<double>(Limits::min())) return Limits::min();
    return static_cast<T>(value);
  }

  DataType dtype_ = DataType::kInt64;
  int64_t integer_ = 0;
  double floating_ = 0.0;
};

// A list of integers that a caller gives as a list or as a one-dimensional integer tensor (a shape, axes, sizes).
class IntArray {
 public:
  IntArray() = default;
  IntArray(std::initializer_list<int64_t> values) : values_(values) {}   // NOLINT: implicit by design
  IntArray(std::vector<int64_t> values) : values_(std::move(values)) {}  // NOLINT
  IntArray(const Shape& shape) : values_(shape.vector()) {}              // NOLINT
  explicit IntArray(const Tensor& tensor);                               // int32 or int64, rank 0 or 1

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
