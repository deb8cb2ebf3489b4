// out = x + y with broadcasting; a work item an element of out.

typedef struct {
  long dims[12];
  long x_steps[12];
  long y_steps[12];
  int rank;
} Broadcast;

kernel void add_f32(global const float* x, long x_first, global const float* y, long y_first, global float* out,
                    long out_first, Broadcast broadcast) {
  const long i = get_global_id(0);
  long rest = i;
  long from_x = x_first;
  long from_y = y_first;
  for (int d = 0; d + 1 < broadcast.rank; ++d) {
    const long position = rest % broadcast.dims[d];
    rest /= broadcast.dims[d];
    from_x += position * broadcast.x_steps[d];
    from_y += position * broadcast.y_steps[d];
  }
  from_x += rest * broadcast.x_steps[broadcast.rank - 1];
  from_y += rest * broadcast.y_steps[broadcast.rank - 1];
  out[out_first + i] = x[from_x] + y[from_y];
}
