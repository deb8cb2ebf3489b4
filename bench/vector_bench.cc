// Softmax, layer normalisation and elementwise chains, beside oneDNN in the same process.
// usage: vector_bench [THREADS] [SECONDS PER LINE]
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <unordered_map>
#include <vector>

#include "bench/interleave.h"
#include "kernels/cpu/simd/isa.h"
#include "kernels/cpu/vector/elementwise.h"
#include "kernels/cpu/vector/norm.h"
#include "kernels/cpu/vector/softmax.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace wherry::bench {
namespace {

std::vector<float> Random(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, 1.0F);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = normal(generator);
  return values;
}

void Report(const char* what, int64_t rows, int64_t cols, const std::vector<Timing>& t) {
  const double bytes = 8.0 * static_cast<double>(rows * cols);
  std::printf(
      "%-28s %6ld x %6ld  own %8.1f us (min %8.1f, %6.1f GB/s)  other %8.1f us (min %8.1f)  ratio %.2f (min %.2f)\n",
      what, static_cast<long>(rows), static_cast<long>(cols), t[0].median_us, t[0].min_us, bytes / t[0].min_us * 1e-3,
      t[1].median_us, t[1].min_us, t[1].median_us / t[0].median_us, t[1].min_us / t[0].min_us);
}

class Dnnl {
 public:
  Dnnl() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}
  void Run() {
    primitive_.execute(stream_, args_);
    stream_.wait();
  }

 protected:
  dnnl::memory::desc Matrix(int64_t rows, int64_t cols) const {
    return {{rows, cols}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab};
  }
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> args_;
};

class DnnlSoftmax : public Dnnl {
 public:
  DnnlSoftmax(int64_t rows, int64_t cols, float* x, float* y) {
    const dnnl::memory::desc desc = Matrix(rows, cols);
    const dnnl::softmax_forward::desc op(dnnl::prop_kind::forward_inference, desc, 1);
    primitive_ = dnnl::softmax_forward(dnnl::softmax_forward::primitive_desc(op, engine_));
    args_ = {{DNNL_ARG_SRC, {desc, engine_, x}}, {DNNL_ARG_DST, {desc, engine_, y}}};
  }
};

