// The geometry of a 2-D convolution on f32 images whose channels are innermost (NHWC), as the raw kernels see it.
#pragma once

#include <cstdint>

namespace wherry::cpu {

// What a packed weight depends on: nothing of the image. The unpacked weight is contiguous
// [out_channels][in_channels_per_group][kernel_height][kernel_width] (OIHW).
struct ConvWeightShape {
  int64_t out_channels = 0;  // of all groups; a multiple of groups
  int64_t in_channels_per_group = 0;
  int64_t kernel_height = 1;
  int64_t kernel_width = 1;
  int64_t groups = 1;

  int64_t out_channels_per_group() const { return out_channels / groups; }
  int64_t taps() const { return kernel_height * kernel_width; }
  int64_t elements() const { return out_channels * in_channels_per_group * taps(); }
};

// Images are dense but for their pixels: pixel i = (n * height + y) * width + x begins at i * pixel stride, in floats.
// The stride may exceed the channel count (padded pixels); what lies between is neither read nor written.
struct ConvShape {
  int64_t batch = 1;
  int64_t in_height = 0;
  int64_t in_width = 0;
  ConvWeightShape weight;
  int64_t stride_height = 1;
  int64_t stride_width = 1;
  int64_t dilation_height = 1;
  int64_t dilation_width = 1;
  int64_t pad_top = 0;
  int64_t pad_bottom = 0;
  int64_t pad_left = 0;
  int64_t pad_right = 0;
  int64_t in_pixel_stride = 0;
  int64_t out_pixel_stride = 0;

  int64_t in_channels() const { return weight.in_channels_per_group * weight.groups; }
  int64_t out_height() const {
    return OutSize(in_height + pad_top + pad_bottom, weight.kernel_height, stride_height, dilation_height);
  }
  int64_t out_width() const {
    return OutSize(in_width + pad_left + pad_right, weight.kernel_width, stride_width, dilation_width);
  }
  int64_t out_pixels() const { return batch * out_height() * out_width(); }

 private:
  // 0 when the padded image is smaller than the (dilated) kernel.
  static int64_t OutSize(int64_t padded, int64_t kernel, int64_t stride, int64_t dilation) {
    const int64_t span = (kernel - 1) * dilation + 1;
    return padded < span ? 0 : (padded - span) / stride + 1;
  }
};

}  // namespace wherry::cpu
