#include "kernels/onednn_primitives/engine.h"

#include "base/never_destroyed.h"

// Declared here instead of including omp.h: the compiler's OpenMP need not be the one that oneDNN was built with, and
// these names are looked up in what oneDNN itself has loaded. Weak: a oneDNN without OpenMP has none.
extern "C" {
__attribute__((weak)) void omp_set_num_threads(int threads);
__attribute__((weak)) int omp_get_max_threads();
}

namespace wherry::onednn {

const dnnl::engine& Engine() {
  static const NeverDestroyed<dnnl::engine> engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::stream& Stream() {
  thread_local dnnl::stream stream(Engine());
  return stream;
}

ThreadScope::ThreadScope(int threads, ThreadPool* pool)
    : before_(omp_get_max_threads != nullptr ? omp_get_max_threads() : 0) {
  if (pool != nullptr && threads > 1) pool->Sleep();
  if (omp_set_num_threads != nullptr) omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() {
  if (omp_set_num_threads != nullptr && before_ > 0) omp_set_num_threads(before_);
}

}  // namespace wherry::onednn