class DnnlLayerNorm : public Dnnl {
 public:
  DnnlLayerNorm(int64_t rows, int64_t cols, float* x, float* y, float* gain, float* bias) {
    using Flags = dnnl::normalization_flags;
    const dnnl::memory::desc desc = Matrix(rows, cols);
    const dnnl::memory::desc vector({cols}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
    const dnnl::layer_normalization_forward::desc op(dnnl::prop_kind::forward_inference, desc, 1e-5F,
                                                     Flags::use_scale | Flags::use_shift);
    primitive_ = dnnl::layer_normalization_forward(dnnl::layer_normalization_forward::primitive_desc(op, engine_));
    args_ = {{DNNL_ARG_SRC, {desc, engine_, x}},
             {DNNL_ARG_DST, {desc, engine_, y}},
             {DNNL_ARG_SCALE, {vector, engine_, gain}},
             {DNNL_ARG_SHIFT, {vector, engine_, bias}}};
  }
};

void BenchSoftmax(int64_t rows, int64_t cols, ThreadPool* pool, double seconds) {
  std::vector<float> x = Random(rows * cols, 1);
  std::vector<float> y(x.size());
  DnnlSoftmax dnnl(rows, cols, x.data(), y.data());
  Report("softmax, dnnl", rows, cols,
         Interleave(
             {{"own", [&] { cpu::Softmax(x.data(), y.data(), rows, cols, 1, pool); }}, {"dnnl", [&] { dnnl.Run(); }}},
             seconds));
}

void BenchLayerNorm(int64_t rows, int64_t cols, ThreadPool* pool, double seconds) {
  std::vector<float> x = Random(rows * cols, 1);
  std::vector<float> y(x.size());
  std::vector<float> gain = Random(cols, 2);
  std::vector<float> bias = Random(cols, 3);
  DnnlLayerNorm dnnl(rows, cols, x.data(), y.data(), gain.data(), bias.data());
  cpu::NormRows norm;
  norm.x = x.data();
  norm.y = y.data();
  norm.rows = rows;
  norm.cols = cols;
  norm.gain = gain.data();
  norm.bias = bias.data();
  Report("layer norm, dnnl", rows, cols,
         Interleave({{"own", [&] { cpu::LayerNorm(norm, pool); }}, {"dnnl", [&] { dnnl.Run(); }}}, seconds));
}

// gelu(x + bias) * y as one program, and as three.
void BenchChain(int64_t rows, int64_t cols, ThreadPool* pool, double seconds) {
  using Op = ElementwiseInstruction::Op;
  const std::vector<float> x = Random(rows * cols, 1);
  const std::vector<float> y = Random(rows * cols, 2);
  const std::vector<float> bias = Random(cols, 3);
  std::vector<float> out(x.size());
  const int64_t dims[] = {rows, cols};
  const int64_t strides[] = {cols, 1};
  const cpu::StridedDims whole{dims, strides};
  const cpu::StridedDims per_col{{dims + 1, 1}, {strides + 1, 1}};
  const ElementwiseProgram program{3,
                                   {{Op::kAdd, ActKind::kIdentity, 0.0F, 0.0F, 0, 1},
                                    {Op::kAct, ActKind::kGelu, 0.0F, 0.0F, 3, -1},
                                    {Op::kMul, ActKind::kIdentity, 0.0F, 0.0F, 4, 2}}};
  const cpu::CompiledElementwise fused(program);
  const cpu::StridedDims three[] = {whole, per_col, whole};
  const cpu::StridedDims two[] = {whole, whole};
  const cpu::BroadcastLoops fused_loops(whole, three);
  const cpu::BroadcastLoops bias_loops(whole, {three, 2});
  const cpu::BroadcastLoops loops(whole, two);
  const cpu::BroadcastLoops unary_loops(whole, {two, 1});
  const auto run = [&](const cpu::CompiledElementwise& code, const cpu::BroadcastLoops& over,
                       std::initializer_list<const float*> inputs) {
    cpu::RunElementwise(code, over, {inputs.begin(), inputs.size()}, out.data(), pool);
  };
  const cpu::CompiledElementwise add(cpu::ElementwiseOp::kAdd);
  const cpu::CompiledElementwise gelu(cpu::ToElementwiseOp(ActKind::kGelu));
  const cpu::CompiledElementwise mul(cpu::ElementwiseOp::kMul);
  Report("gelu(x + b) * y, one by one", rows, cols,
         Interleave({{"fused",
                      [&] {
                        run(fused, fused_loops, {x.data(), bias.data(), y.data()});
                      }},
                     {"separate",
                      [&] {
                        run(add, bias_loops, {x.data(), bias.data()});
                        run(gelu, unary_loops, {out.data()});
                        run(mul, loops, {out.data(), y.data()});
                      }}},
                    seconds));
}

int Main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.3;
  omp_set_num_threads(threads);
  ThreadPool pool(threads);
  std::printf("%d threads, %s\n", threads, ToString(cpu::ActiveIsa()));
  BenchSoftmax(12 * 128, 128, &pool, seconds);
  BenchSoftmax(1, 1000, &pool, seconds);
  BenchSoftmax(64, 10000, &pool, seconds);
  BenchLayerNorm(128, 768, &pool, seconds);
  BenchLayerNorm(3136, 96, &pool, seconds);
  BenchChain(128, 3072, &pool, seconds);
  BenchChain(3136, 1024, &pool, seconds);
  return 0;
}

}  // namespace
}  // namespace wherry::bench

int main(int argc, char** argv) { return wherry::bench::Main(argc, argv); }
