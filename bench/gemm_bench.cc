// GEMM with packed weights, bias and relu, beside oneDNN's matmul in the same process.
// usage: gemm_bench [THREADS] [SECONDS PER SHAPE] [M K N]
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <unordered_map>
#include <vector>

#include "bench/interleave.h"
#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/simd/isa.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace wherry::bench {
namespace {

std::vector<float> Random(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = uniform(generator);
  return values;
}

// The primitive with weights in the layout that it prefers, bias and relu.
class DnnlMatmul {
 public:
  DnnlMatmul(int64_t m, int64_t k, int64_t n, float* a, float* b, float* bias, float* c)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using memory = dnnl::memory;
    const auto f32 = memory::data_type::f32;
    const auto ab = memory::format_tag::ab;
    const memory::desc a_desc({m, k}, f32, ab);
    const memory::desc b_any({k, n}, f32, memory::format_tag::any);
    const memory::desc bias_desc({1, n}, f32, ab);
    const memory::desc c_desc({m, n}, f32, ab);
    dnnl::post_ops post;
    post.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    dnnl::primitive_attr attr;
    attr.set_post_ops(post);
    const dnnl::matmul::desc desc(a_desc, b_any, bias_desc, c_desc);
    const dnnl::matmul::primitive_desc primitive_desc(desc, attr, engine_);
    info_ = primitive_desc.impl_info_str();
    memory plain({{k, n}, f32, ab}, engine_, b);
    memory weights(primitive_desc.weights_desc(), engine_);
    dnnl::reorder(plain, weights).execute(stream_, plain, weights);
    stream_.wait();
    primitive_ = dnnl::matmul(primitive_desc);
    args_ = {{DNNL_ARG_SRC, memory(a_desc, engine_, a)},
             {DNNL_ARG_WEIGHTS, weights},
             {DNNL_ARG_BIAS, memory(bias_desc, engine_, bias)},
             {DNNL_ARG_DST, memory(c_desc, engine_, c)}};
  }
  void Run() {
    primitive_.execute(stream_, args_);
    stream_.wait();
  }
  const std::string& info() const { return info_; }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> args_;
  std::string info_;
};

void Compare(int64_t m, int64_t k, int64_t n, ThreadPool* pool, double seconds) {
  std::vector<float> a = Random(m * k, 1);
  std::vector<float> b = Random(k * n, 2);
  std::vector<float> bias = Random(n, 3);
  std::vector<float> own(static_cast<size_t>(m * n));
  std::vector<float> theirs(own.size());
  std::vector<float> storage(static_cast<size_t>(cpu::PackedFloats(k, n)) + 16);
  float* const packed = storage.data() + (16 - reinterpret_cast<uintptr_t>(storage.data()) / 4 % 16) % 16;
  const cpu::PanelLayout layout = cpu::WeightLayout();
  cpu::PackB({b.data(), n, 1}, k, n, packed, pool, layout);
  DnnlMatmul dnnl(m, k, n, a.data(), b.data(), bias.data(), theirs.data());
  cpu::TileEpilogue epilogue;
  epilogue.Bias(bias.data()).Activate({ActKind::kRelu});
  const auto run = [&] { cpu::GemmPacked({a.data(), k, 1}, packed, own.data(), n, m, n, k, epilogue, pool, layout); };
  const std::vector<Timing> t = Interleave({{"own", run}, {"dnnl", [&] { dnnl.Run(); }}}, seconds);
  double worst = 0.0;
  for (size_t i = 0; i < own.size(); ++i) worst = std::fmax(worst, std::fabs(own[i] - theirs[i]));
  const double flops = 2.0 * static_cast<double>(m * k * n);
  std::printf(
      "%5ld x %5ld x %5ld  own %9.1f us (min %9.1f) %7.1f GF/s   dnnl %9.1f (min %9.1f)   ratio %.3f (min %.3f)  %s  "
      "diff %.1e\n",
      static_cast<long>(m), static_cast<long>(k), static_cast<long>(n), t[0].median_us, t[0].min_us,
      flops / t[0].median_us * 1e-3, t[1].median_us, t[1].min_us, t[1].median_us / t[0].median_us,
      t[1].min_us / t[0].min_us, dnnl.info().c_str(), worst);
}

int Main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.5;
  omp_set_num_threads(threads);
  ThreadPool pool(threads);
  std::printf("%d threads, %s\n", threads, ToString(cpu::ActiveIsa()));
  if (argc > 5) {
    Compare(std::atol(argv[3]), std::atol(argv[4]), std::atol(argv[5]), &pool, seconds);
    return 0;
  }
  constexpr int64_t kShapes[][3] = {{128, 768, 3072}, {128, 3072, 768}, {3136, 64, 256}, {196, 1024, 256},
                                    {197, 384, 1536}, {49, 512, 2048},  {1, 768, 3072},  {1, 2048, 1000},
                                    {4, 768, 3072},   {7, 33, 100},     {128, 768, 768}, {784, 128, 512}};
  for (const auto& s : kShapes) Compare(s[0], s[1], s[2], &pool, seconds);
  return 0;
}

}  // namespace
}  // namespace wherry::bench

int main(int argc, char** argv) { return wherry::bench::Main(argc, argv); }
