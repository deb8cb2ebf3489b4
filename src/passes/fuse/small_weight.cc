#include "passes/fuse/small_weight.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pass/weight_in_memory.h"

namespace wherry::mir {
namespace {

bool IsHalfByte(DataType dtype) { return dtype == DataType::kInt4 || dtype == DataType::kUInt4; }

// Integers of 8 or 4 bits, which follow each other without gaps.
class Integers {
 public:
  Integers(DataType dtype, const void* data) : dtype_(dtype), data_(static_cast<const uint8_t*>(data)) {}
  int At(int64_t i) const {
    switch (dtype_) {
      case DataType::kInt8: return static_cast<int8_t>(data_[i]);
      case DataType::kUInt8: return data_[i];
      default: {
        const int half = i % 2 == 0 ? data_[i / 2] & 15 : data_[i / 2] >> 4;
        return dtype_ == DataType::kUInt4 || half < 8 ? half : half - 16;
      }
    }
  }

 private:
  DataType dtype_;
  const uint8_t* data_;
};

// Writes the rows of weight_only_linear's weight; `turned`: they are columns now.
void WriteRows(const Integers& from, DataType dtype, int64_t rows, int64_t columns, bool turned, uint8_t* to) {
  const bool halves = IsHalfByte(dtype);
  const int offset = dtype == DataType::kInt4 ? 8 : 0;
  const int64_t row_bytes = halves ? (columns + 1) / 2 : columns;
  if (halves) std::fill_n(to, rows * row_bytes, uint8_t{0});
  const auto write = [&](int64_t row, int64_t column) {
    const int value = from.At(turned ? column * rows + row : row * columns + column) + offset;
    uint8_t* const at = to + row * row_bytes + (halves ? column / 2 : column);
    *at = static_cast<uint8_t>(halves ? *at | value << (column % 2 * 4) : value);
  };
  // In blocks that keep the lines of both sides in cache.
  constexpr int64_t kBlock = 64;
  for (int64_t row0 = 0; row0 < rows; row0 += kBlock) {
    for (int64_t column0 = 0; column0 < columns; column0 += kBlock) {
      for (int64_t row = row0; row < std::min(rows, row0 + kBlock); ++row) {
        for (int64_t column = column0; column < std::min(columns, column0 + kBlock); ++column) write(row, column);
      }
    }
  }
}

DenseTensor Rows(const DenseTensor& weight, int64_t rows, int64_t columns, bool turned) {
  const DataType dtype = weight.dtype();
  if (!turned && !IsHalfByte(dtype)) return weight;
  const TensorMeta meta{dtype == DataType::kInt8 ? dtype : DataType::kUInt8,
                        Shape{rows, IsHalfByte(dtype) ? (columns + 1) / 2 : columns}};
  auto write = [weight, rows, columns, turned](void* to) {
    const DenseTensor read = InMemory(weight);
    WriteRows(Integers(weight.dtype(), read.raw_data()), weight.dtype(), rows, columns, turned,
              static_cast<uint8_t*>(to));
    weight.buffer()->Discard();
  };
  return DenseTensor(meta, Buffer::Deferred(meta.nbytes(), std::move(write)));
}

// The constant, perhaps of 4 bits before a cast; null if it is none.
const DenseTensor* IntegersOf(const SSAGraph& graph, const Node* arg, const Node** named) {
  *named = arg;
  if (const Node::Stmt* cast = ProducerOf(arg, "cast")) {
    *named = cast->input("x");
    const DenseTensor* halves = graph.TryWeight(*named);
    return halves != nullptr && IsHalfByte(halves->dtype()) ? halves : nullptr;
  }
  const DenseTensor* bytes = graph.TryWeight(arg);
  const bool fits = bytes != nullptr && (bytes->dtype() == DataType::kInt8 || bytes->dtype() == DataType::kUInt8);
  return fits ? bytes : nullptr;
}

// Where the scale of a group of a column of the result lies.
struct Places {
  int64_t columns;
  int64_t groups;
  bool single;    // one for all
  bool grouped;   // there is an axis of groups
  bool by_group;  // which is the outer one

