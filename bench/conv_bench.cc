// The convolution kernels beside oneDNN's direct convolution (nhwc, prepacked weights), f32 with bias and relu fused.
// usage: OMP_WAIT_POLICY=passive conv_bench [THREADS] [SECONDS PER SHAPE] [NAME FILTER] [ALGORITHM FILTER]
// Prints a Markdown table: median / least microseconds, and in brackets oneDNN's time / own time of both. On a busy
// machine the latter are what to look at.
#include <omp.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/thread_pool.h"
#include "bench/interleave.h"
#include "core/dense_tensor.h"
#include "kernels/cpu/conv/conv_shape.h"
#include "kernels/cpu/conv/depthwise.h"
#include "kernels/cpu/conv/implicit_gemm.h"
#include "kernels/cpu/conv/winograd.h"
#include "kernels/cpu/tile_epilogue.h"

namespace wherry::bench {
namespace {

using cpu::ConvShape;
using cpu::ConvWeightShape;
using cpu::ImageForm;
using cpu::TileEpilogue;
using cpu::WinogradSize;

struct Case {
  const char* name;
  int64_t height, width, channels, out_channels, kernel, stride, pad, groups;
};

constexpr Case kCases[] = {
    {"3x3 56x56x64", 56, 56, 64, 64, 3, 1, 1, 1},
    {"3x3 28x28x128", 28, 28, 128, 128, 3, 1, 1, 1},
    {"3x3 14x14x256", 14, 14, 256, 256, 3, 1, 1, 1},
    {"3x3 7x7x512", 7, 7, 512, 512, 3, 1, 1, 1},
    {"3x3 160x160x32", 160, 160, 32, 32, 3, 1, 1, 1},
    {"3x3 80x80x64", 80, 80, 64, 64, 3, 1, 1, 1},
    {"3x3 40x40x128", 40, 40, 128, 128, 3, 1, 1, 1},
    {"3x3 20x20x256", 20, 20, 256, 256, 3, 1, 1, 1},
    {"3x3 80x80x24->48", 80, 80, 24, 48, 3, 1, 1, 1},
    {"3x3 24x80x96->40", 24, 80, 96, 40, 3, 1, 1, 1},
    {"3x3 s2 56x56x128", 56, 56, 128, 128, 3, 2, 1, 1},
    {"3x3 s2 28x28x256", 28, 28, 256, 256, 3, 2, 1, 1},
    {"7x7 s2 224x224x3->64", 224, 224, 3, 64, 7, 2, 3, 1},
    {"3x3 s2 224x224x3->32", 224, 224, 3, 32, 3, 2, 1, 1},
    {"3x3 224x224x3->64", 224, 224, 3, 64, 3, 1, 1, 1},
    {"5x5 28x28x32->96", 28, 28, 32, 96, 5, 1, 2, 1},
    {"1x1 56x56x64->256", 56, 56, 64, 256, 1, 1, 0, 1},
    {"1x1 14x14x1024->256", 14, 14, 1024, 256, 1, 1, 0, 1},
    {"1x1 s2 56x56x256->512", 56, 56, 256, 512, 1, 2, 0, 1},
    {"3x3 g32 28x28x256", 28, 28, 256, 256, 3, 1, 1, 32},
    {"dw 3x3 112x112x32", 112, 112, 32, 32, 3, 1, 1, 32},
    {"dw 3x3 s2 112x112x96", 112, 112, 96, 96, 3, 2, 1, 96},
    {"dw 3x3 56x56x144", 56, 56, 144, 144, 3, 1, 1, 144},
    {"dw 3x3 s2 56x56x144", 56, 56, 144, 144, 3, 2, 1, 144},
    {"dw 5x5 28x28x240", 28, 28, 240, 240, 5, 1, 2, 240},
    {"dw 5x5 s2 28x28x240", 28, 28, 240, 240, 5, 2, 2, 240},
    {"dw 3x3 14x14x512", 14, 14, 512, 512, 3, 1, 1, 512},
    {"dw 5x5 14x14x672", 14, 14, 672, 672, 5, 1, 2, 672},
    {"dw 3x3 s2 14x14x672", 14, 14, 672, 672, 3, 2, 1, 672},
    {"dw 3x3 7x7x960", 7, 7, 960, 960, 3, 1, 1, 960},
    {"dw 5x5 7x7x960", 7, 7, 960, 960, 5, 1, 2, 960},
    {"dw 7x7 14x14x384", 14, 14, 384, 384, 7, 1, 3, 384},
    {"dw 3x3 24x80x64", 24, 80, 64, 64, 3, 1, 1, 64},
};

// As the runtime lays out NHWC tensors.
int64_t PixelStride(int64_t channels) {
  const int64_t padded = PaddedPixelStride(DataType::kFloat, channels);
  return padded == 0 ? channels : padded;
}

ConvShape ShapeOf(const Case& c) {
  ConvShape s;
  s.in_height = c.height;
  s.in_width = c.width;
  s.weight = {c.out_channels, c.channels / c.groups, c.kernel, c.kernel, c.groups};
  s.stride_height = s.stride_width = c.stride;
  s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = c.pad;
  s.in_pixel_stride = PixelStride(c.channels);
  s.out_pixel_stride = PixelStride(c.out_channels);
  return s;
}

// A shared, page-aligned array.
class Floats {
 public:
  explicit Floats(int64_t size, bool random = false)
      : data_(static_cast<float*>(std::aligned_alloc(4096, (static_cast<size_t>(size) * 4 / 4096 + 1) * 4096)),
              [](float* p) { std::free(p); }) {
    static std::mt19937 rng(1);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < size; ++i) data_.get()[i] = random ? normal(rng) : 0.0f;
  }
  float* get() const { return data_.get(); }

