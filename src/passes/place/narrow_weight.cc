#include "passes/place/narrow_weight.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "core/device_context.h"
#include "kernel/invoke.h"
#include "pass/weight_in_memory.h"

namespace wherry::mir {
namespace {

// Integers of a row that share a scale.
constexpr int64_t kGroup = 128;

DenseTensor Cast(const DenseTensor& from, DataType dtype) {
  CpuContext cpu;
  return TransformTensor(from, dtype, DataLayout::kUndefined, &cpu);
}

// [rows, columns] as [columns, rows], in blocks that keep the lines of both sides in cache.
void Turn(const uint16_t* from, int64_t rows, int64_t columns, uint16_t* to) {
  constexpr int64_t kBlock = 32;
  for (int64_t row0 = 0; row0 < rows; row0 += kBlock) {
    for (int64_t column0 = 0; column0 < columns; column0 += kBlock) {
      const int64_t row1 = std::min(rows, row0 + kBlock);
      for (int64_t column = column0; column < std::min(columns, column0 + kBlock); ++column) {
        for (int64_t row = row0; row < row1; ++row) to[column * rows + row] = from[row * columns + column];
      }
    }
  }
}

void WriteHalves(DataType dtype, const DenseTensor& weight, bool turned, uint16_t* to) {
  std::vector<uint16_t> straight(turned ? static_cast<size_t>(weight.numel()) : 0);
  uint16_t* const halves = turned ? straight.data() : to;
  ForEachPiece(weight, [&](const DenseTensor& piece, int64_t begin) {
    std::memcpy(halves + begin, Cast(piece, dtype).raw_data(), static_cast<size_t>(piece.numel()) * sizeof(*halves));
    return true;
  });
  if (turned) Turn(halves, weight.shape()[0], weight.shape()[1], to);
  weight.buffer()->Discard();
}

// Calls fn(row's elements) for each row of the matrix in turn. Turned, columns are read 16 at a time, a cache line of
// each row where it lies.
template <typename Fn>
void ForEachRow(const DenseTensor& matrix, bool turned, const Fn& fn) {
  const auto* const data = matrix.data<float>();
  const int64_t rows = matrix.shape()[turned ? 1 : 0];
  const int64_t columns = matrix.shape()[turned ? 0 : 1];
  if (!turned) {
    for (int64_t row = 0; row < rows; ++row) fn(data + row * columns);
    return;
  }
  constexpr int64_t kTogether = 16;
  std::vector<float> together(static_cast<size_t>(kTogether * columns));
  for (int64_t row0 = 0; row0 < rows; row0 += kTogether) {
    const int64_t count = std::min(kTogether, rows - row0);
    for (int64_t column = 0; column < columns; ++column) {
      const float* const line = data + column * rows + row0;
      for (int64_t row = 0; row < count; ++row) together[static_cast<size_t>(row * columns + column)] = line[row];
    }
    for (int64_t row = 0; row < count; ++row) fn(together.data() + row * columns);
  }
}

}  // namespace

bool IsExactly(DataType dtype, const DenseTensor& weight) {
  return ForEachPiece(weight, [dtype](const DenseTensor& piece, int64_t /*begin*/) {
    const DenseTensor back = Cast(Cast(piece, dtype), DataType::kFloat);
    return std::memcmp(back.raw_data(), piece.raw_data(), piece.nbytes()) == 0;
  });
}

NarrowWeight ToHalves(DataType dtype, const DenseTensor& weight, bool turned) {
  const TensorMeta meta{dtype, turned ? Shape{weight.shape()[1], weight.shape()[0]} : weight.shape()};
  NarrowWeight narrow;
  if (weight.buffer()->is_deferred()) {
    auto write = [dtype, weight, turned](void* to) { WriteHalves(dtype, weight, turned, static_cast<uint16_t*>(to)); };
    narrow.weight = DenseTensor(meta, Buffer::Deferred(meta.nbytes(), std::move(write)));
  } else {
    narrow.weight = DenseTensor(HostAllocator(), meta);
    WriteHalves(dtype, weight, turned, static_cast<uint16_t*>(narrow.weight.mutable_raw_data()));
  }
  return narrow;
}

float Largest(const DenseTensor& weight) {
  float largest = 0;
  ForEachPiece(weight, [&largest](const DenseTensor& piece, int64_t /*begin*/) {
    const auto* const values = piece.data<float>();
    const int64_t count = piece.numel();
    for (int64_t i = 0; i < count; ++i) {
      largest =
          std::max(largest, std::isnan(values[i]) ? std::numeric_limits<float>::infinity() : std::fabs(values[i]));
    }
    return true;
  });
  return largest;
}

float LargestError(DataType dtype, const DenseTensor& weight) {
  float error = 0;
  ForEachPiece(weight, [&](const DenseTensor& piece, int64_t /*begin*/) {
    const DenseTensor back = Cast(Cast(piece, dtype), DataType::kFloat);
    const auto* const values = piece.data<float>();
    const auto* const rounded = back.data<float>();
    const int64_t count = piece.numel();
    for (int64_t i = 0; i < count; ++i) error = std::max(error, std::fabs(rounded[i] - values[i]));
    return true;
  });
  return error;
}

NarrowWeight ToInt8(const DenseTensor& weight, bool turned, float* error) {
  const DenseTensor read = InMemory(weight);
  const int64_t rows = weight.shape()[turned ? 1 : 0];
  const int64_t columns = weight.shape()[turned ? 0 : 1];
  NarrowWeight narrow;
  narrow.weight = DenseTensor(HostAllocator(), TensorMeta{DataType::kInt8, Shape{rows, columns}});
  Shape scales{rows};
  int64_t size = columns;
  if (columns > kGroup) {
    narrow.group_size = size = kGroup;
    scales = Shape{rows, (columns + kGroup - 1) / kGroup};
  }
  narrow.scale = DenseTensor(HostAllocator(), TensorMeta{DataType::kFloat, scales});
  auto* to = narrow.weight.mutable_data<int8_t>();
  auto* scale = narrow.scale->mutable_data<float>();
  std::fill_n(scale, narrow.scale->numel(), 1.0F);  // of rows without elements and of zeros
  *error = 0;
  ForEachRow(read, turned, [&](const float* row) {
    for (int64_t begin = 0; begin < columns; begin += size) {
      const int64_t end = std::min(columns, begin + size);
      float most = 0;
      for (int64_t column = begin; column < end; ++column) most = std::max(most, std::fabs(row[column]));
      if (most / 127 > 0) *scale = most / 127;
      const float step = *scale++;
      for (int64_t column = begin; column < end; ++column) {
        const float steps = std::clamp(std::nearbyint(row[column] / step), -127.0F, 127.0F);
        *to++ = static_cast<int8_t>(steps);
        *error = std::max(*error, std::fabs(steps * step - row[column]));
      }
    }
  });
  weight.buffer()->Discard();
  return narrow;
}

}  // namespace wherry::mir
