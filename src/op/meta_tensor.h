// MetaTensor: what is known about a value without running anything. InferMeta functions map MetaTensors and attributes
// to MetaTensors, for eager calls, static graphs and symbolic shapes alike.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/dense_tensor.h"
#include "core/dim.h"
#include "wherry/scalar.h"

namespace wherry {

struct MetaTensor {
  // Integer tensors of at most this many elements carry their values, symbols among them.
  static constexpr int kMaxValues = 64;

  DataType dtype = DataType::kUndefined;
  bool rank_known = true;
  std::vector<Dim> dims;  // logical order; meaningful when rank_known
  DataLayout layout = DataLayout::kNCHW;
  // As in TensorMeta; InferMeta functions need not set it. Part of the MetaTensor because plans depend on it.
  int64_t pixel_stride = 0;
  std::optional<std::vector<Dim>> values;  // row-major, numel entries; integer and bool tensors only

  MetaTensor() = default;
  MetaTensor(DataType type, std::vector<Dim> shape) : dtype(type), dims(std::move(shape)) {}
  MetaTensor(const TensorMeta& meta);  // NOLINT: implicit by design, so that InferMeta takes x.meta() as the sources do
  static MetaTensor UnknownRank(DataType type);

  int rank() const { return static_cast<int>(dims.size()); }
  // Every dimension is a number.
  bool known() const;
  // The same type and shape, of which no values are known.
  MetaTensor WithoutValues() const;
  // The concrete shape; Error(kInternal) unless known().
  Shape shape() const;
  TensorMeta tensor_meta() const;
  Dim numel() const { return Product(dims); }
  std::string DebugString() const;  // "f32[N,3,48,W]", "i64[2] = [N, 64]", "f32[?]"

  friend bool operator==(const MetaTensor& a, const MetaTensor& b) {
    return a.dtype == b.dtype && a.rank_known == b.rank_known && a.dims == b.dims && a.layout == b.layout &&
           a.pixel_stride == b.pixel_stride && a.values == b.values;
  }
};

// Reads the values of a small host integer tensor into the MetaTensor (no effect on others).
void AttachValues(const DenseTensor& tensor, MetaTensor* meta);

// An IntArray argument at inference time: from an attribute (all numbers), or from a tensor whose values may be symbols
// or unknown.
struct SymIntArray {
  std::optional<std::vector<Dim>> values;  // nullopt: not known yet
  std::optional<int64_t> count;            // the number of entries, when that at least is known
  SymIntArray() = default;
  SymIntArray(const IntArray& array);   // NOLINT
  SymIntArray(const MetaTensor& meta);  // NOLINT
  bool known() const { return values.has_value(); }
};

// A Scalar argument at inference time.
struct SymScalar {
  std::optional<Scalar> value;  // a number
  std::optional<Dim> dim;       // or an integer that may be a symbol
  DataType dtype = DataType::kUndefined;
  SymScalar() = default;
  SymScalar(const Scalar& scalar);    // NOLINT
  SymScalar(const MetaTensor& meta);  // NOLINT
  bool known() const { return value.has_value() || dim.has_value(); }
};

}  // namespace wherry
