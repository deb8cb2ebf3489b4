#include "kernels/cpu/conv/conv_problem.h"

#include "kernel/conv_window.h"
#include "kernels/cpu/conv/conv.h"

namespace wherry::cpu {

ConvWeightShape ConvWeightShapeOf(const Shape& filter, int64_t groups) {
  return {filter[0], filter[1], filter[2], filter[3], groups};
}

ConvShape PartialConvShapeOf(const KernelProblem& problem) {
  const WindowAttributes window = ConvWindow(problem);
  ConvShape s;
  s.weight = ConvWeightShapeOf(problem.Input("filter")->shape(), problem.Attr<int64_t>("groups"));
  s.stride_height = window.stride[0];
  s.stride_width = window.stride[1];
  s.dilation_height = window.dilation[0];
  s.dilation_width = window.dilation[1];
  return s;
}

ConvShape ConvShapeOf(const KernelProblem& problem) {
  const TensorMeta x = problem.Input("x")->tensor_meta();
  ConvShape s = PartialConvShapeOf(problem);
  s.batch = x.shape[0];
  s.in_height = x.shape[2];
  s.in_width = x.shape[3];
  const WindowAttributes window = ConvWindow(problem);
  const WindowAxis rows = ResolveWindowAxis(window, 0, s.in_height, s.weight.kernel_height, false);
  const WindowAxis columns = ResolveWindowAxis(window, 1, s.in_width, s.weight.kernel_width, false);
  s.pad_top = rows.pad_begin;
  s.pad_bottom = rows.pad_end;
  s.pad_left = columns.pad_begin;
  s.pad_right = columns.pad_end;
  s.in_pixel_stride = x.effective_pixel_stride();
  s.out_pixel_stride = problem.Output().tensor_meta().effective_pixel_stride();
  return s;
}

size_t PackedConvFilterBytes(const TensorMeta& filter, std::string_view format) {
  const ConvFormat parsed = ParseConvPackFormat(format);
  return static_cast<size_t>(ConvPackedSize(parsed.algorithm, ConvWeightShapeOf(filter.shape, parsed.groups))) *
         sizeof(float);
}

void PackConvFilter(const DenseTensor& filter, std::string_view format, void* packed) {
  const ConvFormat parsed = ParseConvPackFormat(format);
  PackConv(parsed.algorithm, ConvWeightShapeOf(filter.shape(), parsed.groups), filter.data<float>(),
           static_cast<float*>(packed), nullptr, parsed.layout);
}

}  // namespace wherry::cpu
