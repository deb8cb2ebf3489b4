#include "kernels/opencl/broadcast.h"

namespace wherry::opencl {

Broadcast MakeBroadcast(const Shape& x, const Shape& y, const Shape& out, int64_t x_unit, int64_t y_unit) {
  Broadcast result{};
  int64_t x_step = x_unit;  // of the current dimension if the operand has it
  int64_t y_step = y_unit;
  for (int i = 0; i < out.rank(); ++i) {
    const int64_t dim = out[out.rank() - 1 - i];
    const int64_t x_dim = i < x.rank() ? x[x.rank() - 1 - i] : 1;
    const int64_t y_dim = i < y.rank() ? y[y.rank() - 1 - i] : 1;
    const int64_t x_moves = x_dim == 1 ? 0 : x_step;
    const int64_t y_moves = y_dim == 1 ? 0 : y_step;
    x_step *= x_dim;
    y_step *= y_dim;
    if (dim == 1) continue;
    const int last = result.rank - 1;
    if (last >= 0 && result.x_steps[last] * result.dims[last] == x_moves &&
        result.y_steps[last] * result.dims[last] == y_moves) {
      result.dims[last] *= dim;
      continue;
    }
    result.dims[result.rank] = dim;
    result.x_steps[result.rank] = x_moves;
    result.y_steps[result.rank] = y_moves;
    ++result.rank;
  }
  if (result.rank == 0) {
    result.rank = 1;
    result.dims[0] = 1;
  }
  return result;
}

}  // namespace wherry::opencl
