// out[b] = x[b] * y[b] with batches broadcast. A group computes a TILE x TILE square of one out[b], a work item an element of it;
// squares of x and y pass through local memory. x's element (row, k) is at row * x_row + k * x_column, so a transposed operand
// only has other strides.

typedef struct {
  long dims[12];
  long x_steps[12];
  long y_steps[12];
  int rank;
} Broadcast;

kernel void matmul_f32(global const float* x, long x_first, global const float* y, long y_first, global float* out,
                       long out_first, Broadcast batches, long rows, long depth, long columns, long x_row,
                       long x_column, long y_row, long y_column) {
  local float x_tile[TILE][TILE];
  local float y_tile[TILE][TILE];
  const int local_column = get_local_id(0);
  const int local_row = get_local_id(1);
  const long column = get_global_id(0);
  const long row = get_global_id(1);
  const long batch = get_global_id(2);

  long rest = batch;
  long x_batch = x_first;
  long y_batch = y_first;
  for (int d = 0; d < batches.rank; ++d) {
    const long position = rest % batches.dims[d];
    rest /= batches.dims[d];
    x_batch += position * batches.x_steps[d];
    y_batch += position * batches.y_steps[d];
  }

  float sum = 0.0f;
  for (long first = 0; first < depth; first += TILE) {
    const long x_k = first + local_column;
    const long y_k = first + local_row;
    x_tile[local_row][local_column] = row < rows && x_k < depth ? x[x_batch + row * x_row + x_k * x_column] : 0.0f;
    y_tile[local_row][local_column] =
        y_k < depth && column < columns ? y[y_batch + y_k * y_row + column * y_column] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += x_tile[local_row][k] * y_tile[k][local_column];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < rows && column < columns) out[out_first + (batch * rows + row) * columns + column] = sum;
}