 private:
  std::shared_ptr<float> data_;
};

std::function<void()> OneDnn(const ConvShape& s, const Floats& weight, const Floats& bias) {
  using dnnl::memory;
  using tag = memory::format_tag;
  constexpr auto kF32 = memory::data_type::f32;
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(engine);
  const ConvWeightShape& w = s.weight;
  const memory::dims source{s.batch, s.in_channels(), s.in_height, s.in_width};
  const memory::dims target{s.batch, w.out_channels, s.out_height(), s.out_width()};
  const memory::dims kernel =
      w.groups == 1 ? memory::dims{w.out_channels, w.in_channels_per_group, w.kernel_height, w.kernel_width}
                    : memory::dims{w.groups, w.out_channels_per_group(), w.in_channels_per_group, w.kernel_height,
                                   w.kernel_width};
  dnnl::post_ops relu;
  relu.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0, 0);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(relu);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, memory::desc(source, kF32, tag::nhwc),
      memory::desc(kernel, kF32, tag::any), memory::desc({w.out_channels}, kF32, tag::x),
      memory::desc(target, kF32, tag::nhwc), {s.stride_height, s.stride_width}, {s.pad_top, s.pad_left},
      {s.pad_bottom, s.pad_right});
  const dnnl::convolution_forward::primitive_desc primitive_desc(desc, attributes, engine);
  memory plain({kernel, kF32, w.groups == 1 ? tag::oihw : tag::goihw}, engine, weight.get());
  memory packed(primitive_desc.weights_desc(), engine);
  dnnl::reorder(plain, packed).execute(stream, plain, packed);
  stream.wait();
  memory in(primitive_desc.src_desc(), engine);
  std::mt19937 rng(2);
  std::normal_distribution<float> normal;
  float* values = static_cast<float*>(in.get_data_handle());
  for (size_t i = 0; i < in.get_desc().get_size() / sizeof(float); ++i) values[i] = normal(rng);
  const std::unordered_map<int, memory> arguments{
      {DNNL_ARG_SRC, in},
      {DNNL_ARG_WEIGHTS, packed},
      {DNNL_ARG_BIAS, memory({{w.out_channels}, kF32, tag::x}, engine, bias.get())},
      {DNNL_ARG_DST, memory(primitive_desc.dst_desc(), engine)},
      {DNNL_ARG_SCRATCHPAD, memory(primitive_desc.scratchpad_desc(), engine)}};
  const dnnl::convolution_forward primitive(primitive_desc);
  return [primitive, arguments] {
    primitive.execute(stream, arguments);
    stream.wait();
  };
}

