// out[i] = cos(x[i]); a work item an element.
kernel void cos_f32(global const float* x, long x_first, global float* out, long out_first) {
  const long i = get_global_id(0);
  out[out_first + i] = cos(x[x_first + i]);
}