  int64_t At(int64_t column, int64_t group) const {
    return single ? 0 : by_group ? group * columns + column : column * groups + group;
  }
  Shape shape() const { return grouped ? Shape{columns, groups} : Shape{columns}; }
};

std::optional<Places> PlacesOf(const Node::Stmt& stmt, const DenseTensor& scale, const Shape& matrix, int column_axis) {
  const int axis = stmt.GetAttr<int>("axis");
  const int at = axis < 0 ? axis + 2 : axis;
  const auto block = stmt.GetAttr<int64_t>("block_size");
  Places places{matrix[column_axis], 1, false, block != 0, column_axis == 1};
  if (block == 0) {
    places.single = scale.numel() == 1;
    if (!places.single && at != column_axis) return std::nullopt;
    return places;
  }
  // A word of 4 bits holds 8 integers, and kernels want them to be of one group.
  if (at == column_axis || block % 8 != 0) return std::nullopt;
  places.groups = scale.shape()[1 - column_axis];
  return places;
}

// Zero points, unless all are what an absent one stands for: 0 of signed integers, else the middle.
std::optional<DenseTensor> ZerosOf(const DenseTensor* zeros, DataType dtype, const Places& places) {
  const bool halves = IsHalfByte(dtype);
  const int offset = dtype == DataType::kInt4 ? 8 : 0;
  const int middle = dtype == DataType::kInt8 ? 0 : halves ? 8 : 128;
  DenseTensor tensor(HostAllocator(), TensorMeta{dtype == DataType::kInt8 ? dtype : DataType::kUInt8, places.shape()});
  auto* to = static_cast<uint8_t*>(tensor.mutable_raw_data());
  bool all_middle = true;
  for (int64_t column = 0; column < places.columns; ++column) {
    for (int64_t group = 0; group < places.groups; ++group) {
      const int zero = zeros == nullptr ? 0 : Integers(dtype, zeros->raw_data()).At(places.At(column, group));
      all_middle = all_middle && zero + offset == middle;
      *to++ = static_cast<uint8_t>(zero + offset);
    }
  }
  if (all_middle) return std::nullopt;
  return tensor;
}

}  // namespace

std::optional<SmallWeight> SmallWeightOf(const SSAGraph& graph, const Node::Stmt& dequantize, bool transposed) {
  const Node* named = nullptr;
  const DenseTensor* weight = IntegersOf(graph, dequantize.input("x"), &named);
  const DenseTensor* scale = graph.TryWeight(dequantize.input("scale"));
  if (weight == nullptr || weight->shape().rank() != 2 || weight->numel() == 0 || scale == nullptr ||
      scale->dtype() != DataType::kFloat || dequantize.output()->AsArg().type.dtype != DataType::kFloat) {
    return std::nullopt;
  }
  const DenseTensor* zeros = nullptr;
  if (const Node* zero = dequantize.input("zero_point")) {
    const Node* zero_named = nullptr;
    zeros = IntegersOf(graph, zero, &zero_named);
    if (zeros == nullptr || zeros->dtype() != weight->dtype()) return std::nullopt;
  }
  const int column_axis = transposed ? 0 : 1;
  const std::optional<Places> places = PlacesOf(dequantize, *scale, weight->shape(), column_axis);
  if (!places) return std::nullopt;
  SmallWeight small;
  small.name = named->AsArg().name;
  small.weight = Rows(*weight, places->columns, weight->shape()[1 - column_axis], !transposed);
  small.bits = IsHalfByte(weight->dtype()) ? 4 : 8;
  if (places->grouped) small.group_size = dequantize.GetAttr<int64_t>("block_size");
  small.scale = DenseTensor(HostAllocator(), TensorMeta{DataType::kFloat, places->shape()});
  auto* to = small.scale.mutable_data<float>();
  for (int64_t column = 0; column < places->columns; ++column) {
    for (int64_t group = 0; group < places->groups; ++group) *to++ = scale->data<float>()[places->At(column, group)];
  }
  small.zero_point = ZerosOf(zeros, weight->dtype(), *places);
  return small;
}

}  // namespace wherry::mir
