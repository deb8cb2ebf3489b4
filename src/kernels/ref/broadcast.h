// Elementwise functions of tensors that broadcast.
#pragma once

#include <cstdint>

#include "core/dense_tensor.h"
#include "kernels/ref/strided.h"

namespace wherry::ref {

// to[i] = function(x element, y element) over the shape of `out`, to which x and y broadcast.
template <typename TX, typename TY, typename TOut, typename Function>
void MapBroadcast(const DenseTensor& x, const DenseTensor& y, DenseTensor* out, Function function) {
  const TX* left = x.data<TX>();
  const TY* right = y.data<TY>();
  TOut* to = out->mutable_data<TOut>();
  const Shape& shape = out->shape();
  Odometer<2> at(shape, {BroadcastStrides(x.shape(), shape), BroadcastStrides(y.shape(), shape)});
  for (int64_t i = 0, count = shape.numel(); i < count; ++i, at.Next()) {
    to[i] = function(left[at.offset(0)], right[at.offset(1)]);
  }
}

}  // namespace wherry::ref