// oneDNN first.
std::vector<Candidate> MakeCandidates(const ConvShape& s, int threads, ThreadPool* pool) {
  const Floats in(s.batch * s.in_height * s.in_width * s.in_pixel_stride, true);
  const Floats weight(s.weight.elements(), true);
  const Floats bias(s.weight.out_channels, true);
  const Floats out(s.out_pixels() * s.out_pixel_stride);
  TileEpilogue epilogue;
  epilogue.Bias(bias.get()).Activate({ActKind::kRelu, 0, 0});

  std::vector<Candidate> candidates;
  candidates.push_back({"oneDNN", OneDnn(s, weight, bias)});
  // Lambdas hold `bias`, which the epilogue points to.
  if (cpu::IsDepthwise(s.weight)) {
    const Floats packed(cpu::DepthwisePackedSize(s.weight));
    cpu::PackDepthwise(s.weight, weight.get(), packed.get());
    const cpu::DepthwisePlan plan(s, threads);
    candidates.push_back({"depthwise", [=, bias = bias] {
                            cpu::RunDepthwise(plan, in.get(), packed.get(), epilogue, out.get(), pool);
                          }});
    return candidates;
  }
  for (ImageForm form : {ImageForm::kNhwc, ImageForm::kPlanar}) {
    if (form == ImageForm::kPlanar && s.in_channels() > 4) continue;
    const Floats packed(cpu::ImplicitGemmPackedSize(s.weight));
    cpu::PackImplicitGemm(s.weight, form, weight.get(), packed.get(), pool);
    const cpu::ImplicitGemmPlan plan(s, form, threads);
    candidates.push_back({form == ImageForm::kPlanar ? "planar" : "direct", [=, bias = bias] {
                            cpu::RunImplicitGemm(plan, in.get(), packed.get(), epilogue, out.get(), pool);
                          }});
  }
  if (s.weight.kernel_height == 3 && s.weight.kernel_width == 3 && s.stride_height == 1 && s.weight.groups == 1) {
    for (WinogradSize size : {WinogradSize::kF2, WinogradSize::kF4}) {
      const Floats packed(cpu::WinogradPackedSize(s.weight, size));
      cpu::PackWinograd(s.weight, size, weight.get(), packed.get(), pool);
      const cpu::WinogradPlan plan(s, size, threads);
      const Floats scratch(plan.scratch_floats());
      candidates.push_back({size == WinogradSize::kF2 ? "F(2,3)" : "F(4,3)", [=, bias = bias] {
                              cpu::RunWinograd(plan, in.get(), packed.get(), epilogue, out.get(), scratch.get(), pool);
                            }});
    }
  }
  return candidates;
}

int Main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.3;
  const char* filter = argc > 3 ? argv[3] : "";
  const char* algorithm = argc > 4 ? argv[4] : "";
  omp_set_num_threads(threads);
  std::optional<ThreadPool> pool;
  if (threads > 1) pool.emplace(threads);
  std::printf("| %d thread%s | oneDNN direct | own |\n|---|---|---|\n", threads, threads > 1 ? "s" : "");
  for (const Case& c : kCases) {
    if (std::strstr(c.name, filter) == nullptr) continue;
    std::vector<Candidate> candidates = MakeCandidates(ShapeOf(c), threads, pool ? &*pool : nullptr);
    std::erase_if(candidates, [&](const Candidate& x) { return x.name.find(algorithm) == std::string::npos; });
    const std::vector<Timing> timings = Interleave(candidates, seconds);
    std::printf("| %s | %.1f / %.1f |", c.name, timings[0].median_us, timings[0].min_us);
    for (size_t i = 1; i < candidates.size(); ++i) {
      std::printf("%s %s %.1f / %.1f (%.2f, %.2f)", i > 1 ? "," : "", candidates[i].name.c_str(), timings[i].median_us,
                  timings[i].min_us, timings[0].median_us / timings[i].median_us,
                  timings[0].min_us / timings[i].min_us);
    }
    std::printf(" |\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace wherry::bench

int main(int argc, char** argv) { return wherry::bench::Main(argc, argv); }
